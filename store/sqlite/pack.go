package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// packSize is the size from which no further blob is added to a pack: reading one blob decodes its
// whole pack.
const packSize = 128 << 10

// nameSize is the size of a blob's name in a pack: its hash and its size.
const nameSize = len(decant.Hash{}) + 4

// A pack is blobs that are stored together.
type pack struct {
	id    int64
	names []byte
	data  []byte // the blobs one after the other
}

// add appends a blob.
func (p *pack) add(h decant.Hash, blob []byte) {
	p.names = append(p.names, h[:]...)
	p.names = binary.BigEndian.AppendUint32(p.names, uint32(len(blob)))
	p.data = append(p.data, blob...)
}

// each calls do for every blob until it returns false.
func (p *pack) each(do func(h decant.Hash, blob []byte) bool) {
	at := 0
	for names := p.names; len(names) >= nameSize; names = names[nameSize:] {
		end := at + int(binary.BigEndian.Uint32(names[nameSize-4:]))
		if !do(hash(names), p.data[at:end:end]) {
			return
		}
		at = end
	}
}

// size returns the size that the blobs have together, by their names.
func (p *pack) size() (n int) {
	for names := p.names; len(names) >= nameSize; names = names[nameSize:] {
		n += int(binary.BigEndian.Uint32(names[nameSize-4:]))
	}
	return n
}

// read reads what is stored of a pack, and opens it.
func (p *pack) read(q querier, codec *int) (err error) {
	s, k := q.vault(), store.Key{}
	if s.box == nil {
		return q.row("SELECT names, codec, data FROM packs WHERE id = ?", []any{p.id}, &p.names, codec, &p.data)
	}
	if err = q.row("SELECT tenant, conversation, names, codec, data FROM packs WHERE id = ?", []any{p.id}, &k.Tenant, &k.ID, &p.names, codec, &p.data); err != nil {
		return err
	}
	if p.names, err = s.open(p.names, packPlace(k, "packs.names", p.id)); err == nil {
		p.data, err = s.open(p.data, packPlace(k, "packs.data", p.id))
	}
	return err
}

// A packer writes packs. Its buffers serve one after the other.
type packer struct {
	pack
	coded  []byte
	sealed []byte
}

// start begins the packs of a transaction.
func (p *packer) start(t *tx) error {
	p.names, p.data = p.names[:0], p.data[:0]
	var row [1]driver.Value
	err := t.first("SELECT COALESCE(max(id), 0) + 1 FROM packs", nil, row[:])
	p.id, _ = row[0].(int64)
	return err
}

// flush writes what was added as a pack of the conversation's and begins the next one.
func (p *packer) flush(t *tx, k store.Key) (stored int, err error) {
	if len(p.names) == 0 {
		return 0, nil
	}
	codec, data := p.encode()
	if t.box != nil {
		p.sealed = t.box.Seal(p.sealed[:0], data, packPlace(k, "packs.data", p.id))
		data = p.sealed
	}
	if err = t.exec("INSERT INTO packs (id, tenant, conversation, names, codec, data) VALUES (?, ?, ?, ?, ?, ?)",
		p.id, k.Tenant, k.ID, t.seal(p.names, packPlace(k, "packs.names", p.id)), codec, data); err != nil {
		return 0, err
	}
	p.id++
	p.names, p.data = p.names[:0], p.data[:0]
	if cap(p.data) > 8*packSize { // once in a while there is a large blob
		p.data, p.coded, p.sealed = nil, nil, nil
	}
	return len(data), nil
}

// encode returns the data as it is stored.
func (p *packer) encode() (codec int, data []byte) {
	codec, data, p.coded = form.Encode(p.coded, p.data)
	return codec, data
}

// An unpacker reads blobs. It keeps the pack that it has decoded last: what is read together is
// often stored together. All its reads must see one moment.
type unpacker struct {
	q    querier
	last pack
}

// blob returns one content, which the caller owns.
func (u *unpacker) blob(tenant string, h decant.Hash) (out []byte, err error) {
	var id int64
	err = u.q.row("SELECT pack FROM blobs WHERE tenant = ? AND hash = ?", []any{tenant, u.q.vault().hash(tenant, h)}, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noBlob(h)
	}
	if err == nil {
		err = u.load(id)
	}
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", h, err)
	}
	u.last.each(func(name decant.Hash, blob []byte) bool {
		if name == h {
			out = append([]byte{}, blob...)
		}
		return name != h
	})
	if out == nil {
		return nil, fmt.Errorf("blob %s is not in pack %d: %w", h, id, store.ErrCorrupt)
	}
	return out, nil
}

// load reads a pack unless it is the last one.
func (u *unpacker) load(id int64) error {
	if id == u.last.id {
		return nil
	}
	var codec int
	p := pack{id: id}
	err := p.read(u.q, &codec)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("pack %d is missing: %w", id, store.ErrCorrupt)
	}
	if err != nil {
		return fmt.Errorf("pack %d: %w", id, err)
	}
	if p.data, err = form.Decode(codec, p.size(), p.data); err != nil {
		return fmt.Errorf("pack %d: %w", id, err)
	}
	u.last = p
	return nil
}
