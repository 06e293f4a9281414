package sqlite_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// A line makes the commits of one conversation whose contents follow from its id, so that another
// process can tell what must be in the store.
type line struct {
	store.Key
	version int64
	chain   decant.Hash
	size    int // of a text
}

// text is what the n-th message says.
func (l *line) text(n int64) string {
	s := fmt.Sprintf("message %d of %s: ", n, l.ID)
	return s + strings.Repeat(fmt.Sprintf("%x ", decant.HashText(s)), l.size/33)
}

func (l *line) raw(n int64) string { return `{"type":"text","text":"` + l.text(n) + `"}` }

// stub is what stands for the n-th message in the view.
func (l *line) stub(n int64) string { return fmt.Sprintf("stub %d", n) }

// next returns the commit that appends a message and, from the second on, a decision on the one
// before.
func (l *line) next() *store.Batch {
	n := l.version + 1
	text, raw := l.text(n), l.raw(n)
	e := store.Entry{
		Chain: decant.HashText(l.chain.String() + text), Raw: decant.HashText(raw), Text: decant.HashText(text),
		Role: decant.RoleUser, Kind: decant.KindText, Ref: decant.Ref{Message: int(n)}, Tokens: len(text) / 4,
	}
	b := &store.Batch{Key: l.Key, Version: l.version, Entries: []store.Entry{e}, Blobs: [][]byte{[]byte(raw), []byte(text)}}
	if n == 1 {
		b.Create = &store.Creation{Session: l.ID}
		return b
	}
	b.Decisions = []decant.Decision{{
		ID: fmt.Sprintf("%s-%d", l.ID, n), Kind: decant.Shrink, Text: l.stub(n - 1),
		Target: decant.Target{Ref: decant.Ref{Message: int(n - 1)}, Hash: decant.HashText(l.text(n - 1))},
	}}
	return b
}

// again returns the commit that begins another conversation with the line's first message.
func (l *line) again(id string) *store.Batch {
	b := (&line{Key: l.Key, size: l.size}).next()
	b.ID, b.Create.Session = id, id
	return b
}

// commit makes the next commit and moves on.
func (l *line) commit(ctx context.Context, s store.Committer) error {
	b := l.next()
	v, err := s.Commit(ctx, b)
	if err == nil {
		l.version, l.chain = v, b.Entries[0].Chain
	}
	return err
}

// verify returns what the store does not hold of the first n commits.
func (l *line) verify(ctx context.Context, s store.Store, n int64) error {
	st, err := s.Load(ctx, l.Key, store.Newest)
	if err != nil {
		return err
	}
	if st.Version < n || int64(len(st.Chain)) != st.Version || int64(len(st.Decisions)) != st.Version-1 {
		return fmt.Errorf("version %d with %d entries and %d decisions, acknowledged were %d", st.Version, len(st.Chain), len(st.Decisions), n)
	}
	for i, e := range st.Chain {
		got, err := s.Blobs(ctx, l.Tenant, e.Raw, e.Text)
		if err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
		if string(got[0]) != l.raw(int64(i+1)) || string(got[1]) != l.text(int64(i+1)) {
			return fmt.Errorf("entry %d holds something else: %.60q", i+1, got[1])
		}
	}
	for i, d := range st.Decisions {
		if d.Text != l.stub(int64(i+1)) {
			return fmt.Errorf("decision %d says %q", i+1, d.Text)
		}
	}
	return nil
}
