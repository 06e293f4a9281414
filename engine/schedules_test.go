package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// A schedule is a generated history of a parent and its delegates, whose requests cross each other: they
// begin alike, fail, break off, are tried again or edited, are poured, and go through two engines.
type schedule struct {
	*rapid.T
	db      store.Store
	engines []*engine.Engine
	session string
	clock   *clock
	members []*delegate
	calls   int
}

// A delegate is one agent of a schedule.
type delegate struct {
	name     string
	ms       []string
	settled  []string // blocks of its newest view that was answered, or of its parent's where it left
	call     string   // that waits for a result, empty when none does
	last     *engine.Prepared
	engine   int    // that has the request
	body     []byte // of the request under way, or of the one that failed
	underway bool
	failed   bool
	pours    int
}

// No view changes by what another has decided: whatever a delegate is sent begins with what was sent
// to it before, or to its parent when it left, unless the request itself was poured.
func TestDelegatesKeepTheirViews(t *testing.T) {
	t.Parallel()
	db := emptyStore(t)
	runs, pours, forks := 0, 0, 0
	for range testkit.Depth(10, 15) {
		rapid.Check(t, func(rt *rapid.T) {
			runs++
			s := &schedule{T: rt, db: db, session: fmt.Sprint("run ", runs), clock: newClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))}
			s.start()
			defer s.stop()
			s.play()
			for _, d := range s.members {
				pours += d.pours
			}
			forks += len(s.members) - 1
		})
	}
	t.Logf("%d schedules, %d delegates, %d pours", runs, forks, pours)
}

func (s *schedule) start() {
	lag := rapid.SampledFrom([]time.Duration{-1, time.Hour}).Draw(s.T, "lag")
	early := rapid.Bool().Draw(s.T, "early pours")
	for range 2 {
		e, err := engine.New(s.db, engine.Options{
			Window: 12_000, NoEarlyPours: !early, Timeouts: sandboxtest.Patient, ArchiveDelay: lag,
			Now: s.clock.Now, Logger: testkit.StrictLog(s),
		})
		if err != nil {
			s.Fatal(err)
		}
		s.engines = append(s.engines, e)
	}
}

func (s *schedule) stop() {
	for _, e := range s.engines {
		e.Close()
	}
}

func (s *schedule) play() {
	parent := &delegate{name: "parent", ms: []string{`{"role":"user","content":"Plan the release."}`}}
	s.members = []*delegate{parent}
	for range rapid.SampledFrom([]int{0, 2, 4, 8}).Draw(s.T, "rounds before") {
		s.calls++
		parent.call = fmt.Sprint("call_", s.calls)
		parent.ms = append(parent.ms, fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{}}]}`, parent.call))
		s.result(parent, pages(parent.call, 3000))
	}
	s.check(parent, s.send(parent))
	s.end(parent)
	for range rapid.SampledFrom([]int{10, 25, 50}).Draw(s.T, "steps") {
		s.clock.pass(time.Duration(rapid.SampledFrom([]int{1, 10, 1000}).Draw(s.T, "seconds")) * time.Second)
		d := rapid.SampledFrom(s.members).Draw(s.T, "member")
		switch what := rapid.IntRange(0, 9).Draw(s.T, "step"); {
		case what == 0 && len(s.members) < 6 && !d.underway && len(d.settled) > 0:
			s.delegate(d)
		case what == 1:
			s.together()
		case what == 2:
			s.engines[rapid.IntRange(0, 1).Draw(s.T, "engine")].Close() // everything is archived
		case d.underway:
			s.end(d)
		default:
			s.write(d)
			s.check(d, s.send(d))
		}
	}
}

// delegate begins a conversation with all that d has been told, and some work of its own.
func (s *schedule) delegate(d *delegate) {
	c := &delegate{name: fmt.Sprintf("%s.%d", d.name, len(s.members)), ms: slices.Clone(d.ms), settled: d.settled, call: d.call}
	if d.failed { // what was not answered is not handed on
		c.ms = c.ms[:len(c.ms)-1]
		c.call = s.openCall(c.ms)
	}
	s.members = append(s.members, c)
}

// openCall returns the call in the last message.
func (s *schedule) openCall(ms []string) string {
	_, id, ok := strings.Cut(ms[len(ms)-1], `"tool_use","id":"`)
	if !ok {
		return ""
	}
	id, _, _ = strings.Cut(id, `"`)
	return id
}

// write adds what a member says next: a result that is waited for or words, or the same again, or
// something else in place of what was not answered.
func (s *schedule) write(d *delegate) {
	if d.failed {
		if rapid.Bool().Draw(s.T, "again") {
			return
		}
		d.ms = d.ms[:len(d.ms)-1]
		d.call = s.openCall(append([]string{""}, d.ms...))
	}
	n := rapid.SampledFrom([]int{20, 300, 3000, 8000, 16_000}).Draw(s.T, "size")
	s.calls++
	words := pages(fmt.Sprintf("%s %d", d.name, s.calls), n)
	if rapid.Bool().Draw(s.T, "escapes") {
		words = strings.ReplaceAll(words, "harbour", "\x1b[32mharbour\x1b[0m")
	}
	if d.call == "" {
		d.ms = append(d.ms, `{"role":"user","content":[{"type":"text","text":`+quote(words[:min(len(words), 4000)])+`}]}`)
		return
	}
	s.result(d, words)
}

