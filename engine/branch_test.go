package engine_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
)

const (
	broken529 = iota // how a request ends
	brokenOff
	wellAnswered
	onItsWay
)

// ends tells an engine how the request of a member has ended, with an answer of its own.
func (m *member) ends(e *engine.Engine, how int, answer string) {
	switch how {
	case broken529:
		e.Finish(m.last, engine.Response{Status: 529})
	case brokenOff:
		e.Finish(m.last, engine.Response{Status: 200, Broken: true})
	case wellAnswered:
		e.Finish(m.last, engine.Response{Status: 200, Content: []byte(answer), Stop: "end_turn"})
	}
}

// loud is a result that is shrunk as it comes in, so that its request is committed before it leaves.
func loud(n int) string { return strings.Repeat(fmt.Sprintf("\x1b[32mok %d\x1b[0m\n", n), 50) }

const (
	saidDone = `[{"type":"text","text":"done"}]`
	calledX  = `[{"type":"tool_use","id":"x","name":"Bash","input":{}}]`
)

// Whether what stands at the end of a conversation may be replaced depends on what became of it
// .
func TestTails(t *testing.T) {
	text := func(words ...string) string {
		var bs []string
		for _, w := range words {
			bs = append(bs, `{"type":"text","text":`+quote(w)+`}`)
		}
		return `{"role":"user","content":[` + strings.Join(bs, ",") + `]}`
	}
	result := func(id, words string) string {
		return fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}]}`, id, quote(words))
	}
	said := func(answer string) string { return `{"role":"assistant","content":` + answer + `}` }
	for _, c := range []struct {
		name   string
		tail   string // of the first request, behind what both have
		how    int
		answer string
		next   []string // of the second request, in its place
		want   string
	}{
		{"AnsweredAndEdited", text("do this"), wellAnswered, saidDone, []string{text("do that")}, "forks"},
		{"AnsweredAndCommittedBefore", result("call_9", loud(1)), wellAnswered, saidDone, []string{text("do that")}, "forks"},
		{"RefusedAndEdited", result("call_9", loud(1)), broken529, "", []string{text("do that")}, "replaces"},
		{"RefusedAndNotStored", text("do this"), broken529, "", []string{text("do that")}, "continues"},
		{"BrokenOffAndEdited", text("do this"), brokenOff, "", []string{text("do that")}, "replaces"},
		{"BrokenOffAndCommittedBefore", result("call_9", loud(1)), brokenOff, "", []string{text("do that")}, "replaces"},
		{"OnItsWay", result("call_9", loud(1)), onItsWay, "", []string{text("do that")}, "forks"},
		{"TheSameAgain", text("do this"), wellAnswered, saidDone, []string{text("do this")}, "continues"},
		{"MoreWords", text("do this"), wellAnswered, saidDone, []string{text("do this", "and that")}, "continues"},
		{"ReminderGone", text("do this", "reminder 1"), wellAnswered, saidDone, []string{text("do this"), said(saidDone), text("on")}, "amends"},
		{"ReminderGoneInFront", text("reminder 1", "do this"), wellAnswered, saidDone, []string{text("do this"), said(saidDone), text("on")}, "amends"},
		{"ReminderRewritten", text("do this", "reminder 1"), wellAnswered, calledX, []string{text("do this", "reminder 2"), said(calledX), result("x", "y")}, "amends"},
		{"MessageRewritten", text("it is 12:00, do this"), wellAnswered, calledX, []string{text("it is 12:01, do this"), said(calledX), result("x", "y")}, "amends"},
		{"OtherWorkSameWords", text("do this"), wellAnswered, saidDone, []string{text("do that"), said(saidDone), text("on")}, "forks"},
		{"OtherWorkOtherAnswer", text("do this", "reminder 1"), wellAnswered, calledX, []string{text("do this"), said(saidDone), text("on")}, "forks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTeam(t, engine.Options{Window: 200_000})
			m := &member{team: w, name: "first"}
			m.user("Do the work.")
			m.ms = append(m.ms, said(`[{"type":"text","text":"Which?"},{"type":"tool_use","id":"call_9","name":"Bash","input":{}}]`))
			before := len(m.ms)
			m.ms = m.ms[:1]
			m.send()
			m.ms = append(m.ms[:before:before], c.tail)
			m.ms[1] = said(`[{"type":"text","text":"Which?"},{"type":"tool_use","id":"call_9","name":"Bash","input":{}}]`)
			m.prepare(w.engines[0])
			m.ends(w.engines[0], c.how, c.answer)
			id := m.last.Conversation
			m.ms = append(m.ms[:before:before], c.next...)
			for node := range 2 { // the engine that has seen it, and one that was just started
				if node == 1 {
					w.engines[0].Close()
					w.engine()
				}
				p := m.prepare(w.engines[node])
				if p.Report.Relation != c.want || (p.Conversation == id) != (c.want != "forks") {
					t.Errorf("node %d: the request %s, conversation the same: %t; want it %s", node, p.Report.Relation, p.Conversation == id, c.want)
				}
			}
		})
	}
}

// A request whose place could not be asked for goes out under what is in memory. What it has something else in place of was
// answered: when it is archived it is a branch, as it would have been.
func TestAnAnsweredTailIsNotReplacedUnasked(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	b := &broken{Store: k.store}
	k.store = b
	k.start(engine.Options{Logger: slog.New(slog.DiscardHandler)})
	k.user("Do the work.")
	k.round(1, "result")
	k.mustSend()
	first := k.state()

	k.ms[2] = strings.Replace(k.ms[2], "result", "another result", 1)
	b.version, b.match = store.ErrBusy, store.ErrBusy
	p := k.prepare()
	b.version, b.match = nil, nil
	if p.Fault == nil || p.Report.Relation == "" {
		t.Fatalf("the request %s, fault %v; want it under what is in memory", p.Report.Relation, p.Fault)
	}
	k.engine.Finish(p, engine.Response{Status: 200, Content: []byte(saidDone), Stop: "end_turn"})
	k.engine.Close()
	s, err := k.store.Load(t.Context(), first.Key, store.Newest)
	if err != nil || !slices.Equal(s.Chain, first.Chain) {
		t.Errorf("what was answered is replaced, error %v", err)
	}
	found, err := k.store.(*broken).Store.(store.Directory).Conversations(t.Context(), store.Filter{})
	if err != nil || len(found) != 2 || found[0].Requests != 1 || found[1].Requests != 1 {
		t.Errorf("%d conversations, %v; want the branch as one of its own", len(found), err)
	}
}
