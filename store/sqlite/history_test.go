package sqlite_test

import (
	"context"
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// history is what may happen: a conversation with decisions, another one that begins with the same message, one that
// is edited again and again, and forks of it.
func history(ctx context.Context, s store.Store) error {
	l := &line{Key: store.Key{ID: "conv"}, size: 2000}
	for range 5 {
		if err := l.commit(ctx, s); err != nil {
			return err
		}
	}
	now, fixed := time.Unix(1_700_000_000, 0), decant.HashText("fixed")
	b := (&line{Key: l.Key, size: l.size}).next()
	b.ID, b.Create.Session, b.Time = "other", "other", now
	b.Fixed = &store.Fixed{Version: fixed, System: []byte("You are careful."), Tools: []byte("[]"), Tokens: 4}
	b.Head = &store.Head{Model: "m", Fixed: fixed}
	b.Events = store.Events{Blobs: [][]byte{[]byte("answer")}, Requests: []store.Request{
		{ID: "r", Time: now, Length: 1, API: "anthropic", Model: "m", Fixed: fixed, Status: 200, Answer: decant.HashText("answer")},
	}}
	if _, err := s.Commit(ctx, b); err != nil {
		return err
	}
	versions := map[string]int64{"conv": 5, "other": 1}
	for _, c := range []struct {
		id      string
		replace int
		texts   []string
		origin  *store.Origin
	}{
		{"edited", 0, []string{"a", "b", "c"}, nil},
		{"edited", 0, []string{"d", "e"}, nil},
		{"edited", 4, []string{"f"}, nil},
		{"fork", 0, []string{"g"}, &store.Origin{Parent: "edited", Version: 2, Position: 4, InForce: 2}},
		{"fork", 0, []string{"h"}, nil},
		{"fork of fork", 0, []string{"i"}, &store.Origin{Parent: "fork", Version: 2, Position: 5, InForce: 2}},
		{"fork", 5, []string{"j", "k"}, nil},
		{"fork", 3, []string{"l"}, nil},
		{"fork", 4, []string{"m"}, nil},
		{"fork", 2, nil, nil},
		{"fork of fork", 5, nil, nil},
		{"fork of fork", 1, []string{"n", "o"}, nil},
		{"edited", 2, []string{"p", "q"}, nil},
		{"edited", 4, []string{"r"}, nil},
		{"edited", 0, nil, nil},
	} {
		b := &store.Batch{Key: store.Key{ID: c.id}, Version: versions[c.id], Replace: c.replace, Time: now}
		if b.Version == 0 {
			b.Create = &store.Creation{Session: "session", Origin: c.origin}
		}
		for i, text := range c.texts {
			h := decant.HashText(text)
			b.Blobs = append(b.Blobs, []byte(text))
			b.Entries = append(b.Entries, store.Entry{
				Chain: decant.HashText(c.id + text), Raw: h, Text: h, Role: decant.RoleUser, Kind: decant.KindText, Author: decant.AuthorUser,
				CallID: "call " + text, Name: "tool", Ref: decant.Ref{Message: 100 + i, Block: i}, Tokens: 7 - i,
			})
		}
		v, err := s.Commit(ctx, b)
		if err != nil {
			return fmt.Errorf("version %d of %s: %w", b.Version+1, c.id, err)
		}
		versions[c.id] = v
	}
	return nil
}

// pouredHistory is what may happen besides: a conversation that was answered, poured and forked, with requests and what
// they cost.
func pouredHistory(ctx context.Context, s store.Store) error {
	at := time.Unix(1_700_000_000, 0).UTC()
	entry := func(n int, role decant.Role) store.Entry {
		text := fmt.Sprint("text ", n)
		h := decant.HashText(text)
		return store.Entry{
			Chain: decant.HashText(fmt.Sprint("chain ", n)), Raw: h, Text: h, Role: role, Kind: decant.KindText, Author: decant.AuthorUser,
			Ref: decant.Ref{Message: n}, Tokens: 10 * n,
		}
	}
	edit := func(id string, n int) decant.Decision {
		e := entry(n, decant.RoleUser)
		return decant.Decision{
			ID: id, Kind: decant.Shrink, Text: "short", Target: decant.Target{Ref: e.Ref, Hash: e.Text}, Handle: decant.HandleOf(e.Text),
			Created: at, Before: 10 * n, After: 1,
		}
	}
	batch := func(id string, version int64, n int) *store.Batch {
		b := &store.Batch{Key: store.Key{Tenant: "alice", ID: id}, Version: version, Time: at}
		role := decant.RoleUser
		if n%2 == 0 {
			role = decant.RoleAssistant
		}
		b.Entries = []store.Entry{entry(n, role)}
		b.Blobs = [][]byte{[]byte(fmt.Sprint("text ", n))}
		b.Events.Requests = []store.Request{{ID: fmt.Sprint("request ", n), Time: at, Length: n, API: "anthropic", Model: "m", Status: 200, Stop: "end_turn", Usage: decant.Usage{Input: n}}}
		b.Events.Spends = []store.Spend{{ID: fmt.Sprint("request ", n), Time: at, Model: "m", Usage: decant.Usage{Input: n}, Without: decant.Usage{Input: 2 * n}, Cost: store.Money(n), Bare: store.Money(2 * n)}}
		return b
	}
	one := batch("parent", 0, 1)
	one.Create = &store.Creation{Session: "s"}
	two, three := batch("parent", 1, 2), batch("parent", 2, 3)
	two.Decisions, three.Decisions = []decant.Decision{edit("early", 1)}, []decant.Decision{edit("late", 1)}
	fork := batch("fork", 0, 4)
	fork.Create = &store.Creation{Session: "s", Origin: &store.Origin{Parent: "parent", Version: 3, Position: 2, InForce: 3}}
	for _, b := range []*store.Batch{one, two, three, fork} {
		if _, err := s.Commit(ctx, b); err != nil {
			return err
		}
	}
	return nil
}
