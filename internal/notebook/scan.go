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

// Report is what was done.
type Report struct {
	Runs    []ScanRun // scans, oldest first
	Ready   int       // observations that wait for a yes
	Changes []Change  // files
	Read    []string  // what people had changed in files, a line each
}

// A Change is a file that was written, or would be.
type Change struct {
	Name          string // of the file, in the notebook's folder
	Before, After string
}

// CatchUp makes the scans that are due since they were last made: one for each Sunday and each 1st, however long nothing has
// run, and each once, also if several processes catch up at once. While the notebook is off it does nothing.
func (b *Book) CatchUp(ctx context.Context) (Report, error) {
	return b.scan(ctx, func(l *ledger) (runs []ScanRun) {
		s := l.state()
		if l.set.Observations {
			for _, at := range sundays(s.Weekly, l.now) {
				runs, s.Weekly = append(runs, l.weekly(at)), at
			}
		}
		if l.set.Monthly {
			for _, at := range firsts(s.Monthly, l.now) {
				runs, s.Monthly = append(runs, l.monthly(at)), at
			}
		}
		if l.set.Tasks {
			l.archiveTasks(false)
		}
		return runs
	})
}

// Scan makes scans now, whether or not they are due.
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

// mostRuns is how many scans are kept.
const mostRuns = 200

// weekly escalates where no yes is asked for, and archives observations that nobody has confirmed for long.
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
			if l.archive(r, fmt.Sprintf("not confirmed for %d days", l.set.ArchiveDays)) == nil {
				run.Archived++
			}
		}
	}
	return run
}

// leastPattern is how many tasks have a pattern that is worth an observation.
const leastPattern = 3

// monthly archives completed tasks, and notes their patterns.
func (l *ledger) monthly(due time.Time) ScanRun {
	run := ScanRun{Schedule: "monthly", Due: due, Made: l.now}
	if l.set.Tasks {
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

// finished returns the completed tasks that are in use, the last first.
func (l *ledger) finished() (out []*Record) {
	for _, r := range l.records {
		if r.Task != nil && !r.Task.Done.IsZero() && r.Item.State() == memory.Active {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, newestTask)
	return out
}
