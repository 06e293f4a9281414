package archive

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// A Commitment is the commit that made a checkpoint: where it is stored, and what was decided.
type Commitment struct {
	Key     store.Key         // conversation that made the commit: the given one, or one that it was forked from
	Version int64             // version that the commit made
	Before  []decant.Decision // decisions in force before the commit
	Made    []decant.Decision // decisions made by the commit
}

// FindCheckpoint returns the commit that made the checkpoint with a number. If the conversation does
// not have it, the error wraps store.ErrNotFound.
func FindCheckpoint(ctx context.Context, l store.Loader, k store.Key, number int) (*Commitment, error) {
	has := func(d decant.Decision) bool { return d.Checkpoint != nil && d.Checkpoint.Number == number }
	s, err := l.Load(ctx, k, store.Newest)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(s.Decisions, has) {
		return nil, fmt.Errorf("checkpoint %d of conversation %s: %w", number, k.ID, store.ErrNotFound)
	}
	return commitOf(ctx, l, s, has)
}

// commitOf returns the commit that made a decision of the state.
func commitOf(ctx context.Context, l store.Loader, s *store.State, is func(decant.Decision) bool) (*Commitment, error) {
	version, err := firstWith(ctx, l, s, is)
	if err != nil {
		return nil, err
	}
	then, before := s, &store.State{}
	if version != s.Version {
		if then, err = l.Load(ctx, s.Key, version); err != nil {
			return nil, err
		}
	}
	switch {
	case version > 1:
		before, err = l.Load(ctx, s.Key, version-1)
	case s.Origin != nil:
		before, err = parentOf(ctx, l, s)
	}
	if err != nil {
		return nil, err
	}
	if version == 1 && slices.ContainsFunc(before.Decisions, is) {
		return commitOf(ctx, l, before, is) // inherited
	}
	c := &Commitment{Key: s.Key, Version: version}
	was := map[string]bool{}
	for _, d := range before.Decisions {
		was[d.ID] = true
	}
	for _, d := range then.Live() {
		if was[d.ID] {
			c.Before = append(c.Before, d)
		} else {
			c.Made = append(c.Made, d)
		}
	}
	return c, nil
}

// parentOf returns the conversation from which a fork has its first decisions, as it was then; an empty one
// if the fork began without decisions.
func parentOf(ctx context.Context, l store.Loader, s *store.State) (*store.State, error) {
	for o := s.Origin; o != nil; {
		p, err := l.Load(ctx, store.Key{Tenant: s.Tenant, ID: o.Parent}, o.InForce)
		if err != nil || o.InForce > 0 {
			return p, err
		}
		o = p.Origin // the fork has only decisions that its parent inherited itself
	}
	return &store.State{}, nil
}

// firstWith returns the first version of a conversation that has a decision of the state.
func firstWith(ctx context.Context, l store.Loader, s *store.State, is func(decant.Decision) bool) (int64, error) {
	var failed error
	n := sort.Search(int(s.Version)-1, func(i int) bool {
		then, err := l.Load(ctx, s.Key, int64(i)+1)
		if err != nil {
			failed = err
			return true
		}
		return slices.ContainsFunc(then.Decisions, is)
	})
	return int64(n) + 1, failed
}
