package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// How a blob's data is encoded. The numbers are stored: never reorder them.
const (
	plain  = 0
	zipped = 1
)

// minZip is the size from which compression is tried: below, it hardly ever gains anything.
const minZip = 192

// codec encodes the content of blobs. It is safe for concurrent use.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newCodec() (c codec, err error) {
	c.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err == nil {
		c.dec, err = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(1<<32))
	}
	return c, err
}

func (c *codec) close() {
	if c.dec != nil {
		c.dec.Close()
	}
}

// A blob is content ready to be stored.
type blob struct {
	hash  decant.Hash
	codec int
	size  int
	data  []byte
}

// encode returns content, whose hash is h, as it is stored.
func (c *codec) encode(h decant.Hash, content []byte) blob {
	b := blob{hash: h, codec: plain, size: len(content), data: content}
	if len(content) < minZip {
		return b
	}
	if z := c.enc.EncodeAll(content, nil); len(z) < len(content) {
		b.codec, b.data = zipped, z
	}
	return b
}

// decode returns the content of a stored blob.
func (c *codec) decode(codec, size int, data []byte) ([]byte, error) {
	switch codec {
	case plain:
		return data, nil
	case zipped:
		out, err := c.dec.DecodeAll(data, make([]byte, 0, size))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
		}
		return out, nil
	}
	return nil, fmt.Errorf("encoding %d: %w", codec, store.ErrNewer)
}

// Blobs implements store.Blobs.
func (db *DB) Blobs(ctx context.Context, tenant string, hashes ...decant.Hash) ([][]byte, error) {
	out := make([][]byte, len(hashes))
	err := db.read(ctx, func(r *reader) (err error) {
		for i, h := range hashes {
			if out[i], err = db.blob(r, tenant, h); err != nil {
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

// blob reads one content.
func (db *DB) blob(q querier, tenant string, h decant.Hash) ([]byte, error) {
	var codec, size int
	var data []byte
	err := q.row("SELECT codec, size, data FROM blobs WHERE tenant = ? AND hash = ?", []any{tenant, h[:]}, &codec, &size, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, store.Missing("blob", h)
	}
	if err != nil {
		return nil, err
	}
	content, err := db.codec.decode(codec, size, data)
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", h, err)
	}
	return content, nil
}

// bytes returns h as it is stored: nothing for the zero hash.
func bytes(h decant.Hash) []byte {
	if h.IsZero() {
		return []byte{}
	}
	return h[:]
}

// hash returns the hash that bytes stored.
func hash(b []byte) (h decant.Hash) {
	copy(h[:], b)
	return h
}
