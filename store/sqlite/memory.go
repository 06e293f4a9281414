package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// memoryBytes is how much text goes into an index in memory before it is searched and emptied.
const memoryBytes = 16 << 20

// A memoryIndex is an index of words like that in the file, of a database whose words must not be written. Texts that
// a glance shows not to match do not go in.
type memoryIndex struct {
	db     *sql.DB
	insert *sql.Stmt
	match  string
	words  []string      // that every text holds which is found, as far as that can be told at a glance
	limit  int           // of texts: some may be kept for another reason than that they were said
	texts  []decant.Hash // by the number under which they are in
	size   int
	best   []ranked
}

// A ranked text is one that was found. A lower rank is better; of equal ones the one that was read first.
type ranked struct {
	text decant.Hash
	rank float64
}

func newMemoryIndex(ctx context.Context, s *search, match string) (x *memoryIndex, err error) {
	x = &memoryIndex{match: match, words: atAGlance(s.terms), limit: s.Limit + searchPage}
	if x.db, err = sql.Open("sqlite", "file::memory:?_pragma=temp_store(memory)"); err != nil {
		return nil, err
	}
	x.db.SetMaxOpenConns(1) // another one would have a database of its own
	if _, err = x.db.ExecContext(ctx, "CREATE VIRTUAL TABLE words USING fts5 (text, "+tokenizing+")"); err == nil {
		x.insert, err = x.db.PrepareContext(ctx, "INSERT INTO words (rowid, text) VALUES (?, ?)")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make an index in memory: %w", err), x.db.Close())
	}
	return x, nil
}

// tokenizing is how the index is made, in the file and in memory. It is the same in the migration.
const tokenizing = "content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'"

// add adds a text, and asks the index when it has become large.
func (x *memoryIndex) add(ctx context.Context, h decant.Hash, text string) error {
	if !x.may(text) {
		return nil
	}
	x.texts = append(x.texts, h)
	x.size += len(text)
	if _, err := x.insert.ExecContext(ctx, len(x.texts), spread(text)); err != nil {
		return fmt.Errorf("add to the index in memory: %w", err)
	}
	if x.size < memoryBytes {
		return nil
	}
	return x.ask(ctx)
}

// ask keeps the best of what the index finds, and empties it.
func (x *memoryIndex) ask(ctx context.Context) error {
	err := scan(x.db.QueryContext(ctx, "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank, rowid LIMIT ?", x.match, x.limit))(func(rows *sql.Rows) error {
		var n int
		var rank float64
		err := rows.Scan(&n, &rank)
		if err == nil {
			x.best = append(x.best, ranked{x.texts[n-1], rank})
		}
		return err
	})
	if err == nil {
		_, err = x.db.ExecContext(ctx, "INSERT INTO words (words) VALUES ('delete-all')")
	}
	if err != nil {
		return fmt.Errorf("ask the index in memory: %w", err)
	}
	slices.SortStableFunc(x.best, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	x.best = x.best[:min(x.limit, len(x.best))]
	x.texts, x.size = x.texts[:0], 0
	return nil
}

// close ends the index.
func (x *memoryIndex) close() error { return errors.Join(x.insert.Close(), x.db.Close()) }

// may reports whether the index could find a text. Where that takes folding of letters, it could.
func (x *memoryIndex) may(text string) bool {
	if len(x.words) == 0 || strings.IndexFunc(text, folds) >= 0 {
		return true
	}
	lower := strings.ToLower(text)
	for _, w := range x.words {
		if !strings.Contains(lower, w) {
			return false
		}
	}
	return true
}

// folds reports whether the index may take a letter for another one than itself, in small.
func folds(r rune) bool { return r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r)) }

// atAGlance returns the words of terms in small letters, without those that the index may fold.
func atAGlance(terms []term) (words []string) {
	for _, t := range terms {
		for _, w := range strings.FieldsFunc(t.text, func(r rune) bool { return !isToken(r) && !unicode.IsMark(r) }) {
			if strings.IndexFunc(w, folds) < 0 && len(spellings(w)) == 1 {
				words = append(words, strings.ToLower(w))
			}
		}
	}
	return words
}

// inMemory finds texts by an index that is made for this search, reading everything that is kept.
func (s *search) inMemory(ctx context.Context) (err error) {
	match := matchExpression(s.terms)
	if match == "" {
		return nil
	}
	x, err := newMemoryIndex(ctx, s, match)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.close()) }()
	said, err := s.said()
	if err != nil {
		return err
	}
	exact := slices.DeleteFunc(slices.Clone(s.terms), func(t term) bool { return !t.exact })
	if err := s.every(ctx, func(h decant.Hash, text string) error {
		if said != nil && !said[h] || !holds(text, exact) {
			return nil
		}
		return x.add(ctx, h, text)
	}); err != nil {
		return err
	}
	if err := x.ask(ctx); err != nil {
		return err
	}
	for _, r := range x.best {
		if err := s.add([]decant.Hash{r.text}, nil); err != nil {
			return err
		}
	}
	return nil
}

// said returns the texts of the conversations that the search is within, those that were replaced, too. Nil means all.
func (s *search) said() (map[decant.Hash]bool, error) {
	if s.within == nil {
		return nil, nil
	}
	texts, l := map[decant.Hash]bool{}, lineage{s.q, s.Tenant}
	for _, id := range s.within {
		err := l.Segments(id, math.MaxInt64, func(_ int64, _ int, data []byte) error {
			entries, err := form.AppendSegment(nil, data)
			for i := range entries {
				texts[entries[i].Text] = true
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// every calls do with all texts of the tenant, newest first.
func (s *search) every(ctx context.Context, do func(decant.Hash, string) error) error {
	for last := int64(1) << 62; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		texts, next, err := s.older(last)
		if err != nil || len(texts) == 0 {
			return err
		}
		for _, h := range texts {
			content, err := s.blobs.blob(s.Tenant, h)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err == nil {
				err = do(h, string(content))
			}
			if err != nil {
				return err
			}
		}
		last = next
	}
}
