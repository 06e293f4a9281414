package sqlite

import (
	"context"
	"crypto/sha256"

	"github.com/decantdev/decant"
)

// Blobs implements store.Blobs.
func (db *database) Blobs(ctx context.Context, tenant string, hashes ...decant.Hash) ([][]byte, error) {
	out := make([][]byte, len(hashes))
	err := db.snapshot(ctx, func(r *reader) (err error) {
		u := &unpacker{q: r}
		for i, h := range hashes {
			if out[i], err = u.blob(tenant, h); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, wrap("read blobs", err)
	}
	return out, nil
}

// contentHash is decant.HashText without a copy of the data; zero for nil.
func contentHash(data []byte) decant.Hash {
	if data == nil {
		return decant.Hash{}
	}
	sum := sha256.Sum256(data)
	return decant.Hash(sum[:len(decant.Hash{})])
}

// hash returns the hash that b holds, the zero hash for nothing.
func hash(b []byte) (h decant.Hash) {
	copy(h[:], b)
	return h
}
