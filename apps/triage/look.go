package triage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/group"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/apps/triage/source"
)

// A Look says which errors a run looks at.
type Look struct {
	Sources  []source.Source
	Window   source.Window
	By       group.By // empty: by fingerprint
	Ignore   group.IgnoreList
	Most     int                  // errors that are investigated; 0: 5
	Runbooks []code.Runbook       // what people know of classes of errors
	Off      investigate.LayerSet // context layers that are switched off
	Services map[string]string    // the repositories of services; one that is not there may be in any of them

	// Mask replaces secrets and personal data in a text. It must keep the lines. Nil: nothing is replaced.
	Mask func(text string) string

	Model     string // for the report
	Simulated bool
}

// defaultMost is how many errors a run investigates.
const defaultMost = 5

// mostEvents is how many events of a run are looked at.
const mostEvents = 200_000

// A Seen is the content of the sources.
type Seen struct {
	Groups  []*group.Group // the most important first
	Known   map[string]*group.Known
	Events  int
	Notices []string // what could not be read, and what was ignored
	Faults  []error  // they quote what programs printed, so they must not be in a report, which may be sent
}

// Gather reads events from the sources, groups those that are the same error, and determines which are news. A source that
// fails is a notice; it is an error only if all sources fail.
func Gather(ctx context.Context, o Options, l *Look) (*Seen, error) {
	out := &Seen{}
	events, err := l.events(ctx, out)
	if err != nil {
		return nil, err
	}
	if out.Known, err = Known(ctx, o); err != nil {
		return nil, err
	}
	by := l.By
	if by == "" {
		by = group.ByFingerprint
	}
	out.Events, out.Groups = len(events), group.Events(events, by)
	for _, g := range out.Groups {
		g.State = group.Of(g, out.Known[g.Key])
	}
	group.Rank(out.Groups, l.Window.Since, l.Window.Until)
	return out, nil
}

