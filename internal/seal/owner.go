package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"
)

// An owner holds the cipher for the values of one tenant and id.
type owner struct {
	tenant, id string
	aead       cipher.AEAD
}

// owners keeps the owners that were used last. Values that are read together mostly have one owner, and making one
// costs as much as opening several values.
type owners struct {
	key  []byte
	seed maphash.Seed
	last [64]atomic.Pointer[owner]
}

func newOwners(key []byte) *owners { return &owners{key: key, seed: maphash.MakeSeed()} }

// of returns the owner of a place.
func (o *owners) of(at *Place) cipher.AEAD {
	slot := &o.last[(maphash.String(o.seed, at.ID)^maphash.String(o.seed, at.Tenant))%uint64(len(o.last))]
	if w := slot.Load(); w != nil && w.id == at.ID && w.tenant == at.Tenant {
		return w.aead
	}
	w := &owner{at.Tenant, at.ID, randomGCM(o.derive(at))}
	slot.Store(w)
	return w.aead
}

// derive returns the key of the owner of a place.
func (o *owners) derive(at *Place) []byte {
	h := hmac.New(sha256.New, o.key)
	h.Write(binary.AppendUvarint(nil, uint64(len(at.Tenant))))
	h.Write([]byte(at.Tenant))
	h.Write([]byte(at.ID))
	return h.Sum(nil)
}

// randomGCM returns AES-256-GCM that makes its nonces itself and puts them in front.
func randomGCM(key []byte) cipher.AEAD {
	aead, err := cipher.NewGCMWithRandomNonce(newAES(key))
	if err != nil {
		panic(err) // only for block sizes other than AES's
	}
	return aead
}

// nonceGCM returns AES-256-GCM that is given its nonces.
func nonceGCM(key []byte) cipher.AEAD {
	aead, err := cipher.NewGCM(newAES(key))
	if err != nil {
		panic(err) // only for block sizes other than AES's
	}
	return aead
}

func newAES(key []byte) cipher.Block {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for wrong key lengths
	}
	return block
}
