package sqlite

import (
	"context"

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

// hash returns the hash that b holds, the zero hash for nothing.
func hash(b []byte) (h decant.Hash) {
	copy(h[:], b)
	return h
}
