// Package whatif has a model answer a turn of a session once more under other circumstances, with another preset, another model or without
// memory, and says how the two differ: answers, tokens, dollars, and what of the conversation either was not sent.
//
// It happens in a session of its own, which begins with what was said before the turn. Nothing is changed: a call that the turn has made
// itself, at the same point of what it changed, returns what it returned then; any other call is made only if its tool is ReadOnly.
// At a call that would change something the new turn ends, and the call waits to be allowed, in case somebody keeps the session.
package whatif

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// Label is the label of a session that answers a turn of another one, whose id it has. Until somebody keeps it, it is nobody's to go on with.
const Label = "what-if"

// A Source is what is read of a store.
type Source interface {
	archive.Source
	Conversations(ctx context.Context, f store.Filter) ([]store.Summary, error)
}

// Options says how the turn was answered. Client, Agent, Source and Now are required.
type Options struct {
	Client provider.Speaker
	Agent  agent.Options // of the session; with Journals
	Source Source        // what the engine of the agent stores

	// Memory are the names of the tools of memory. Told says that conversations are told of earlier ones as they begin.
	Memory []string
	Told   bool

	Labels map[string]string // of the new session, besides Label; an empty text removes one that the session has
	Now    func() time.Time
}

// A Change is what is other than it was. The zero Change asks the same again. What was poured before the turn stays so under another model; under
// another preset all that was said before the turn is poured anew, as that preset would have it, or not at all.
type Change struct {
	Model    string         // empty: the same
	Preset   *preset.Preset // nil: the same
	NoMemory bool           // no tools of memory, and nothing told of earlier conversations
}

// An Arm is one way in which a turn is answered.
type Arm struct {
	Session string        `json:"session"`
	Model   string        `json:"model"`
	Preset  string        `json:"preset"`
	Memory  bool          `json:"memory"`
	Answer  string        `json:"answer"`         // what the model said last
	Would   []agent.Call  `json:"would,omitzero"` // calls at which it has ended, because they would change something
	Stop    agent.Stop    `json:"stop,omitzero"`  // of what was asked anew
	Spent   agent.Spent   `json:"spent"`          // zero where that is not known: a session that began with the turn does not know it
	Took    time.Duration `json:"took"`
	Sent    Sent          `json:"sent"`

	Recorded []string `json:"recorded,omitzero"` // calls that returned what they had returned in the turn itself
	Shared   []string `json:"-"`                 // ids of the calls of the turn itself that returned it
	Made     []string `json:"made,omitzero"`     // calls that were made: what they return may have changed since the turn
}

// A Comparison is a turn, as it was answered and as it would be.
type Comparison struct {
	Turn  int    `json:"turn"` // from 1
	Text  string `json:"text"` // what the user said
	Was   Arm    `json:"was"`
	Would Arm    `json:"would"`
	First int    `json:"first"` // message of the session with which the turn begins
}

// Run answers a turn, counted from 1, once more. heard is told of what happens; nil: nobody is. The session that it returns waits under Label,
// and belongs to nobody yet. An error of the new turn leaves no session.
func Run(ctx context.Context, o Options, from *agent.Session, turn int, c Change, heard func(agent.Event)) (*Comparison, *agent.Session, error) {
	turns := from.Turns()
	if turn < 1 || turn > len(turns) {
		return nil, nil, fmt.Errorf("there is no turn %d: the session has %d", turn, len(turns))
	}
	t := turns[turn-1]
	all := from.Messages()
	end := len(all)
	if turn < len(turns) {
		end = turns[turn].First
	}
	before, then := all[:t.First+1], all[t.First+1:end]
	e := &trial{Options: o}
	e.begins(then, c)
	s, err := e.begin(from, before, c)
	if err != nil {
		return nil, nil, err
	}
	out := &Comparison{Turn: turn, Text: t.Text, First: t.First}
	out.Was = Arm{Session: from.ID(), Model: o.Agent.Model, Preset: presetName(o.Agent.Preset), Memory: true, Answer: lastText(then), Spent: t.Spent, Took: t.Took}
	if out.Would, err = e.answer(ctx, s, c, heard); err != nil {
		return nil, nil, errors.Join(err, o.Agent.Journals.DropJournal(context.WithoutCancel(ctx), store.Key{Tenant: o.Agent.Tenant, ID: s.ID()}))
	}
	was, model, err := sentFor(ctx, o.Source, o.Agent, from, t.First+1, end)
	if err != nil {
		return nil, nil, err
	}
	out.Was.Model = cmp.Or(model, out.Was.Model)
	compare(ctx, out, all[:t.First], [2][]stdjson.RawMessage{then, s.Messages()[len(before):]}, [2]texts{was, e.sent})
	return out, s, nil
}

