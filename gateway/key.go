package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// A Key admits one tenant. It holds a hash of what the client sends, and prints as the tenant only.
type Key struct {
	Tenant string
	Hash   [sha256.Size]byte
}

// NewKey returns the key that admits a tenant with the given text in x-decant-key.
func NewKey(tenant, text string) Key {
	return Key{Tenant: tenant, Hash: sha256.Sum256([]byte(text))}
}

var _ fmt.Formatter = Key{}

// Format implements fmt.Formatter for every verb, so that no verb shows the hash.
func (k Key) Format(f fmt.State, _ rune) {
	io.WriteString(f, k.Tenant+":[redacted]") // as with every Formatter, the caller sees the write's error
}

// keyHeader is where a client sends its key.
const keyHeader = "X-Decant-Key"

var errKey = errors.New("decant: the header x-decant-key is missing or not one of the configured keys")

// keyring knows the keys.
type keyring []Key

func newKeyring(keys []Key) keyring { return append(keyring(nil), keys...) }

// tenant returns whose request it is. All keys are compared, in constant time each, so that how long
// it takes says nothing about any of them.
func (ring keyring) tenant(h http.Header) (string, error) {
	if len(ring) == 0 {
		return "", nil
	}
	sum := sha256.Sum256([]byte(h.Get(keyHeader)))
	found := -1
	for i := range ring {
		if subtle.ConstantTimeCompare(sum[:], ring[i].Hash[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return "", errKey
	}
	return ring[found].Tenant, nil
}
