package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
)

// longLocked is a store that another process keeps busy for some commits.
type longLocked struct {
	engine.Store
	left atomic.Int32
}

func (l *longLocked) Commit(ctx context.Context, b *store.Batch) (int64, error) {
	if l.left.Add(-1) >= 0 {
		return 0, fmt.Errorf("commit: %w", store.ErrBusy)
	}
	return l.Store.Commit(ctx, b)
}

// An answer that cannot be archived because another process keeps the database busy is archived when it no longer does,
// also if its client never comes again.
func TestAnAnswerIsArchivedAfterALongLock(t *testing.T) {
	x := newTill(t)
	l := &longLocked{Store: x.db}
	x.start(l, time.Minute)
	p, err := x.ask("s")
	if err != nil {
		t.Fatal(err)
	}
	l.left.Store(3)
	x.answer(p, 1000)
	found, err := x.db.Conversations(t.Context(), store.Filter{Session: "s"})
	if err != nil || len(found) != 1 || found[0].Requests != 1 || l.left.Load() >= 0 {
		t.Errorf("%d conversations, %d commits to fail, %v", len(found), l.left.Load(), err)
	}
}
