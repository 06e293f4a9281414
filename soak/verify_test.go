package soak

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// verify opens the database of the ended gateway and holds it against what clients and upstream know.
func (s *soak) verify() {
	ctx := context.Background()
	if out, err := s.gate.decant("db", "check"); err != nil {
		s.t.Errorf("%v\n%s", err, out)
	}
	db, err := sqlite.Open(ctx, s.gate.file("d.db"), sqlite.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	var read, forgotten, moved, blocks int
	for _, l := range s.lines.all {
		if l.acked == nil {
			continue
		}
		if l.gone {
			forgotten++
			if _, err := db.Load(ctx, l.key, store.Newest); !errors.Is(err, store.ErrNotFound) {
				s.t.Errorf("%s of %s was forgotten and is there: %v", l.key.ID, l.session, err)
			}
			continue
		}
		read++
		blocks += len(l.acked)
		switch err := s.readBack(ctx, db, l, l.key); {
		case err == nil:
		case s.elsewhere(ctx, db, l):
			moved++
		default:
			s.t.Errorf("%s of %s, session %s: %v", l.key.ID, l.tenant.name, l.session, err)
		}
	}
	s.t.Logf("%d conversations with %d blocks read back, %d of them under another id than the answer had, %d forgotten", read, blocks, moved, forgotten)
	if read == 0 {
		s.t.Error("no conversation was answered")
	}
	s.ledger(ctx, db)
}

// elsewhere reports whether another conversation of the session reads back as it was acknowledged: of two requests that
// begin a conversation at the same moment, one that its client left, say, the answers name different ids, and one of them is
// stored.
func (s *soak) elsewhere(ctx context.Context, db store.Store, l *line) bool {
	found, err := db.Conversations(ctx, store.Filter{Tenant: l.key.Tenant, Session: l.session})
	return err == nil && slices.ContainsFunc(found, func(c store.Summary) bool { return s.readBack(ctx, db, l, c.Key) == nil })
}

// readBack checks that a conversation is as its client has sent it, and its newest answer as the upstream has given it.
func (s *soak) readBack(ctx context.Context, db store.Store, l *line, k store.Key) error {
	state, err := db.Load(ctx, k, store.Newest)
	if err != nil {
		return err
	}
	if len(state.Chain) < len(l.acked) {
		return fmt.Errorf("%d blocks are there, %d were acknowledged", len(state.Chain), len(l.acked))
	}
	for i, h := range l.acked {
		if state.Chain[i].Raw != h {
			return fmt.Errorf("block %d of %d is not the one that was sent", i+1, len(l.acked))
		}
	}
	texts, err := db.Blobs(ctx, l.key.Tenant, l.acked...)
	if err != nil {
		return err
	}
	for i, h := range l.acked {
		if decant.HashText(string(texts[i])) != h {
			return fmt.Errorf("block %d of %d has other bytes", i+1, len(l.acked))
		}
	}
	return s.answered(ctx, db, l, k)
}

// answered checks that the newest answer was archived.
func (s *soak) answered(ctx context.Context, db store.Store, l *line, k store.Key) error {
	rs, err := db.Requests(ctx, k)
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(rs) {
		if r.Length != len(l.acked) || !r.Answered() || r.Answer.IsZero() {
			continue
		}
		content, err := db.Blobs(ctx, l.key.Tenant, r.Answer)
		if err != nil {
			return err
		}
		if canonical(content[0]) == s.up.said[l.answer] {
			return nil
		}
	}
	return fmt.Errorf("the answer %s to the request of %d blocks is not there, among %d requests", l.answer, len(l.acked), len(rs))
}

// ledger checks what was booked. Every answer that came to its end is in it as the upstream has counted it; of one
// that broke off, or that the client did not wait for, what the upstream had said until then, or an estimate.
func (s *soak) ledger(ctx context.Context, db store.Store) {
	tenants, err := db.Tenants(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	var booked decant.Usage
	calls := 0
	for _, name := range tenants {
		totals, err := db.Spending(ctx, store.SpendQuery{Tenant: name})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, x := range totals {
			booked, calls = booked.Add(x.Usage), calls+x.Calls
		}
	}
	least := s.tally.least(s.up)
	s.t.Logf("ledger: %d calls, %+v; the upstream has booked %d with %+v, of which %+v came to their end", calls, booked, len(s.up.usage), s.up.booked, least)
	most := s.tally.most(s.up, least)
	for _, c := range []struct {
		what            string
		least, is, most int
	}{
		{"input", least.Input, booked.Input, most.Input},
		{"cache reads", least.CacheRead, booked.CacheRead, most.CacheRead},
		{"cache writes", least.CacheWrite, booked.CacheWrite, most.CacheWrite},
		{"output", least.Output, booked.Output, most.Output},
	} {
		if c.is < c.least || c.is > c.most {
			s.t.Errorf("%s: %d booked, want from %d to %d", c.what, c.is, c.least, c.most)
		}
	}
}
