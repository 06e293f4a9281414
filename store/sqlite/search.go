package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Search implements store.Searcher. What the index does not find is looked for in the texts
// themselves: a part of a word, or signs that are no words.
func (db *database) Search(ctx context.Context, q store.Query) ([]store.Hit, error) {
	terms := parseTerms(q.Text)
	if len(terms) == 0 {
		return nil, nil
	}
	err := db.indexWaiting(ctx)
	unindexed := errors.Is(err, store.ErrReadOnly)
	if err != nil && !unindexed {
		return nil, err
	}
	if q.Limit == 0 {
		q.Limit = 20
	}
	s := &search{Query: q, terms: terms}
	err = db.snapshot(ctx, func(r *reader) (err error) {
		s.q, s.blobs = r, &unpacker{q: r}
		if q.Conversation != "" {
			if s.within, err = form.Ancestors(lineage{r, q.Tenant}, q.Conversation); err != nil {
				return err
			}
			slices.Reverse(s.within)
		}
		if err = s.words(ctx); err == nil && unindexed {
			err = s.waiting()
		}
		if err == nil && len(s.hits) == 0 {
			err = s.scan(ctx)
		}
		return err
	})
	return s.hits, wrap("search", err)
}

// words finds texts by their words.
func (s *search) words(ctx context.Context) error {
	if s.q.vault().box != nil {
		return s.inMemory(ctx)
	}
	return s.indexed()
}

// search is a search under way.
type search struct {
	store.Query
	q      querier
	blobs  *unpacker
	terms  []term
	within []string // conversations, a parent before its forks; nil: all
	hits   []store.Hit
}

// searchPage is how many texts are asked from the index at a time.
const searchPage = 100

// indexed finds texts by the index.
func (s *search) indexed() error {
	match := matchExpression(s.terms)
	if match == "" {
		return nil
	}
	for offset := 0; len(s.hits) < s.Limit; offset += searchPage {
		texts, err := s.page(`SELECT d.hash FROM search_text JOIN search_docs d ON d.id = search_text.rowid
			WHERE search_text MATCH ? AND d.tenant = ? ORDER BY search_text.rank, d.id LIMIT ? OFFSET ?`, match, s.Tenant, searchPage, offset)
		if err != nil {
			return err
		}
		exact := slices.DeleteFunc(slices.Clone(s.terms), func(t term) bool { return !t.exact })
		if err := s.add(texts, exact); err != nil || len(texts) < searchPage {
			return err
		}
	}
	return nil
}

// waiting reads the texts that cannot be indexed, because the database must not be written.
func (s *search) waiting() error {
	var texts []decant.Hash
	err := s.q.rows("SELECT hashes FROM search_queue WHERE tenant = ?", []any{s.Tenant}, func(rows *sql.Rows) error {
		var hashes sql.RawBytes
		err := rows.Scan(&hashes)
		texts = slices.AppendSeq(texts, s.q.vault().split(s.Tenant, hashes))
		return err
	})
	if err != nil {
		return err
	}
	return s.add(texts, s.terms)
}

// scan reads all texts, newest first.
func (s *search) scan(ctx context.Context) error {
	for last := int64(1) << 62; len(s.hits) < s.Limit; {
		if err := ctx.Err(); err != nil {
			return err
		}
		texts, next, err := s.older(last)
		if err != nil || len(texts) == 0 {
			return err
		}
		if err := s.add(texts, s.terms); err != nil {
			return err
		}
		last = next
	}
	return nil
}

// older returns a page of the texts before one, newest first, and the last of them.
func (s *search) older(than int64) (texts []decant.Hash, last int64, err error) {
	err = s.q.rows("SELECT id, hash FROM search_docs WHERE tenant = ? AND id < ? ORDER BY id DESC LIMIT ?", []any{s.Tenant, than, searchPage}, func(rows *sql.Rows) error {
		var h sql.RawBytes
		err := rows.Scan(&last, &h)
		texts = append(texts, s.q.vault().unhash(s.Tenant, h))
		return err
	})
	return texts, last, err
}

