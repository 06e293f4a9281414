package keyring

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/decantdev/decant/store"
)

// A Key admits one tenant. It holds a hash of what the client sends, and prints as the tenant only.
type Key struct {
	Tenant string
	Hash   [sha256.Size]byte
}

// NewKey returns the key that admits a tenant with the given text.
func NewKey(tenant, text string) Key {
	return Key{Tenant: tenant, Hash: sha256.Sum256([]byte(text))}
}

var _ fmt.Formatter = Key{}

// Format implements fmt.Formatter for every verb, so that no verb shows the hash.
func (k Key) Format(f fmt.State, _ rune) {
	io.WriteString(f, k.Tenant+":[redacted]") // as with every Formatter, the caller sees the write's error
}

// mark is the beginning of every key that Make makes, so that scanners for secrets can find keys.
const mark = "decant_"

// Make returns the text of a new key, which cannot be recovered later, and the key as it is stored. The text is
// decant_ID_SECRET. The ID identifies the key; the secret has 130 random bits, so a hash that is quick to compute
// is enough.
func Make(tenant string) (text string, k store.TenantKey) {
	const idLength = 8
	id := strings.ToLower(rand.Text()[:idLength])
	text = mark + id + "_" + strings.ToLower(rand.Text())
	return text, store.TenantKey{ID: id, Tenant: tenant, Hash: sha256.Sum256([]byte(text))}
}

// idOf returns the ID in the text of a key, empty for a key that Make did not make.
func idOf(text string) string {
	rest, ok := strings.CutPrefix(text, mark)
	if !ok {
		return ""
	}
	id, _, ok := strings.Cut(rest, "_")
	if !ok {
		return ""
	}
	return id
}
