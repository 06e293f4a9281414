package sqlite

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/store"
)

// A sealing is how values are kept: in a box, or, without one, as they are. The table in columns.go says what is done
// with which column.
type sealing struct{ box *seal.Box }

// vault implements querier for what embeds a sealing.
func (s sealing) vault() sealing { return s }

// seal returns a value as it is stored at a place.
func (s sealing) seal(value []byte, at seal.Place) []byte {
	if s.box == nil {
		return value
	}
	return s.box.Seal(make([]byte, 0, len(value)+seal.Overhead), value, at)
}

// text returns the value of a column of text as it is stored at a place.
func (s sealing) text(value string, at seal.Place) any {
	if s.box == nil {
		return value
	}
	return s.seal([]byte(value), at)
}

// open returns the value that is stored at a place.
func (s sealing) open(stored []byte, at seal.Place) ([]byte, error) {
	if s.box == nil {
		return stored, nil
	}
	value, err := s.box.Open(stored, at)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return value, nil
}

// opened is open for text. Into *to goes what was stored.
func (s sealing) opened(to *string, stored []byte, at seal.Place) error {
	value, err := s.open(stored, at)
	*to = string(value)
	return err
}

// session returns the client's name of a session as it is stored: always the same.
func (s sealing) session(tenant, name string) string {
	if s.box == nil {
		return name
	}
	return s.box.SealName(name, sessionPlace(tenant))
}

// openSession returns the name of a session.
func (s sealing) openSession(tenant, stored string) (string, error) {
	if s.box == nil {
		return stored, nil
	}
	name, err := s.box.OpenName(stored, sessionPlace(tenant))
	if err != nil {
		return "", fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return name, nil
}

// short returns the short form of a stored session, for tables in which many rows name it.
func (s sealing) short(stored string) string {
	if s.box == nil {
		return stored
	}
	return stored[:min(seal.ShortName, len(stored))]
}

// hash returns a hash as it is stored.
func (s sealing) hash(tenant string, h decant.Hash) []byte {
	if s.box != nil {
		h = s.box.MaskHash(tenant, h)
	}
	return h[:]
}

// some returns a hash that need not be there as it is stored: nothing for the zero hash.
func (s sealing) some(tenant string, h decant.Hash) []byte {
	if h.IsZero() {
		return []byte{}
	}
	return s.hash(tenant, h)
}

// unhash returns the hash that is stored, the zero hash for nothing.
func (s sealing) unhash(tenant string, stored []byte) (h decant.Hash) {
	if h = hash(stored); s.box != nil && len(stored) == len(h) {
		h = s.box.UnmaskHash(tenant, h)
	}
	return h
}
