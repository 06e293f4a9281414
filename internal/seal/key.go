package seal

import (
	"bytes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// KeySize is the length of all keys, in bytes.
const KeySize = 32

// A Key is an outside key. Whatever prints it prints "[redacted]".
type Key struct{ secret [KeySize]byte }

const redacted = "[redacted]"

// Format implements fmt.Formatter for every verb, so that no verb reveals the key.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// String returns "[redacted]".
func (k Key) String() string { return redacted }

// MarshalText returns "[redacted]", for loggers and encoders.
func (k Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// want says how a key is written.
const want = `want 32 random bytes as 64 hexadecimal digits, as "openssl rand -hex 32" prints them, or in base64`

// ParseKey reads a key from text: 64 hexadecimal digits, or base64. Space around it does not count. Errors do not
// quote the text.
func ParseKey(text string) (*Key, error) {
	text = strings.TrimSpace(text)
	raw, err := hex.DecodeString(text)
	if err != nil {
		text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
		raw, err = base64.RawStdEncoding.DecodeString(text)
	}
	if err != nil || len(raw) != KeySize {
		return nil, errors.New("not a key: " + want)
	}
	return &Key{[KeySize]byte(raw)}, nil
}

// NewKey returns the key with the given bytes, of which there must be KeySize.
func NewKey(secret []byte) (*Key, error) {
	if len(secret) != KeySize {
		return nil, fmt.Errorf("a key of %d bytes: want %d", len(secret), KeySize)
	}
	return &Key{[KeySize]byte(secret)}, nil
}

// ReadKey reads a key from a file. It refuses a file that everybody on the machine can read; a group may share it.
func ReadKey(name string) (*Key, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o007 != 0 {
		return nil, fmt.Errorf("key file %s: everybody on this machine can use it (mode %o): chmod 600 it, and make a new key if others have been here", name, mode)
	}
	const most = 1 << 10
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	k, err := ParseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("key file %s: %w", name, err)
	}
	return k, nil
}

// Secret returns a copy of the 32 bytes of the key. The error is always nil: as a method value, Secret is a function
// from which a store gets its key.
func (k *Key) Secret() ([]byte, error) { return bytes.Clone(k.secret[:]), nil }

// ID returns a name for the key that tells keys apart and does not help to find one.
func (k *Key) ID() string {
	return hex.EncodeToString(derive(k.secret, "decant outside key 1: its name")[:4])
}

// wrapping returns the cipher that wraps data keys.
func (k *Key) wrapping() cipher.AEAD {
	return randomGCM(derive(k.secret, "decant outside key 1: wrapping"))
}

// wrapPlace is authenticated with a data key.
var wrapPlace = Place{Column: "data key"}

// Wrap returns the data key of the box in a form that may be stored: only with the outside key can it be unwrapped.
func (b *Box) Wrap(k *Key) []byte {
	return k.wrapping().Seal([]byte{format}, nil, b.data[:], wrapPlace.append(nil))
}

// Unwrap returns the box whose data key was wrapped under k. With another key the error is ErrWrongKey. It is the same
// for a damaged wrapped key, because the two cannot be told apart.
func Unwrap(wrapped []byte, k *Key) (*Box, error) {
	if len(wrapped) != Overhead+KeySize || wrapped[0] != format {
		return nil, fmt.Errorf("data key: %w", ErrDamaged)
	}
	data, err := k.wrapping().Open(nil, nil, wrapped[1:], wrapPlace.append(nil))
	if err != nil {
		return nil, ErrWrongKey
	}
	return newBox([KeySize]byte(data)), nil
}
