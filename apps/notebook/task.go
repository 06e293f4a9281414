package notebook

import (
	"context"
	"fmt"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/memory"
)

var named = lazyregexp.New(`^([A-Z][A-Z0-9]*-\d+)(?:: *| +)`)

// Task records an open task. A text such as "TASK-42: Add a handler" names it; otherwise it gets the next
// number. A task with a known name is returned unchanged.
func (b *Book) Task(ctx context.Context, text string, from memory.Source) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) { return l.task(withoutPrivate(text), from) })
}

func (l *ledger) task(text string, from memory.Source) (*Record, error) {
	ref := ""
	if m := named.FindStringSubmatch(text); m != nil {
		ref, text = m[1], text[len(m[0]):]
		for _, r := range l.records {
			if r.Task == nil || r.Task.Ref != ref {
				continue
			}
			if !r.Task.Numbered || memory.Same(r.Text, text) {
				return r, nil
			}
			r.Task.Ref = l.nextTask() // the text names its own task; the notebook's gets another number
		}
	}
	r, err := l.add(memory.KindTask, text, from)
	if err != nil {
		return nil, err
	}
	r.Task = &Task{Ref: ref, Numbered: ref == ""}
	if ref == "" {
		r.Task.Ref = l.nextTask()
	}
	return r, nil
}

// nextTask returns a new name for a task.
func (l *ledger) nextTask() string {
	for s := l.state(); ; {
		s.Tasks++
		ref := fmt.Sprintf("TASK-%d", s.Tasks)
		if _, err := l.named(ref); err != nil {
			return ref
		}
	}
}

// Done records that a task is completed: one with an id or a name, or a new one with a text. A zero time in t is now.
func (b *Book) Done(ctx context.Context, idOrText string, t Task, from memory.Source) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) {
		r, err := l.named(idOrText)
		if err != nil || r.Task == nil {
			if r, err = l.task(withoutPrivate(idOrText), from); err != nil {
				return nil, err
			}
		}
		l.noteSession(from.Conversation)
		t.Ref, t.Numbered, t.Sessions = r.Task.Ref, r.Task.Numbered, l.state().Sessions
		if t.Done.IsZero() {
			t.Done = l.now
		}
		for _, s := range []*string{&t.Outcome, &t.Which, &t.Tests, &t.Issues, &t.Pattern} {
			*s = strings.TrimSpace(oneLine(*s))
		}
		r.Task = &t
		return r, nil
	})
}

// archiveTasks archives completed tasks and returns how many. The newest (keepRecentCount) stay whatever
// their age. An older one goes with the month, or after some sessions (archiveAfterSessions), whichever comes
// first.
func (l *ledger) archiveTasks(month bool) (n int) {
	for i, r := range l.finished() {
		late := l.state().Sessions-r.Task.Sessions >= l.set.Triggers.TaskArchive.AfterSessions
		if i < l.set.Triggers.TaskArchive.Keep || !month && !late {
			continue
		}
		if l.archive(r, "completed") == nil {
			n++
		}
	}
	return n
}
