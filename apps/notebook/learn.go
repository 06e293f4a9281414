package notebook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/notebook/internal/scan"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/memory"
)

// Learned counts what Learn found in sessions.
type Learned struct {
	Sessions       int `json:"sessions"`
	Observations   int `json:"observations"` // new ones
	Confirmations  int `json:"confirmations"`
	Contradictions int `json:"contradictions"`
	Tasks          int `json:"tasks"`
	Contexts       int `json:"contexts"` // entries of CONTEXT_ARCHIVE.md
}

// Learn records what sessions say. What the person asked for becomes observations. Asking again, or calls
// that keep a rule, confirm it; taking it back suspends it. What was done becomes tasks. A session may be
// read again when it has grown: everything counts once. While the notebook is off nothing is recorded.
func (b *Book) Learn(ctx context.Context, ss []scan.Session) (Learned, error) {
	began := b.now()
	ss = slices.Clone(ss)
	slices.SortStableFunc(ss, func(x, y scan.Session) int { return x.End.Compare(y.End) })
	ss = scan.Distinct(ss)
	var out Learned
	err := b.change(ctx, false, func(l *ledger) error {
		l.rootless = true // clients' sessions are not conversations of the store
		l.state().Read = began
		l.used(b.repo.Root)
		p := learner{l: l, Learned: Learned{Sessions: len(ss)}}
		err := p.learn(ss)
		out = p.Learned
		return err
	})
	if errors.Is(err, ErrOff) {
		return Learned{}, nil
	}
	if err == nil {
		_, err = b.project(ctx)
	}
	return out, err
}

// A learner records what sessions say.
type learner struct {
	l *ledger
	Learned
}

func (p *learner) learn(ss []scan.Session) error {
	for _, c := range scan.Candidates(ss) {
		if err := p.candidate(&c); err != nil {
			return err
		}
	}
	for i := range ss {
		p.l.noteSession(ss[i].ID)
		if err := p.judge(&ss[i]); err != nil {
			return err
		}
		if err := p.tasks(&ss[i], i == len(ss)-1); err != nil {
			return err
		}
		if err := p.contexts(&ss[i]); err != nil {
			return err
		}
	}
	return p.procedures(ss)
}