func (s *search) page(query string, args ...any) (texts []decant.Hash, err error) {
	err = s.q.rows(query, args, func(rows *sql.Rows) error {
		var h []byte
		err := rows.Scan(&h)
		texts = append(texts, s.q.vault().unhash(s.Tenant, h))
		return err
	})
	return texts, err
}

// add adds those of the texts to the hits that hold the terms.
func (s *search) add(texts []decant.Hash, terms []term) error {
	for _, h := range texts {
		if len(s.hits) == s.Limit {
			return nil
		}
		content, err := s.blobs.blob(s.Tenant, h)
		if err != nil {
			return err
		}
		if !holds(string(content), terms) {
			continue
		}
		if err := s.locate(h, string(content)); err != nil {
			return err
		}
	}
	return nil
}

// locate adds the first entry that has the text: where it was added, else where it is referred to, which takes reading
// what all conversations refer to.
func (s *search) locate(h decant.Hash, text string) error {
	for _, holders := range []func(decant.Hash) ([]string, error){s.bringers, s.holders} {
		ids, err := holders(h)
		if err != nil {
			return err
		}
		if found, err := s.locateIn(ids, h, text); found || err != nil {
			return err
		}
	}
	return nil
}

// locateIn adds the first entry of some conversations that has the text, and reports whether there is one.
func (s *search) locateIn(ids []string, h decant.Hash, text string) (bool, error) {
	for _, id := range ids {
		e, err := lineage{s.q, s.Tenant}.entry(id, h)
		if errors.Is(err, sql.ErrNoRows) {
			continue // it holds the text for another reason than an entry
		}
		if err != nil {
			return false, err
		}
		hit := store.Hit{Conversation: id, Entry: e}
		var updated int64
		if err := s.q.row("SELECT session, updated FROM conversations WHERE tenant = ? AND id = ?", []any{s.Tenant, id}, &hit.Session, &updated); err != nil {
			return false, err
		}
		if hit.Session, err = s.q.vault().openSession(s.Tenant, hit.Session); err != nil {
			return false, fmt.Errorf("conversation %s: %w", id, err)
		}
		hit.Time = form.Moment(updated)
		hit.Snippet, hit.Match = snippet(text, s.terms)
		s.hits = append(s.hits, hit)
		return true, nil
	}
	return false, nil
}

// bringers returns the conversations that a blob may have come with.
func (s *search) bringers(h decant.Hash) ([]string, error) {
	if s.within != nil {
		return s.within, nil
	}
	return s.ids("SELECT p.conversation FROM blobs b JOIN packs p ON p.id = b.pack WHERE b.tenant = ? AND b.hash = ?", s.Tenant, s.q.vault().hash(s.Tenant, h))
}

// holders returns the conversations that refer to a blob that another one has added.
func (s *search) holders(h decant.Hash) ([]string, error) {
	if s.within != nil {
		return nil, nil
	}
	return s.ids("SELECT conversation FROM holds WHERE tenant = ? AND instr(hashes, ?) ORDER BY id", s.Tenant, s.q.vault().hash(s.Tenant, h))
}

