package chatserver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/remember"
	"github.com/decantdev/decant/apps/chat/internal/whatif"
	"github.com/decantdev/decant/store"
)

// records are what the store has of sessions, whether they are in memory or not.
type records struct{ opts *Options }

// found returns which sessions hold every word of a text, in the title or in what was said.
func (rec *records) found(ctx context.Context, tenant, text string) (func(*agent.Summary, string) bool, error) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 {
		return func(*agent.Summary, string) bool { return true }, nil
	}
	hits, err := rec.opts.Store.Search(ctx, store.Query{Tenant: tenant, Text: text, Limit: 1000})
	said := map[string]bool{}
	for _, h := range hits {
		said[h.Conversation], said[h.Session] = true, true
	}
	return func(sum *agent.Summary, conversation string) bool {
		title := strings.ToLower(sum.Title)
		for _, word := range words {
			if !strings.Contains(title, word) {
				return said[conversation] || said[sum.ID]
			}
		}
		return true
	}, err
}

// known returns what a session of the service wrote of itself. What is none is store.ErrNotFound.
func (rec *records) known(ctx context.Context, k store.Key) (*agent.Summary, error) {
	j, err := rec.opts.Store.Journal(ctx, k)
	if err != nil {
		return nil, err
	}
	if j.Kind != sessionKind {
		return nil, fmt.Errorf("session %s: %w", k.ID, store.ErrNotFound)
	}
	sum, err := summaryOf(j)
	if err == nil && sum.Labels[labelAgent] == "" {
		err = fmt.Errorf("session %s: %w", k.ID, store.ErrNotFound)
	}
	return sum, err
}

// journals returns all journals of a kind that changed before a time; the zero time means all. A limit would leave out what is old, and with it what a
// session begins with that somebody still talks in.
func (rec *records) journals(ctx context.Context, tenant, kind string, before time.Time) ([]store.Journal, error) {
	return rec.opts.Store.Journals(ctx, store.JournalQuery{Tenant: tenant, Kind: kind, Before: before, Limit: math.MaxInt32})
}

// forget removes what is stored of sessions with a root, unless there is one of them yet.
func (rec *records) forget(ctx context.Context, tenant, root string) error {
	js, err := rec.journals(ctx, tenant, sessionKind, time.Time{})
	if err != nil {
		return err
	}
	for i := range js {
		if sum, err := summaryOf(&js[i]); err != nil || sum.Root == root {
			return err
		}
	}
	if err := rec.opts.Engine.Flush(ctx); err != nil { // what is still being archived would come back
		return err
	}
	found, err := rec.opts.Store.Conversations(ctx, store.Filter{Tenant: tenant, Session: root})
	if err != nil || len(found) == 0 {
		return err
	}
	f := store.Forgetting{Tenant: tenant, KeepMemories: true}
	for _, c := range found {
		f.Conversations = append(f.Conversations, c.ID)
	}
	_, err = rec.opts.Store.Forget(ctx, f)
	return err
}

// triedFor returns which message of a session a what-if stands for, and the calls that both share. One of another session is store.ErrNotFound.
func (rec *records) triedFor(ctx context.Context, k store.Key, id string) (first int, shared []string, err error) {
	j, err := rec.opts.Store.Journal(ctx, k)
	if err != nil {
		return 0, nil, err
	}
	sum := &agent.Summary{}
	if j.Kind == sessionKind {
		sum, err = summaryOf(j)
	}
	if err == nil && sum.Labels[whatif.Label] != id {
		err = fmt.Errorf("what-if %s: %w", k.ID, store.ErrNotFound)
	}
	if err == nil {
		first, err = strconv.Atoi(sum.Labels[labelTurn])
	}
	if err != nil {
		return 0, nil, err
	}
	return first, strings.Fields(sum.Labels[labelShared]), nil
}

// memory returns what the tools of memory of a tenant work on.
func (rec *records) memory(tenant string) remember.Options {
	return remember.Options{Store: rec.opts.Store, Tenant: tenant, Project: project, Now: rec.opts.Now}
}

// forgetTurns takes back what the turns of a room have saved from a message on, but for some calls.
func (rec *records) forgetTurns(ctx context.Context, rm *room, first int, but []string) (remember.Taken, error) {
	if err := rec.opts.Engine.Flush(ctx); err != nil {
		return remember.Taken{}, err
	}
	found, err := rec.opts.Store.Conversations(ctx, store.Filter{Tenant: rm.key.Tenant, Session: rm.session.Root()})
	if err != nil {
		return remember.Taken{}, err
	}
	var ids []string
	for i := range found {
		ids = append(ids, found[i].ID)
	}
	return remember.TakeBack(ctx, rec.memory(rm.key.Tenant), ids, rm.session.Messages(), first, but...)
}

// dropTried removes the what-ifs of a session that nobody has kept, and what is stored of them alone.
func (rec *records) dropTried(ctx context.Context, k store.Key) error {
	js, err := rec.journals(ctx, k.Tenant, sessionKind, time.Time{})
	if err != nil {
		return err
	}
	for i := range js {
		sum, err := summaryOf(&js[i])
		if err != nil {
			return err
		}
		if sum.Labels[whatif.Label] != k.ID {
			continue
		}
		if err := rec.opts.Store.DropJournal(ctx, js[i].Key); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := rec.forget(ctx, k.Tenant, sum.Root); err != nil { // unless it is also that of the session
			return err
		}
	}
	return nil
}
