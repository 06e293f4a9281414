package form

import (
	"crypto/sha256"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// Hash is decant.HashText without a copy of the data; zero for nil.
func Hash(data []byte) decant.Hash {
	if data == nil {
		return decant.Hash{}
	}
	sum := sha256.Sum256(data)
	return decant.Hash(sum[:len(decant.Hash{})])
}

// Validate refuses what cannot be right whatever the database holds.
func Validate(b *store.Batch) error {
	switch {
	case b.ID == "":
		return fmt.Errorf("no conversation id: %w", store.ErrInvalid)
	case (b.Version == 0) != (b.Create != nil):
		return fmt.Errorf("version %d, creation %t: %w", b.Version, b.Create != nil, store.ErrInvalid)
	case b.Version < 0 || b.Replace < 0 || b.Create != nil && b.Replace > 0:
		return fmt.Errorf("version %d, replace %d: %w", b.Version, b.Replace, store.ErrInvalid)
	case b.Hashes != nil && len(b.Hashes) != len(b.Blobs):
		return fmt.Errorf("%d hashes of %d blobs: %w", len(b.Hashes), len(b.Blobs), store.ErrInvalid)
	case b.Fixed != nil && b.Fixed.Version.IsZero():
		return fmt.Errorf("fixed part without a version: %w", store.ErrInvalid)
	}
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Chain.IsZero() || e.Raw.IsZero() {
			return fmt.Errorf("entry %d of %d without chain or raw hash: %w", i+1, len(b.Entries), store.ErrInvalid)
		}
	}
	for i := range b.Decisions {
		if d := &b.Decisions[i]; d.ID == "" || (d.Kind == decant.Cover) != (d.Checkpoint != nil) {
			return fmt.Errorf("decision %d (%s): an id, and a checkpoint if and only if that is its kind: %w", i+1, d.Kind, store.ErrInvalid)
		}
	}
	return nil
}

// UsageColumn is what the usage column of a request holds.
type UsageColumn struct {
	decant.Usage
	Writes []store.Write `json:"writes,omitempty"`
}

// PlannedColumns returns what is stored of a plan.
func PlannedColumns(p *store.Planned) (planned string, plan decant.Hash, err error) {
	if p == nil {
		return "", plan, nil
	}
	data, err := Marshal(p)
	return string(data), p.Decisions, err
}