// events reads the sources.
func (l *Look) events(ctx context.Context, out *Seen) (events []source.Event, err error) {
	ignored, failed := 0, 0
	for _, s := range l.Sources {
		bad := 0
		var first, last error
		for e, fault := range s.Events(ctx, l.Window) {
			if fault != nil {
				if _, ok := errors.AsType[*source.LineError](fault); !ok {
					last = fault
					break
				}
				if bad++; first == nil {
					first = fault
				}
				continue
			}
			if _, yes := l.Ignore.Ignores(&e); yes {
				ignored++
				continue
			}
			if events = append(events, e); len(events) == mostEvents {
				out.Notices = append(out.Notices, fmt.Sprintf("There are more than %d events: the rest was not looked at. Name a shorter time.", mostEvents))
				return events, nil
			}
		}
		if bad > 0 {
			out.Notices = append(out.Notices, fmt.Sprintf("%d events of %s cannot be read. The first: %v", bad, s.Name(), first))
		}
		if last != nil {
			failed++
			err = errors.Join(err, fmt.Errorf("%s: %w", s.Name(), last))
			why := source.Unprinted(last)
			out.Notices = append(out.Notices, fmt.Sprintf("%s could not be read to its end: %s", s.Name(), why))
			if why != last.Error() {
				out.Faults = append(out.Faults, fmt.Errorf("%s: %w", s.Name(), last))
			}
		}
	}
	if ignored > 0 {
		out.Notices = append(out.Notices, fmt.Sprintf("%d events are on the list of what is ignored.", ignored))
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if failed < len(l.Sources) {
		err = nil
	}
	return events, err
}

// Plan chooses the errors to investigate: those that are news or were never investigated, the most important first.
func (l *Look) Plan(ctx context.Context, o Options, seen *Seen) (*Plan, error) {
	if o.Now == nil {
		o = fresh(o, "").o
	}
	now := o.Now().UTC()
	p := &Plan{Owes: true, Events: seen.Events, Scopes: map[int]investigate.Scope{}, Report: deliver.Report{
		Run: now.Format("20060102-1504-") + strings.ToLower(rand.Text()[:4]), Began: now, Since: l.Window.Since, Until: l.Window.Until, Model: l.Model, Simulated: l.Simulated, On: l.Off.String()}}
	p.Report.Track = Track(seen.Known)
	for _, s := range l.Sources {
		p.Report.Sources = append(p.Report.Sources, s.Name())
	}
	for _, n := range seen.Notices {
		p.Report.Notices = append(p.Report.Notices, l.masked(n))
	}
	most := l.Most
	if most <= 0 {
		most = defaultMost
	}
	number := 0
	for _, g := range seen.Groups {
		k := seen.Known[g.Key]
		e := deliver.ReportedError{Case: l.described(g)}
		switch {
		case g.State == group.Resolved:
			e.Left = "it was resolved, and has not happened since"
		case g.State == group.Standing && k != nil && k.Found != nil:
			e.Left = "nothing has changed since run " + k.Found.Run + ": " + k.Found.Cause
		case number == most:
			e.Left = fmt.Sprintf("only %d errors are investigated in a run", most)
		default:
			number++
			e.Number = number
			if err := l.place(ctx, o, p, &e, g, seen); err != nil {
				return nil, err
			}
		}
		p.Report.Errors = append(p.Report.Errors, e)
		k = group.Remember(g, k)
		k.Name = e.Name()
		p.Known = append(p.Known, *k)
	}
	return p, nil
}

// PlanOne plans a run about one error that somebody has pasted. One without a time has happened now.
func (l *Look) PlanOne(ctx context.Context, o Options, e source.Event, now time.Time) (*Plan, error) {
	if e.Time.IsZero() {
		e.Time = now
	}
	l.Window = source.Window{Since: e.Time, Until: now}
	return l.Plan(ctx, o, &Seen{Groups: group.Events([]source.Event{e}, group.ByFingerprint), Events: 1})
}

func (l *Look) masked(text string) string {
	if l.Mask == nil {
		return text
	}
	return l.Mask(text)
}

// described returns a group as a case, masked.
func (l *Look) described(g *group.Group) investigate.Case {
	e := &g.Newest
	c := investigate.Case{Key: g.Key, Class: l.masked(e.Class), Message: l.masked(e.Message), Transaction: l.masked(e.Transaction), Service: l.masked(e.Service),
		Environment: l.masked(e.Environment), Release: l.masked(e.Release), State: string(g.State), Count: g.Count, First: g.First, Last: g.Last, Traces: l.masked(g.Traces())}
	for _, f := range e.Frames {
		f.File, f.Function, f.Module = l.masked(f.File), l.masked(f.Function), l.masked(f.Module)
		c.Frames = append(c.Frames, f)
	}
	return c
}

// place finds the code of an error, earlier findings and runbooks.
func (l *Look) place(ctx context.Context, o Options, p *Plan, e *deliver.ReportedError, g *group.Group, seen *Seen) error {
	if l.Off.On(investigate.LayerPrior) {
		e.Notes = priorNotes(seen.Known, g)
	}
	for i := range e.Notes {
		e.Notes[i].Title, e.Notes[i].Text = l.masked(e.Notes[i].Title), l.masked(e.Notes[i].Text)
	}
	for i := range l.Runbooks {
		if b := &l.Runbooks[i]; b.For(g.Class, g.Service) {
			e.Notes = append(e.Notes, investigate.Note{Title: "Runbook: " + oneLine(b.Title), Text: l.masked(b.Text)})
		}
	}
	if o.Code == nil {
		return nil
	}
	scope := investigate.Scope{Traces: traces(g), Window: code.Window{Good: goodRelease(seen.Groups, g)}}
	if scope.Window.Good == "" {
		scope.Window.Since = g.First.AddDate(0, 0, -lookBack)
	}
	if err := l.find(ctx, o, e, g, &scope); err != nil {
		return err
	}
	p.Scopes[e.Number] = scope
	return nil
}

// mostTraces is how many requests of an error are looked at closely.
const mostTraces = 3

// traces names requests in which the error of a group happened, the newest first.
func traces(g *group.Group) (out []investigate.TraceRef) {
	for _, e := range append([]source.Event{g.Newest}, g.Others...) {
		id := e.TraceID()
		if id == "" || slices.ContainsFunc(out, func(r investigate.TraceRef) bool { return r.ID == id }) {
			continue
		}
		if out = append(out, investigate.TraceRef{ID: id, At: e.Time}); len(out) == mostTraces {
			break
		}
	}
	return out
}

// lookBack is for how many days before an error changes are looked at where no release is known to be good.
const lookBack = 30

// find locates the files of the frames, at the commits that ran. Repositories that have them come first.
func (l *Look) find(ctx context.Context, o Options, e *deliver.ReportedError, g *group.Group, scope *investigate.Scope) error {
	only := l.Services[g.Newest.Service]
	for _, r := range o.Code.Repos() {
		if only != "" && r.Name != only {
			continue
		}
		at, err := o.Code.Version(ctx, r.Name, g.Newest.Release)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			e.Notices = append(e.Notices, l.masked(fmt.Sprintf("The repository %s cannot be read: %v", r.Name, err)))
			continue
		}
		scope.Versions = append(scope.Versions, at)
	}
	top := map[string]int{} // of each repository, the innermost frame
	for i := range g.Newest.Frames {
		for _, at := range scope.Versions {
			name, ok := o.Code.Find(ctx, at, g.Newest.Frames[i])
			if !ok {
				continue
			}
			e.Frames[i].File, e.Frames[i].InApp, e.Frames[i].Module = name, true, ""
			if len(scope.Versions) > 1 {
				e.Frames[i].Module = at.Repo
			}
			if _, known := top[at.Repo]; !known {
				top[at.Repo] = i
				l.owner(ctx, o, e, at, name, e.Frames[i].Line, len(top) == 1)
			}
			break
		}
	}
	slices.SortStableFunc(scope.Versions, func(a, b code.Version) int { return depth(top, a) - depth(top, b) })
	for _, at := range scope.Versions {
		if _, there := top[at.Repo]; there && at.Notice != "" {
			e.Notices = append(e.Notices, at.Notice)
		}
	}
	if len(top) == 0 && len(scope.Versions) > 0 {
		e.Notices = append(e.Notices, "No frame of the call stack is in a file of a known repository.")
	}
	return nil
}