// judge confirms or suspends observations and rules by what the person said, or confirms them by the calls.
func (p *learner) judge(s *scan.Session) error {
	for _, r := range slices.Clone(p.l.records) { // a confirmation may add a rule
		judged := r.Kind == memory.KindRule || r.Kind == memory.KindObservation && r.Item.State() != memory.Escalated
		if !judged || r.Session == s.ID || !r.Removed.IsZero() {
			continue
		}
		verdict, found := scan.Judge(r.Text, s)
		if found = r.unheard(found); len(found) == 0 {
			verdict = ""
		}
		switch {
		case verdict == scan.Confirms:
			if err := p.confirm(r, Person, found[0]); err != nil {
				return err
			}
		case verdict == scan.Contradicts && s.End.After(r.Confirmed) && !slices.Contains(r.Denied, s.ID):
			r.Denied, r.Suspended, r.Against = append(r.Denied, s.ID), p.l.now, oneLine(found[0].Quote)
			r.hear(found[0].ID)
			p.Contradictions++
		case verdict != scan.Contradicts:
			if kept := r.unheard(scan.Kept(r.Text, s)); len(kept) > 0 {
				if err := p.confirm(r, Check, kept[0]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// confirm counts a session once.
func (p *learner) confirm(r *Record, by Who, e scan.Evidence) error {
	before := r.Times
	err := p.l.confirm(r, Confirmation{By: by, From: source(&e), Evidence: e.Quote, Time: e.Time})
	r.hear(e.ID)
	p.Confirmations += r.Times - before
	return err
}

func source(e *scan.Evidence) memory.Source {
	return memory.Source{Conversation: e.Session, From: e.Message, To: e.Message}
}

// mostQuotes is how many quotations an observation keeps for its review.
const mostQuotes = 5

// candidate makes an observation of what a person said, unless it is known. The quotations are for its
// review; only judge, which is stricter, confirms it.
func (p *learner) candidate(c *scan.Candidate) error {
	if p.l.same(c.Text) != nil {
		return nil
	}
	r, err := p.observe(c)
	if r == nil || err != nil {
		return err
	}
	r.Asked = c.Sessions
	for _, e := range c.Evidence[:min(len(c.Evidence), mostQuotes)] {
		id := e.Session[:min(8, len(e.Session))]
		r.Quotes = append(r.Quotes, fmt.Sprintf("%s m%d “%s”", id, e.Message, oneLine(e.Quote)))
	}
	return nil
}

// observe makes an observation of a candidate, or nil if it is known, private or has a credential.
func (p *learner) observe(c *scan.Candidate) (*Record, error) {
	first := &c.Evidence[0]
	text, at := withoutPrivate(c.Text), p.l.seen(first.Time)
	it, err := memory.New("", memory.KindObservation, p.l.scope, text, memory.Source{}, at)
	if errors.Is(err, memory.ErrEmpty) || errors.Is(err, memory.ErrSecret) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if it.ID = recordID(it.Kind, it.Text, it.Created, p.l.scope.Name+first.Session); p.l.byID(it.ID) != nil {
		return nil, nil
	}
	r := &Record{Item: it, Detail: Detail{Session: first.Session, Message: first.Message, Offer: string(c.Kind)}}
	r.hear(first.ID)
	p.l.records = append(p.l.records, r)
	p.Observations++
	return r, nil
}

// seen returns a recorded time at the precision of stores; now if it is missing or in the future.
func (l *ledger) seen(t time.Time) time.Time {
	if t.IsZero() || t.After(l.now) {
		return l.now
	}
	return t.Truncate(time.Microsecond).UTC()
}

// same returns the observation or rule that asks for the same as a text, preferably a rule.
func (l *ledger) same(text string) (found *Record) {
	for _, r := range l.records {
		if r.Kind != memory.KindRule && (r.Kind != memory.KindObservation || found != nil) {
			continue
		}
		if memory.Same(r.Text, text) || r.Offer != Procedure && scan.Same(r.Text, text) {
			found = r
		}
	}
	return found
}

// mostProcedures is how many repeated procedures one reading records.
const mostProcedures = 5

// procedures makes observations of commands that are run in the same order again and again. They confirm nothing.
func (p *learner) procedures(ss []scan.Session) error {
	found := scan.Patterns(ss)
	for i := range found[:min(len(found), mostProcedures)] {
		text := found[i].Text()
		if p.l.saying(memory.KindObservation, text) != nil {
			continue
		}
		r, err := p.l.add(memory.KindObservation, text, memory.Source{})
		if err != nil {
			return err
		}
		e := found[i].Evidence[0]
		r.Session, r.Message, r.Offer = e.Session, e.Message, Procedure
		r.Why = fmt.Sprintf("run %d times in %d sessions", found[i].Count, found[i].Sessions)
		p.Observations++
	}
	return nil
}

// openFor is how long a task counts as open that a session left open.
const openFor = 7 * 24 * time.Hour

// tasks records what was done in a session; of the newest session also what it left open.
func (p *learner) tasks(s *scan.Session, newest bool) error {
	for i := range s.Tasks {
		k := &s.Tasks[i]
		if !k.Done && (!newest || p.l.now.Sub(s.End) > openFor) {
			continue
		}
		r := p.l.taskOf(s.ID, k)
		if r == nil {
			var err error
			r, err = p.l.task(withoutPrivate(k.Title), memory.Source{})
			if errors.Is(err, memory.ErrEmpty) || errors.Is(err, memory.ErrSecret) {
				continue
			}
			if err != nil {
				return err
			}
		}
		if r.Session == "" {
			r.Session, r.Message = s.ID, max(k.First, k.Last)
		}
		if !k.Done || !r.Task.Done.IsZero() && r.Task.Files+r.Task.Tokens+len(r.Task.Commits) > 0 {
			continue // a task that a hook or a person recorded by its name alone gets the rest from the session
		}
		if r.Task.Done.IsZero() {
			p.Tasks++
		}
		was := *r.Task
		r.Task = taken(k)
		r.Task.Ref, r.Task.Numbered = was.Ref, was.Numbered
		r.Task.Done, r.Task.Sessions = p.l.seen(k.End), p.l.state().Sessions
	}
	return nil
}

// taskOf returns the record of a task, with the same session and title or the same commit.
func (l *ledger) taskOf(session string, k *scan.Task) *Record {
	for _, r := range l.records {
		if r.Task == nil {
			continue
		}
		if r.Session == session && memory.Same(r.Text, k.Title) && (len(k.Commits) == 0 || len(r.Task.Commits) == 0) ||
			slices.ContainsFunc(k.Commits, func(sha string) bool { return slices.Contains(r.Task.Commits, sha) }) {
			return r
		}
	}
	return nil
}

// taken returns the details of a task that a notebook keeps.
func taken(k *scan.Task) *Task {
	t := &Task{
		Outcome: oneLine(k.Outcome), Tests: oneLine(k.Tests), Files: len(k.Files), Tokens: k.Tokens, Seconds: int(k.Duration),
		Commits: k.Commits, Pattern: pattern(k),
	}
	var names []string
	for _, f := range k.Files[:min(len(k.Files), 3)] {
		names = append(names, filepath.Base(f))
	}
	if t.Which = strings.Join(names, ", "); len(k.Files) > 3 {
		t.Which += ", ..."
	}
	return t
}

// conventional is a title such as "fix(auth): wait for the token".
var conventional = lazyregexp.New(`^([a-z]+)(?:\(([\w./-]+)\))?!?: `)

// pattern names the kind of work: the scope or type in the title, or the folder of all its files.
func pattern(k *scan.Task) string {
	if m := conventional.FindStringSubmatch(k.Title); m != nil {
		return cmp.Or(m[2], m[1])
	}
	dir := ""
	for i, f := range k.Files {
		if d := filepath.Base(filepath.Dir(f)); i == 0 || d == dir {
			dir = d
		} else {
			return ""
		}
	}
	return strings.Trim(dir, "./")
}
