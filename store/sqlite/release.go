package sqlite

import (
	"database/sql"
	"maps"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// heirs knows which conversations of a tenant hold blobs that others added. It reads on where it
// stopped, so that removing many conversations reads them once.
type heirs struct {
	tenant string
	of     map[decant.Hash][]string
	read   int64 // rows of holds up to this one
}

// update reads what has been added.
func (h *heirs) update(q querier, tenant string) error {
	if h.of == nil || h.tenant != tenant {
		*h = heirs{tenant: tenant, of: map[decant.Hash][]string{}}
	}
	return q.rows("SELECT id, conversation, hashes FROM holds NOT INDEXED WHERE tenant = ? AND id > ? ORDER BY id", []any{tenant, h.read}, func(rows *sql.Rows) error {
		var id string
		var hashes sql.RawBytes
		err := rows.Scan(&h.read, &id, &hashes)
		for blob := range q.vault().split(tenant, hashes) {
			h.of[blob] = append(h.of[blob], id)
		}
		return err
	})
}

// A divider takes packs apart whose conversation goes. Within its transaction nothing else changes.
type divider struct {
	*collector
	t        *tx
	tenant   string
	holdings map[string]map[decant.Hash]bool // of the conversations that were asked for
}

// release ends what a conversation holds: a blob that no other conversation holds goes, one that others hold
// passes to the first of them. A pack never keeps what is gone.
func (c *collector) release(t *tx, k store.Key) error {
	if err := t.exec("DELETE FROM holds WHERE tenant = ? AND conversation = ?", k.Tenant, k.ID); err != nil {
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
	if err := c.heirs.update(t, k.Tenant); err != nil {
		return err
	}
	d := divider{collector: c, t: t, tenant: k.Tenant, holdings: map[string]map[decant.Hash]bool{}}
	for _, id := range packs {
		if err := d.divide(id); err != nil {
			return err
		}
	}
	return nil
}

// divide removes a pack and gives each heir one of its own.
func (d *divider) divide(id int64) error {
	var size int64
	if err := d.t.row("SELECT length(data) FROM packs WHERE id = ?", []any{id}, &size); err != nil {
		return err
	}
	u := unpacker{q: d.t}
	if err := u.load(id); err != nil {
		return err
	}
	shares := map[string][]blob{}
	var err error
	u.last.each(func(h decant.Hash, data []byte) bool {
		var heir string
		if heir, err = d.heir(h); err == nil && heir != "" {
			shares[heir] = append(shares[heir], blob{hash: h, data: data})
		} else if err == nil {
			d.Blobs++
			if d.pieces != nil {
				d.pieces.text(h, data)
			}
			err = d.forget(h)
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	if err := d.t.exec("DELETE FROM packs WHERE id = ?", id); err != nil {
		return err
	}
	d.Bytes += size
	for _, heir := range slices.Sorted(maps.Keys(shares)) {
		if err := d.inherit(heir, shares[heir]); err != nil {
			return err
		}
	}
	return nil
}

// heir returns the first conversation that still holds a blob, empty if there is no such conversation.
func (d *divider) heir(h decant.Hash) (string, error) {
	for ids := d.heirs.of[h]; len(ids) > 0; ids = ids[1:] {
		d.heirs.of[h] = ids // those before have gone: what many share is not asked of them again
		id := ids[0]
		held, ok := d.holdings[id]
		if !ok {
			var err error
			if held, err = holdings(d.t, store.Key{Tenant: d.tenant, ID: id}); err != nil {
				return "", err
			}
			d.holdings[id] = held
		}
		if held[h] {
			return id, nil
		}
	}
	delete(d.heirs.of, h)
	return "", nil
}

// inherit makes packs of blobs that one conversation added and another one holds.
func (d *divider) inherit(heir string, blobs []blob) error {
	p := &d.t.packer
	if err := p.start(d.t); err != nil {
		return err
	}
	for _, b := range blobs {
		p.add(b.hash, b.data)
		if err := d.t.exec("UPDATE blobs SET pack = ? WHERE tenant = ? AND hash = ?", p.id, d.tenant, d.t.hash(d.tenant, b.hash)); err != nil {
			return err
		}
	}
	stored, err := p.flush(d.t, store.Key{Tenant: d.tenant, ID: heir})
	d.Bytes -= int64(stored)
	return err
}

// forget removes a blob, but for its pack, its place in the index, and the fixed parts that it is of.
func (d *divider) forget(h decant.Hash) error {
	for _, statement := range []string{
		"DELETE FROM search_text WHERE rowid = (SELECT id FROM search_docs WHERE tenant = ? AND hash = ?)",
		"DELETE FROM search_docs WHERE tenant = ? AND hash = ?",
		"DELETE FROM blobs WHERE tenant = ? AND hash = ?",
		"DELETE FROM fixed INDEXED BY fixed_system WHERE tenant = ? AND system = ?",
		"DELETE FROM fixed INDEXED BY fixed_tools WHERE tenant = ? AND tools = ?",
	} {
		if err := d.t.exec(statement, d.tenant, d.t.hash(d.tenant, h)); err != nil {
			return err
		}
	}
	return nil
}
