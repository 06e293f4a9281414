package sqlite

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// content is the blobs that a write adds, and what it knows of those that it refers to.
type content struct {
	key   store.Key // set by store
	blobs []blob
	known map[decant.Hash]int // index in blobs
	fixed decant.Hash         // version of the fixed part that the conversation is known to hold
}

// A blob is content that may be new, or that is referred to.
type blob struct {
	hash   decant.Hash
	data   []byte // nil: not among those added
	pack   int64  // that it goes into if it is fresh
	fresh  bool   // the store did not have it
	shared bool   // it is referred to and not fresh: the conversation has to hold it
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
			h = form.Hash(data)
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

// fresh reports whether the write adds a blob that the store did not have.
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
	if err := c.enter(t, p.id); err != nil {
		return err
	}
	for i := range c.blobs {
		b := &c.blobs[i]
		if !b.fresh {
			continue
		}
		if b.pack != p.id {
			if _, err := p.flush(t, k); err != nil {
				return err
			}
			p.id = b.pack
		}
		p.add(b.hash, b.data)
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

// enter enters the blobs that the store does not have, each with its pack; the first pack is given.
func (c *content) enter(t *tx, first int64) error {
	pack, size := first, 0
	for i := range c.blobs {
		b := &c.blobs[i]
		if b.pack = pack; size+len(b.data) < packSize {
			size += len(b.data)
		} else {
			pack, size = pack+1, 0
		}
	}
	return t.inOrder(c.key.Tenant, len(c.blobs), func(i int) (*decant.Hash, int64) { return &c.blobs[i].hash, c.blobs[i].pack }, func(r *hashRows) error {
		n, err := t.change("INSERT INTO blobs (tenant, hash, pack) SELECT ?, substr(?, 1 + 16 * key, 16), value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING",
			c.key.Tenant, r.hashes, string(r.numbers))
		if err != nil {
			return err
		}
		return c.entered(t, r, first, int(n))
	})
}

// entered notes which of some rows have been entered: n of them, into packs from the first one on.
func (c *content) entered(t *tx, r *hashRows, first int64, n int) error {
	for _, i := range r.at {
		c.blobs[i].fresh = n > 0
	}
	if n == 0 || n == len(r.at) {
		return nil
	}
	var row [1]driver.Value
	return t.each("SELECT key FROM json_each(?) CROSS JOIN blobs WHERE tenant = ? AND hash = substr(?, 1 + 16 * key, 16) AND pack < ?",
		[]any{string(r.numbers), c.key.Tenant, r.hashes, first}, row[:], func() { c.blobs[r.at[row[0].(int64)]].fresh = false })
}

// mostRows is how many rows one statement inserts.
const mostRows = 512

// hashRows are rows of a hash and a number each, for one statement: those of the hashes with the indices at. Their buffers serve
// one statement after the other.
type hashRows struct {
	at      []int
	hashes  []byte // as they are stored, one after the other
	numbers []byte // a JSON list, to be passed as text: bytes would be taken for another form
}

// inOrder calls do with rows of n hashes and their numbers, about in the order of an index of the hashes: rows at random
// places are what a commit costs most.
func (t *tx) inOrder(tenant string, n int, row func(int) (*decant.Hash, int64), do func(*hashRows) error) error {
	type place struct {
		begins uint64
		at     int
		stored []byte
	}
	places := make([]place, n)
	for i := range places {
		p := &places[i]
		h, _ := row(i)
		if p.at, p.stored = i, h[:]; t.box != nil {
			p.stored = t.hash(tenant, *h)
		}
		p.begins = binary.BigEndian.Uint64(p.stored)
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.begins, b.begins) })
	r := &t.hashed
	for part := range slices.Chunk(places, mostRows) {
		r.at, r.hashes, r.numbers = r.at[:0], r.hashes[:0], append(r.numbers[:0], '[')
		for i := range part {
			_, n := row(part[i].at)
			r.at, r.hashes = append(r.at, part[i].at), append(r.hashes, part[i].stored...)
			r.numbers = append(strconv.AppendInt(r.numbers, n, 10), ',')
		}
		r.numbers[len(r.numbers)-1] = ']'
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// refer makes the conversation hold a blob, once hold is called, and fails if there is no such blob.
// The zero hash is no blob.
func (c *content) refer(t *tx, h decant.Hash) error {
	i, ok := c.known[h]
	if h.IsZero() || ok && (c.blobs[i].fresh || c.blobs[i].shared) {
		return nil
	}
	if ok {
		c.blobs[i].shared = true
		return nil
	}
	var row [1]driver.Value
	err := t.first("SELECT pack FROM blobs WHERE tenant = ? AND hash = ?", []any{c.key.Tenant, t.hash(c.key.Tenant, h)}, row[:])
	if errors.Is(err, sql.ErrNoRows) {
		return noBlob(h)
	}
	c.note(blob{hash: h, shared: true})
	return err
}

// holdRows is how many rows a conversation has in holds before they become one: each commit reads them.
const holdRows = 8

// hold notes the blobs that were referred to and that other conversations added, except for those that
// are noted. Some may be the conversation's own, which it does not hurt to hold twice.
func (c *content) hold(t *tx) error {
	missing := map[decant.Hash]bool{} // as they are stored: what is noted is many, and is not unmasked for this
	for i := range c.blobs {
		if c.blobs[i].shared {
			missing[hash(t.hash(c.key.Tenant, c.blobs[i].hash))] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var all []byte
	var row [1]driver.Value
	rows := 0
	if err := t.each("SELECT hashes FROM holds WHERE tenant = ? AND conversation = ?", []any{c.key.Tenant, c.key.ID}, row[:], func() {
		hashes, _ := row[0].([]byte)
		all = append(all, hashes...)
		rows++
	}); err != nil {
		return err
	}
	for h := range (sealing{}).split("", all) {
		delete(missing, h)
	}
	if len(missing) == 0 {
		return nil
	}
	if rows < holdRows {
		all = nil
	} else if err := t.exec("DELETE FROM holds WHERE tenant = ? AND conversation = ?", c.key.Tenant, c.key.ID); err != nil {
		return err
	}
	for i := range c.blobs { // in their order
		if stored := t.hash(c.key.Tenant, c.blobs[i].hash); missing[hash(stored)] {
			all = append(all, stored...)
		}
	}
	return t.exec("INSERT INTO holds (tenant, conversation, hashes) VALUES (?, ?, ?)", c.key.Tenant, c.key.ID, all)
}

// holdings returns the blobs that a conversation holds besides those that it added.
func holdings(q querier, k store.Key) (map[decant.Hash]bool, error) {
	held := map[decant.Hash]bool{}
	err := q.rows("SELECT hashes FROM holds WHERE tenant = ? AND conversation = ?", []any{k.Tenant, k.ID}, func(rows *sql.Rows) error {
		var hashes sql.RawBytes
		err := rows.Scan(&hashes)
		for h := range q.vault().split(k.Tenant, hashes) {
			held[h] = true
		}
		return err
	})
	return held, err
}

// split returns hashes that are stored one after the other.
func (s sealing) split(tenant string, hashes []byte) iter.Seq[decant.Hash] {
	return func(yield func(decant.Hash) bool) {
		for len(hashes) >= len(decant.Hash{}) {
			if !yield(s.unhash(tenant, hashes[:len(decant.Hash{})])) {
				return
			}
			hashes = hashes[len(decant.Hash{}):]
		}
	}
}

// holdFixed makes the conversation hold the blobs of a version of the fixed part.
func (c *content) holdFixed(t *tx, version decant.Hash) error {
	if version.IsZero() || version == c.fixed {
		return nil
	}
	var system, tools []byte
	err := t.row("SELECT system, tools FROM fixed WHERE tenant = ? AND version = ?", []any{c.key.Tenant, t.hash(c.key.Tenant, version)}, &system, &tools)
	if err != nil {
		return fmt.Errorf("fixed part %s: %w", version, err)
	}
	if err := c.refer(t, t.unhash(c.key.Tenant, system)); err != nil {
		return err
	}
	if err := c.refer(t, t.unhash(c.key.Tenant, tools)); err != nil {
		return err
	}
	c.fixed = version
	return nil
}