// A trial is a turn that is answered once more.
type trial struct {
	Options
	script *script
	tools  []agent.Tool
	sent   texts // requests of the new turn
}

// begins settles the tools of the new turn, and what is known of their calls from the messages of the turn as it was. Where memory is off,
// what was saved in that turn is no change to anything that the new one sees.
func (e *trial) begins(then []stdjson.RawMessage, c Change) {
	all := e.Agent.Tools
	off := func(name string) bool { return c.NoMemory && slices.Contains(e.Memory, name) }
	e.tools = slices.DeleteFunc(slices.Clone(all), func(t agent.Tool) bool { return off(t.Name) })
	still := map[string]bool{}
	for i := range all {
		still[all[i].Name] = all[i].ReadOnly || off(all[i].Name)
	}
	e.script = newScript(still, then)
	e.tools = e.script.wrapped(e.tools)
}

// begin begins the session of the new turn.
func (e *trial) begin(from *agent.Session, before []stdjson.RawMessage, c Change) (*agent.Session, error) {
	o := e.Agent
	if c.Model != "" {
		o.Model = c.Model
	}
	if c.Preset != nil {
		o.Preset = c.Preset
	}
	if c.NoMemory {
		o.Project = ""
	}
	o.Tools = e.tools
	o.Permit = e.script.permit(o.Permit)
	hook := o.Hooks.BeforeModel
	o.Hooks.BeforeModel = func(ctx context.Context, body []byte) error {
		e.sent = append(e.sent, textsOf(body)...)
		if hook != nil {
			return hook(ctx, body)
		}
		return nil
	}
	a, err := agent.New(e.Client, o)
	if err != nil {
		return nil, err
	}
	var s *agent.Session
	if c.Preset != nil || c.NoMemory && e.Told {
		s, err = a.Load("", before) // a conversation of its own: what is sent of it is decided anew
	} else {
		s, err = a.Take("", from, len(before))
	}
	labels := map[string]string{Label: from.ID()}
	maps.Copy(labels, e.Labels)
	if err == nil {
		err = s.SetLabels(labels)
	}
	return s, err
}

// answer has the model answer.
func (e *trial) answer(ctx context.Context, s *agent.Session, c Change, heard func(agent.Event)) (arm Arm, err error) {
	arm = Arm{Session: s.ID(), Model: e.Agent.Model, Preset: presetName(e.Agent.Preset), Memory: !c.NoMemory}
	if c.Model != "" {
		arm.Model = c.Model
	}
	if c.Preset != nil {
		arm.Preset = c.Preset.Name
	}
	began := e.Now()
	for ev, fault := range s.Continue(ctx) {
		err = errors.Join(err, fault)
		if heard != nil {
			heard(ev)
		}
		if ev.Outcome != nil {
			arm.Stop, arm.Answer, arm.Spent = ev.Outcome.Stop, ev.Outcome.Text, ev.Outcome.Spent
		}
	}
	arm.Took, arm.Would = e.Now().Sub(began), s.Waiting()
	arm.Recorded, arm.Shared, arm.Made = e.script.recorded, e.script.shared, e.script.made
	return arm, err
}

// presetName returns the name of a preset, empty where the engine has its own.
func presetName(p *preset.Preset) string {
	if p == nil {
		return ""
	}
	return p.Name
}

// lastText returns what the model said last in messages.
func lastText(ms []stdjson.RawMessage) string {
	for _, m := range slices.Backward(ms) {
		var said []string
		for _, b := range read(m) {
			if b.Type == "text" {
				said = append(said, b.Text)
			}
		}
		if role(m) == "assistant" && len(said) > 0 {
			return strings.Join(said, "\n")
		}
	}
	return ""
}
