package chatserver

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"
)

// box returns the cipher of cookies.
func (d *door) box() cipher.AEAD {
	block, err := aes.NewCipher(d.secret)
	if err != nil {
		panic(err) // of 32 bytes
	}
	box, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return box
}

// sealed returns the cookie of a key.
func (d *door) sealed(key string) string {
	text := binary.BigEndian.AppendUint64(nil, uint64(d.opts.Now().Add(cookieAge).Unix()))
	return base64.RawURLEncoding.EncodeToString(d.box().Seal(nil, nil, append(text, key...), nil))
}

// opened returns the key of a cookie that has not ended.
func (d *door) opened(cookie string) (string, error) {
	b, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return "", err
	}
	text, err := d.box().Open(nil, nil, b, nil)
	if err != nil {
		return "", err
	}
	if len(text) < 8 || d.opts.Now().After(time.Unix(int64(binary.BigEndian.Uint64(text)), 0)) {
		return "", errors.New("the cookie has ended")
	}
	return string(text[8:]), nil
}
