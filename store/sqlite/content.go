package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// content is the blobs that a write brings along, and what it knows of those that it refers to.
type content struct {
	key   store.Key // set by store
	blobs []blob
	known map[decant.Hash]int // index in blobs
	fixed decant.Hash         // version of the fixed part that the conversation is known to hold
}

// A blob is content that may be new, or that is referred to.
type blob struct {
	hash  decant.Hash
	data  []byte // nil: not brought along
	fresh bool   // the store did not have it
	held  bool   // the conversation holds it
}

func newContent(size int) content {
	return content{blobs: make([]blob, 0, size), known: make(map[decant.Hash]int, size)}
}

// add adds contents, each once. Hashes that are not given are computed.
func (c *content) add(hashes []decant.Hash, list ...[]byte) {
	for i, data := range list {
		if data == nil {
			continue // no content
		}
		var h decant.Hash
		if hashes != nil {
			h = hashes[i]
		} else {
			h = contentHash(data)
		}
		if _, ok := c.known[h]; !ok {
			c.note(blob{hash: h, data: data})
		}
	}
}

func (c *content) note(b blob) {
	c.known[b.hash] = len(c.blobs)
	c.blobs = append(c.blobs, b)
}

// fresh reports whether the write has brought a blob that the store did not have.
func (c *content) fresh(h decant.Hash) bool {
	i, ok := c.known[h]
	return ok && c.blobs[i].fresh
}

// store writes the blobs that are new, in packs of the conversation's, and refers to the others.
func (c *content) store(t *tx, k store.Key) error {
	c.key = k
	if len(c.blobs) == 0 {
		return nil
	}
	p := &t.packer
	if err := p.start(t); err != nil {
		return err
	}
	for i := range c.blobs {
		b := &c.blobs[i]
		n, err := t.change("INSERT INTO blobs (tenant, hash, pack) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", k.Tenant, b.hash[:], p.id)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		b.fresh, b.held = true, true
		if p.add(b.hash, b.data); len(p.data) < packSize {
			continue
		}
		if _, err := p.flush(t, k); err != nil {
			return err
		}
	}
	if _, err := p.flush(t, k); err != nil {
		return err
	}
	for i := range c.blobs {
		if err := c.refer(t, c.blobs[i].hash); err != nil {
			return err
		}
	}
	return nil
}

// refer makes the conversation hold a blob and fails if there is no such blob. The zero hash is
// no blob.
func (c *content) refer(t *tx, h decant.Hash) error {
	i, ok := c.known[h]
	if h.IsZero() || ok && c.blobs[i].held {
		return nil
	}
	var row [1]driver.Value
	err := t.first(`SELECT p.conversation = ? OR EXISTS (SELECT 1 FROM refs r WHERE r.tenant = b.tenant AND r.hash = b.hash AND r.conversation = ?)
		FROM blobs b JOIN packs p ON p.id = b.pack WHERE b.tenant = ? AND b.hash = ?`, []any{c.key.ID, c.key.ID, c.key.Tenant, h[:]}, row[:])
	if errors.Is(err, sql.ErrNoRows) {
		return store.Missing("blob", h)
	}
	if err == nil && row[0] != int64(1) {
		err = t.exec("INSERT INTO refs (tenant, hash, conversation) VALUES (?, ?, ?)", c.key.Tenant, h[:], c.key.ID)
	}
	if err != nil {
		return err
	}
	if ok {
		c.blobs[i].held = true
	} else {
		c.note(blob{hash: h, held: true})
	}
	return nil
}

// holdFixed makes the conversation hold the blobs of a version of the fixed part.
func (c *content) holdFixed(t *tx, version decant.Hash) error {
	if version.IsZero() || version == c.fixed {
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
	if err := c.refer(t, hash(tools)); err != nil {
		return err
	}
	c.fixed = version
	return nil
}
