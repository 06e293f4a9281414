package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
)

// ShortName is how many bytes of a sealed name can stand for it where it need not be opened. They are its keyed hash.
const ShortName = nonceSize / 3 * 4

// SealName returns the sealed form of a name, as text. It is the same for the same name and place.
func (b *Box) SealName(name string, at Place) string {
	nonce := b.nonce(name, at)
	sealed := b.names.Seal(nonce[:len(nonce):len(nonce)], nonce[:], []byte(name), at.append(nil))
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// OpenName returns the name that was sealed for a place. For anything else the error is ErrDamaged.
func (b *Box) OpenName(sealed string, at Place) (string, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(raw) < nonceSize+tagSize {
		return "", fmt.Errorf("%s: %w", at.Column, ErrDamaged)
	}
	name, err := b.names.Open(nil, raw[:nonceSize], raw[nonceSize:], at.append(nil))
	if err != nil {
		return "", fmt.Errorf("%s: %w", at.Column, ErrDamaged)
	}
	return string(name), nil
}

// nonce returns the nonce of a name: a keyed hash of its place and text.
func (b *Box) nonce(name string, at Place) (n [nonceSize]byte) {
	h := hmac.New(sha256.New, b.nonces)
	h.Write(at.append(nil))
	h.Write([]byte(name)) // no separator is needed: the encoding of a place marks its end
	copy(n[:], h.Sum(nil))
	return n
}

const hashSize = 16

// MaskHash returns a tenant's hash in a form that may be stored. It is the same for the same hash.
func (b *Box) MaskHash(tenant string, h [hashSize]byte) [hashSize]byte {
	tweak := b.tweak(tenant)
	subtle.XORBytes(h[:], h[:], tweak[:])
	b.hashes.Encrypt(h[:], h[:])
	return h
}

// UnmaskHash returns the hash that was given to MaskHash.
func (b *Box) UnmaskHash(tenant string, masked [hashSize]byte) [hashSize]byte {
	tweak := b.tweak(tenant)
	b.hashes.Decrypt(masked[:], masked[:])
	subtle.XORBytes(masked[:], masked[:], tweak[:])
	return masked
}

// tweak returns a value that makes a tenant's masks differ from those of other tenants, so that common content does not
// show.
func (b *Box) tweak(tenant string) [hashSize]byte {
	if t, ok := b.tweaks.Load(tenant); ok {
		return t.([hashSize]byte)
	}
	h := hmac.New(sha256.New, b.tenants)
	h.Write([]byte(tenant))
	t := [hashSize]byte(h.Sum(nil))
	b.tweaks.Store(tenant, t)
	return t
}
