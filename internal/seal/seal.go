// Package seal encrypts what a store keeps, under a key that is kept outside the database. It knows nothing about
// databases: a store says what a value is and where it belongs, and stores the resulting bytes.
//
// There are two keys. The outside [Key] belongs to the operator and is never stored. The data key is random, made
// once for a database, and stored in it, wrapped under the outside key. A [Box] holds the data key while the database
// is open. To change the outside key, the data key is wrapped again; nothing else is written.
//
// Each use has a key of its own, derived from the data key with HKDF-SHA256. There are three uses:
//
//   - Seal is for content. It is AES-256-GCM with random nonces, under a separate key for each tenant and id
//     (of a conversation), so that no key seals so many values that a nonce could repeat. The whole [Place] is
//     authenticated with the value: a value that was moved to another row, column or tenant does not open.
//   - SealName is for names that are looked up by equality. It is AES-256-GCM too. The nonce is a keyed hash of
//     place and name, so that the same name gives the same text. A thief sees which rows have the same name, and
//     no more.
//   - MaskHash is for hashes of content, which are looked up and would confirm a guess of the content. A hash is
//     one block of AES, encrypted under a key and a value of the tenant. Masking can be undone, costs about as
//     much as comparing two hashes, and is not authenticated; the content that a hash leads to is.
//
// Not hidden are the length of values and which rows belong together. Not noticed is that a database, or a row of it,
// was removed or replaced by an earlier copy of itself.
package seal

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Conditions that callers branch on. Test with errors.Is.
var (
	// ErrDamaged means that a value was changed or moved, or was never sealed in this box.
	ErrDamaged = errors.New("it does not decrypt: it was changed or moved")

	// ErrWrongKey means that a data key is wrapped under another outside key.
	ErrWrongKey = errors.New("encrypted under another key")
)

// A Box seals and opens the values of one database. It is safe for concurrent use.
type Box struct {
	data    [KeySize]byte
	content *owners
	names   cipher.AEAD
	nonces  []byte // key of the nonces of names
	hashes  cipher.Block
	tenants []byte   // key of the tenants' tweaks
	tweaks  sync.Map // by tenant: [hashSize]byte
}

// NewBox makes a box with a new data key.
func NewBox() *Box {
	var data [KeySize]byte
	rand.Read(data[:]) // never fails, see its documentation
	return newBox(data)
}

func newBox(data [KeySize]byte) *Box {
	key := func(use string) []byte { return derive(data, "decant data key 1: "+use) }
	return &Box{
		data:    data,
		content: newOwners(key("content")),
		names:   nonceGCM(key("names")),
		nonces:  key("nonces of names"),
		hashes:  newAES(key("hashes")),
		tenants: key("tenants of hashes"),
	}
}

// derive returns a key for one use.
func derive(from [KeySize]byte, use string) []byte {
	key, err := hkdf.Expand(sha256.New, from[:], use, KeySize)
	if err != nil {
		panic(err) // only for impossible lengths
	}
	return key
}

// Format implements fmt.Formatter for every verb, so that no verb reveals a key.
func (b *Box) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// Overhead is how much longer a sealed value is.
const Overhead = 1 + nonceSize + tagSize

const (
	nonceSize = 12
	tagSize   = 16
)

// format is the first byte of a sealed value. A later format must use another byte.
const format = 1

// Seal appends the sealed form of a value to dst. The value and dst must not overlap.
func (b *Box) Seal(dst, value []byte, at Place) []byte {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	*room = at.append((*room)[:0])
	return b.content.of(&at).Seal(append(dst, format), nil, value, *room)
}

// Open returns the value that was sealed for a place. For anything else the error is ErrDamaged.
func (b *Box) Open(sealed []byte, at Place) ([]byte, error) {
	if len(sealed) < Overhead || sealed[0] != format {
		return nil, fmt.Errorf("%s: %w", at.Column, ErrDamaged)
	}
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	*room = at.append((*room)[:0])
	value, err := b.content.of(&at).Open(make([]byte, 0, len(sealed)-Overhead), nil, sealed[1:], *room)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at.Column, ErrDamaged)
	}
	return value, nil
}
