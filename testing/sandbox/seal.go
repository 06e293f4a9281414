package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
)

// A seal is what a thinking signature says: which model thought, and after what. It is the readable
// part of a signature; a code over it and the thinking's text follows.
type seal struct {
	model  [8]byte  // hash of the model's id
	bound  bool     // the model binds its thinking to everything before it
	system [8]byte  // hash of the system prompt
	tools  [8]byte  // hash of the tools
	before [16]byte // hash of everything before the block, thinking left out
	last   [16]byte // id of the thinking before it, zero when there was none
	first  uint32   // position of the earliest thinking in the prompt it was made for
}

// sealedSize is the size of a seal as bytes.
const sealedSize = 1 + 8 + 1 + 8 + 8 + 16 + 16 + 4

// id names a signature in the seals of later ones.
type thoughtID = [16]byte

// sign returns the signature of a thinking block with the given text.
func (s seal) sign(key []byte, text string) string {
	payload := s.bytes()
	return base64.StdEncoding.EncodeToString(append(payload, code(key, payload, text)...))
}

func (s seal) bytes() []byte {
	b := append(make([]byte, 0, sealedSize+sha256.Size), 1)
	b = append(b, s.model[:]...)
	if s.bound {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = append(append(b, s.system[:]...), s.tools[:]...)
	b = append(append(b, s.before[:]...), s.last[:]...)
	return binary.BigEndian.AppendUint32(b, s.first)
}

// code authenticates a seal and the text it belongs to.
func code(key, payload []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(payload)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// unseal returns the seal of a signature, unless it is not one of ours for that text.
func unseal(key []byte, signature, text string) (seal, thoughtID, bool) {
	b, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(b) != sealedSize+sha256.Size || b[0] != 1 {
		return seal{}, thoughtID{}, false
	}
	payload, mac := b[:sealedSize], b[sealedSize:]
	if !hmac.Equal(mac, code(key, payload, text)) {
		return seal{}, thoughtID{}, false
	}
	return unpack(payload), thoughtID(mac[:16]), true
}

// unpack returns the seal that begins some bytes.
func unpack(b []byte) seal {
	s := seal{bound: b[9] == 1, first: binary.BigEndian.Uint32(b[sealedSize-4:])}
	copy(s.model[:], b[1:])
	copy(s.system[:], b[10:])
	copy(s.tools[:], b[18:])
	copy(s.before[:], b[26:])
	copy(s.last[:], b[42:])
	return s
}

// short returns the first bytes of a text's hash.
func short(text string) [8]byte {
	sum := sha256.Sum256([]byte(text))
	return [8]byte(sum[:8])
}

// callName returns an id for the n-th thing of an answer to a given prompt: unlike any other, and
// the same again in a repetition of the same run.
func callName(kind string, key []byte, before [16]byte, request, n int) string {
	h := hmac.New(sha256.New, key)
	h.Write(before[:])
	h.Write(binary.BigEndian.AppendUint64([]byte(kind), uint64(request)<<16|uint64(n)))
	return kind + "_" + hex.EncodeToString(h.Sum(nil)[:12])
}