func (s *schedule) result(d *delegate, text string) {
	d.ms = append(d.ms, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":[{"type":"text","text":%s}]}]}`, d.call, quote(text)))
}

// prepare prepares a member's request.
func (s *schedule) prepare(d *delegate, e int) (*engine.Prepared, error) {
	body := []byte(`{"model":"claude-sonnet-4-5","max_tokens":1000,"cache_control":{"type":"ephemeral"},"messages":[` + strings.Join(d.ms, ",") + `]}`)
	p, err := s.engines[e].Prepare(context.Background(), &engine.Request{Session: s.session, Body: body})
	if err == nil {
		err = p.Fault
	}
	return p, err
}

// choose says which engine gets a member's next request. What the other one has still to archive of the
// same agent is not known there: that is the limit of two engines, and a second at most.
func (s *schedule) choose(d *delegate) {
	if e := rapid.IntRange(0, 1).Draw(s.T, "engine"); e != d.engine {
		s.engines[d.engine].Close()
		d.engine = e
	}
}

func (s *schedule) send(d *delegate) *engine.Prepared {
	s.choose(d)
	p, err := s.prepare(d, d.engine)
	if err != nil {
		s.Fatalf("%s: prepare: %v", d.name, err)
	}
	return p
}

// check compares what a member is sent with what was sent before.
func (s *schedule) check(d *delegate, p *engine.Prepared) {
	view := blocks(s.T, p.Body)
	same := d.failed && d.last != nil && bytes.Equal(d.body, p.Body)
	switch {
	case p.Report.Reason != "":
		d.pours++
	case same:
	default:
		if len(view) < len(d.settled) || !slices.Equal(view[:len(d.settled)], d.settled) {
			s.dump(p.Conversation)
		}
		checkPrefix(s, fmt.Sprintf("%s (%s)", d.name, p.Report.Relation), view, d.settled)
	}
	s.note("%s sends %d messages by %d: %s, %s, conversation %s, version %d, pour %q", d.name, len(d.ms), d.engine, hash(d.ms[len(d.ms)-1]), p.Report.Relation, p.Conversation, p.Report.Version, p.Report.Reason)
	d.last, d.body, d.underway, d.failed = p, p.Body, true, false
}

// dump notes what the store has of a conversation.
func (s *schedule) dump(id string) {
	st, err := s.db.Load(context.Background(), store.Key{ID: id}, store.Newest)
	if err != nil {
		s.note("%v", err)
		return
	}
	s.note("conversation %s from %+v, version %d", id, st.Origin, st.Version)
	for _, e := range st.Chain {
		s.note("  %d m%d.%d %s %s", e.Position, e.Message, e.Block, e.Kind, e.Text.Short())
	}
	for _, d := range st.Decisions {
		s.note("  %s %s %v %s", d.ID, d.Kind, d.Target.Ref, d.Target.Hash.Short())
	}
}

// note keeps what has happened for the report of a failure.
func (s *schedule) note(format string, args ...any) { s.Logf(format, args...) }

func hash(text string) string { return decant.HashText(text).Short() }

// GoString keeps that report readable.
func (d *delegate) GoString() string { return d.name }

// together lets all members that wait for nothing send at once.
func (s *schedule) together() {
	var ds []*delegate
	for _, d := range s.members {
		if !d.underway {
			s.write(d)
			s.choose(d)
			ds = append(ds, d)
		}
	}
	prepared := make([]*engine.Prepared, len(ds))
	var wg sync.WaitGroup
	for i, d := range ds {
		wg.Go(func() {
			var err error
			if prepared[i], err = s.prepare(d, d.engine); err != nil {
				s.Errorf("%s: prepare: %v", d.name, err)
			}
		})
	}
	wg.Wait()
	for i, d := range ds {
		if prepared[i] == nil {
			s.FailNow()
		}
		s.check(d, prepared[i])
	}
}

// end ends a request: mostly it is answered.
func (s *schedule) end(d *delegate) {
	d.underway = false
	e := s.engines[d.engine]
	how := rapid.IntRange(0, 5).Draw(s.T, "end")
	s.note("%s's request ends: %d", d.name, how)
	switch how {
	case 0:
		d.failed = true
		e.Finish(d.last, engine.Response{Status: 529})
		return
	case 1:
		d.failed = true
		e.Finish(d.last, engine.Response{Status: 200, Broken: true})
		return
	}
	d.settled = blocks(s.T, d.last.Body)
	s.calls++
	answer := fmt.Sprintf(`[{"type":"text","text":"Answer %d."}]`, s.calls)
	if d.call = ""; rapid.Bool().Draw(s.T, "calls") {
		d.call = fmt.Sprint("call_", s.calls)
		answer = fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"%d"}}]`, d.call, s.calls)
	}
	e.Finish(d.last, engine.Response{Status: 200, Content: []byte(answer), Stop: "end_turn"})
	d.ms = append(d.ms, `{"role":"assistant","content":`+answer+`}`)
}
