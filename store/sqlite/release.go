package sqlite

import (
	"database/sql"
	"errors"
	"maps"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// release ends what a conversation holds: a blob that nobody else holds goes, one that others hold
// passes to the first of them. A pack never keeps what is gone.
func (c *collector) release(t *tx, k store.Key) error {
	if err := t.exec("DELETE FROM refs WHERE tenant = ? AND conversation = ?", k.Tenant, k.ID); err != nil {
		return err
	}
	var packs []int64
	if err := t.rows("SELECT id FROM packs WHERE tenant = ? AND conversation = ?", []any{k.Tenant, k.ID}, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		packs = append(packs, id)
		return err
	}); err != nil {
		return err
	}
	for _, id := range packs {
		if err := c.divide(t, k.Tenant, id); err != nil {
			return err
		}
	}
	return t.exec(`DELETE FROM fixed WHERE tenant = ?
		AND (system <> x'' AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.tenant = fixed.tenant AND b.hash = fixed.system)
		OR tools <> x'' AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.tenant = fixed.tenant AND b.hash = fixed.tools))`, k.Tenant)
}

// divide removes a pack and gives each heir one of its own.
func (c *collector) divide(t *tx, tenant string, id int64) error {
	var size int64
	if err := t.row("SELECT length(data) FROM packs WHERE id = ?", []any{id}, &size); err != nil {
		return err
	}
	u := unpacker{codec: c.codec, q: t}
	if err := u.load(id); err != nil {
		return err
	}
	shares := map[string][]blob{}
	var err error
	u.last.each(func(h decant.Hash, data []byte) bool {
		var heir string
		err = t.row("SELECT conversation FROM refs WHERE tenant = ? AND hash = ? ORDER BY conversation LIMIT 1", []any{tenant, h[:]}, &heir)
		if errors.Is(err, sql.ErrNoRows) {
			c.Blobs++
			err = forget(t, tenant, h)
		} else {
			shares[heir] = append(shares[heir], blob{hash: h, data: data})
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	if err := t.exec("DELETE FROM packs WHERE id = ?", id); err != nil {
		return err
	}
	c.Bytes += size
	for _, heir := range slices.Sorted(maps.Keys(shares)) {
		if err := c.inherit(t, store.Key{Tenant: tenant, ID: heir}, shares[heir]); err != nil {
			return err
		}
	}
	return nil
}

// inherit makes a pack of blobs that one conversation held and another one holds now.
func (c *collector) inherit(t *tx, k store.Key, blobs []blob) error {
	p := &t.packer
	if err := p.start(t); err != nil {
		return err
	}
	for _, b := range blobs {
		p.add(b.hash, b.data)
		if err := t.exec("UPDATE blobs SET pack = ? WHERE tenant = ? AND hash = ?", p.id, k.Tenant, b.hash[:]); err != nil {
			return err
		}
		if err := t.exec("DELETE FROM refs WHERE tenant = ? AND hash = ? AND conversation = ?", k.Tenant, b.hash[:], k.ID); err != nil {
			return err
		}
	}
	stored, err := p.flush(t, k)
	c.Bytes -= int64(stored)
	return err
}

// forget removes a blob, but for its pack, and its place in the index.
func forget(t *tx, tenant string, h decant.Hash) error {
	for _, statement := range []string{
		"DELETE FROM search_text WHERE rowid = (SELECT id FROM search_docs WHERE tenant = ? AND hash = ?)",
		"DELETE FROM search_docs WHERE tenant = ? AND hash = ?",
		"DELETE FROM blobs WHERE tenant = ? AND hash = ?",
	} {
		if err := t.exec(statement, tenant, h[:]); err != nil {
			return err
		}
	}
	return nil
}
