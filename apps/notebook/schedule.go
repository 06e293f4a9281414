package notebook

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/memory"
)

// Report is what a scan did.
type Report struct {
	Runs    []ScanRun // scans, oldest first
	Ready   int       // observations with enough confirmations to review
	Changes []Change  // files
	Read    []string  // edits of people in files, a line each
}

// A Change is a file that was written, or in a dry run would be.
type Change struct {
	Name          string // from the notebook's folder
	Before, After string
}

// CatchUp runs the scans that are due: one for each Sunday and each 1st since the last one, each once even if
// several processes catch up at the same time. While the notebook is off it does nothing.
func (b *Book) CatchUp(ctx context.Context) (Report, error) {
	return b.scan(ctx, func(l *ledger) (runs []ScanRun) {
		s := l.state()
		if l.set.Triggers.ObservationAge.Enabled {
			for _, at := range sundays(s.Weekly, l.now) {
				runs, s.Weekly = append(runs, l.weekly(at)), at
			}
		}
		if l.set.Monthly {
			for _, at := range firsts(s.Monthly, l.now) {
				runs, s.Monthly = append(runs, l.monthly(at)), at
			}
		}
		if l.set.Triggers.TaskArchive.Enabled {
			l.archiveTasks(false)
		}
		return runs
	})
}

// Scan runs scans now, whether or not they are due.
func (b *Book) Scan(ctx context.Context, weekly, monthly bool) (Report, error) {
	return b.scan(ctx, func(l *ledger) (runs []ScanRun) {
		if weekly {
			runs = append(runs, l.weekly(l.now))
		}
		if monthly {
			runs = append(runs, l.monthly(l.now))
		}
		return runs
	})
}

func (b *Book) scan(ctx context.Context, do func(*ledger) []ScanRun) (Report, error) {
	var out Report
	err := b.change(ctx, false, func(l *ledger) error {
		out = Report{Runs: do(l)}
		s := l.state()
		s.Runs = append(s.Runs, out.Runs...)
		s.Runs = s.Runs[max(0, len(s.Runs)-mostRuns):]
		for _, r := range l.records {
			if r.Kind == memory.KindObservation && r.Item.State() == memory.Active && l.due(r) == memory.Escalated {
				out.Ready++
			}
		}
		return nil
	})
	if errors.Is(err, ErrOff) {
		return Report{}, nil
	}
	if err == nil {
		out.Changes, err = b.project(ctx)
	}
	return out, err
}

// mostRuns is how many scans the state keeps.
const mostRuns = 200

// weekly archives observations that were not confirmed for long, and escalates if the settings ask for no yes.
func (l *ledger) weekly(due time.Time) ScanRun {
	run := ScanRun{Schedule: "weekly", Due: due, Made: l.now}
	for _, r := range slices.Clone(l.records) {
		if r.Kind != memory.KindObservation || r.Item.State() != memory.Active {
			continue
		}
		switch l.due(r) {
		case memory.Escalated:
			if l.set.AutoEscalate {
				if _, err := l.escalate(r); err == nil {
					run.Escalated++
				}
			}
		case memory.Archived:
			why := fmt.Sprintf("not confirmed for %d days", l.set.Triggers.ObservationAge.ArchiveDays)
			if l.archive(r, why) == nil {
				run.Archived++
			}
		}
	}
	return run
}

// leastPattern is how many tasks of one pattern make an observation.
const leastPattern = 3

// monthly archives completed tasks and records their patterns.
func (l *ledger) monthly(due time.Time) ScanRun {
	run := ScanRun{Schedule: "monthly", Due: due, Made: l.now}
	if l.set.Triggers.TaskArchive.Enabled {
		run.Tasks = l.archiveTasks(true)
	}
	patterns := map[string][]string{}
	for _, r := range l.records {
		if r.Task != nil && !r.Task.Done.IsZero() && r.Task.Pattern != "" {
			patterns[r.Task.Pattern] = append(patterns[r.Task.Pattern], r.Task.Ref)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(patterns)) {
		text := "Tasks here follow the pattern " + name
		if len(patterns[name]) < leastPattern || l.saying(memory.KindObservation, text) != nil {
			continue
		}
		if r, err := l.add(memory.KindObservation, text, memory.Source{}); err == nil {
			r.Why = "seen in " + strings.Join(patterns[name], ", ")
		}
	}
	return run
}

// finished returns the active completed tasks, the newest first.
func (l *ledger) finished() (out []*Record) {
	for _, r := range l.records {
		if r.Task != nil && !r.Task.Done.IsZero() && r.Item.State() == memory.Active {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, newestTask)
	return out
}

// sundays returns the Sundays at midnight after a time, up to now, oldest first.
func sundays(after, now time.Time) []time.Time {
	at := midnight(after.In(now.Location()))
	return between(at.AddDate(0, 0, -int(at.Weekday())), after, now, 0, 7)
}

// firsts returns the first days of months at midnight after a time, up to now, oldest first.
func firsts(after, now time.Time) []time.Time {
	at := midnight(after.In(now.Location()))
	return between(at.AddDate(0, 0, 1-at.Day()), after, now, 1, 0)
}

// mostDue limits the scans that are due, for a clock that was wrong by years.
const mostDue = 1000

// between returns the times after one time and up to another that are so many months and days apart, from a
// first one.
func between(first, after, now time.Time, months, days int) (out []time.Time) {
	for at := first; !at.After(now) && len(out) < mostDue; at = at.AddDate(0, months, days) {
		if at.After(after) {
			out = append(out, at)
		}
	}
	return out
}

func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}