// depth returns how far from the top of the stack a repository's first frame is.
func depth(top map[string]int, v code.Version) int {
	if i, ok := top[v.Repo]; ok {
		return i
	}
	return 1 << 30
}

// owner records who owns the code, and the instructions of the repository.
func (l *Look) owner(ctx context.Context, o Options, e *deliver.ReportedError, at code.Version, name string, line int, first bool) {
	if who, _, err := o.Code.Owner(ctx, at, name, line); err == nil && first {
		e.Owner = l.masked(strings.Join(who.Names, ", "))
	}
	if text, err := o.Code.Instructions(ctx, at, name); err == nil && text != "" {
		e.Notes = append(e.Notes, investigate.Note{Title: "What the repository says of itself", Text: text})
	}
}

// goodRelease returns the newest release before a group first happened in which it did not happen; empty: unknown. The
// events of all groups of the service tell which releases there are, and when each was seen first.
func goodRelease(all []*group.Group, g *group.Group) string {
	first := map[string]time.Time{}
	bad := map[string]bool{}
	for _, other := range all {
		if other.Service != g.Service {
			continue
		}
		for _, e := range append([]source.Event{other.Newest}, other.Others...) {
			if e.Release == "" {
				continue
			}
			if t, ok := first[e.Release]; !ok || e.Time.Before(t) {
				first[e.Release] = e.Time
			}
			if other == g {
				bad[e.Release] = true
			}
		}
	}
	good := ""
	for r, t := range first {
		if !bad[r] && t.Before(g.First) && (good == "" || t.After(first[good])) {
			good = r
		}
	}
	return good
}
