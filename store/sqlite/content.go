package sqlite

import (
	"crypto/sha256"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// content is the blobs that a write brings along, encoded, and what it has found out about them.
type content struct {
	key     store.Key // set by store
	blobs   []blob
	brought map[decant.Hash]bool // among blobs
	fresh   map[decant.Hash]bool // those of blobs that the store did not have
}

// newContent encodes contents. It is the expensive part of a commit and is done before the writer
// is asked for.
func (db *DB) newContent(lists ...[][]byte) content {
	c := content{brought: map[decant.Hash]bool{}, fresh: map[decant.Hash]bool{}}
	for _, list := range lists {
		for _, data := range list {
			c.add(&db.codec, data)
		}
	}
	return c
}

// add encodes one content unless it is there; nil is no content.
func (c *content) add(k *codec, data []byte) {
	h := contentHash(data)
	if h.IsZero() || c.brought[h] {
		return
	}
	c.brought[h] = true
	c.blobs = append(c.blobs, k.encode(h, data))
}

// contentHash is decant.HashText without a copy of the data; zero for nil.
func contentHash(data []byte) decant.Hash {
	if data == nil {
		return decant.Hash{}
	}
	sum := sha256.Sum256(data)
	return decant.Hash(sum[:len(decant.Hash{})])
}

// store writes the blobs that are new and refers to all of them.
func (c *content) store(t *tx, k store.Key) error {
	c.key = k
	for i := range c.blobs {
		b := &c.blobs[i]
		n, err := t.change("INSERT INTO blobs (tenant, hash, codec, size, data) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			k.Tenant, b.hash[:], b.codec, b.size, nonNil(b.data))
		if err != nil {
			return err
		}
		if n > 0 {
			c.fresh[b.hash] = true
		}
		if err := c.refer(t, b.hash); err != nil {
			return err
		}
	}
	return nil
}

// refer makes the conversation hold a blob and fails if there is no such blob. The zero hash is
// no blob.
func (c *content) refer(t *tx, h decant.Hash) error {
	if h.IsZero() {
		return nil
	}
	added, err := t.change("INSERT INTO refs (tenant, hash, conversation) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", c.key.Tenant, h[:], c.key.ID)
	if err != nil || added == 0 || c.brought[h] {
		return err // where there was a reference, there is the blob
	}
	var n int
	err = t.row("SELECT count(*) FROM blobs WHERE tenant = ? AND hash = ?", []any{c.key.Tenant, h[:]}, &n)
	if err == nil && n == 0 {
		err = store.Missing("blob", h)
	}
	return err
}

// holdFixed makes the conversation hold the blobs of a version of the fixed part.
func (c *content) holdFixed(t *tx, version decant.Hash) error {
	if version.IsZero() {
		return nil
	}
	var system, tools []byte
	err := t.row("SELECT system, tools FROM fixed WHERE tenant = ? AND version = ?", []any{c.key.Tenant, version[:]}, &system, &tools)
	if err != nil {
		return fmt.Errorf("fixed part %s: %w", version, err)
	}
	if err := c.refer(t, hash(system)); err != nil {
		return err
	}
	return c.refer(t, hash(tools))
}