// ids returns the conversations that a query names.
func (s *search) ids(query string, args ...any) (ids []string, err error) {
	err = s.q.rows(query, args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// entry returns the first of the conversation's own entries with the given text, one that is in its
// chain before one that has been replaced. None is sql.ErrNoRows.
func (l lineage) entry(id string, text decant.Hash) (e store.Entry, err error) {
	o, err := l.Origin(id)
	if err != nil {
		return e, err
	}
	var found []store.Entry
	find := func(es []store.Entry) {
		for _, e := range es {
			if e.Text == text && (found == nil || e.Position < found[0].Position) {
				found = []store.Entry{e}
			}
		}
	}
	chain, err := form.Own(l, make([]store.Entry, o.Position), id, math.MaxInt64, find)
	if err != nil {
		return e, err
	}
	if i := slices.IndexFunc(chain, func(e store.Entry) bool { return e.Text == text }); i >= 0 {
		return chain[i], nil
	}
	if found == nil {
		return e, sql.ErrNoRows
	}
	return found[0], nil
}

// indexWaiting indexes what is committed but not indexed.
func (db *database) indexWaiting(ctx context.Context) error {
	waiting := false
	err := db.rows(ctx, "SELECT 1 FROM search_queue LIMIT 1", nil, func(*sql.Rows) error {
		waiting = true
		return nil
	})
	if err == nil && waiting {
		_, err = db.Index(ctx, 0)
	}
	return wrap("search", err)
}

// What is indexed in one transaction: commits have to wait for it.
const (
	indexTexts = 64      // texts at most
	indexBytes = 1 << 18 // no further text beyond
)

// Index implements store.Searcher.
func (db *database) Index(ctx context.Context, limit int) (int, error) {
	total := 0
	for limit == 0 || total < limit {
		most := indexTexts
		if limit > 0 {
			most = min(most, limit-total)
		}
		n, err := db.indexSome(ctx, most)
		total += n
		if err != nil || n == 0 {
			return total, wrap("index texts", err)
		}
	}
	return total, nil
}

// indexSome indexes texts, in one transaction, and returns how many.
func (db *database) indexSome(ctx context.Context, most int) (n int, err error) {
	err = db.write(ctx, func(t *tx) (err error) {
		x := indexer{t: t, blobs: &unpacker{q: t}, left: most}
		for n = 0; x.left > 0 && x.size < indexBytes && err == nil; n = most - x.left {
			if err = x.next(); errors.Is(err, sql.ErrNoRows) {
				return nil
			}
		}
		return err
	})
	return n, err
}

// An indexer moves texts from the queue to the index.
type indexer struct {
	t     *tx
	blobs *unpacker
	left  int // texts that it may still move
	size  int // of those that it has moved
}

// next moves texts of the commit that waits longest.
func (x *indexer) next() error {
	var id int64
	var tenant string
	var hashes []byte
	if err := x.t.row("SELECT id, tenant, hashes FROM search_queue ORDER BY id LIMIT 1", nil, &id, &tenant, &hashes); err != nil {
		return err
	}
	for len(hashes) > 0 && x.left > 0 && x.size < indexBytes {
		h := x.t.unhash(tenant, hashes[:len(decant.Hash{})])
		if err := x.index(tenant, h); err != nil {
			return fmt.Errorf("text %s: %w", h, err)
		}
		hashes = hashes[len(h):]
		x.left--
	}
	if len(hashes) > 0 {
		return x.t.exec("UPDATE search_queue SET hashes = ? WHERE id = ?", hashes, id)
	}
	return x.t.exec("DELETE FROM search_queue WHERE id = ?", id)
}

// index adds one text to the index. Of an encrypted database no words are written: there the index is a list of what
// there is to read. The queue may name a text that is indexed already, and one that
// has been collected.
func (x *indexer) index(tenant string, h decant.Hash) error {
	stored := x.t.hash(tenant, h)
	var content []byte
	var err error
	if x.t.box != nil {
		err = x.t.row("SELECT 1 FROM blobs WHERE tenant = ? AND hash = ?", []any{tenant, stored}, new(int))
	} else {
		content, err = x.blobs.blob(tenant, h)
	}
	if errors.Is(translate(err), store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	n, err := x.t.change("INSERT INTO search_docs (tenant, hash) VALUES (?, ?) ON CONFLICT DO NOTHING", tenant, stored)
	if err != nil || n == 0 || x.t.box != nil {
		return err
	}
	x.size += len(content)
	return x.t.exec("INSERT INTO search_text (rowid, text) SELECT id, ? FROM search_docs WHERE tenant = ? AND hash = ?",
		spread(string(content)), tenant, stored)
}
