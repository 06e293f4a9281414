package team

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
)

// DelegateTool is the name of the tool that delegates.
const DelegateTool = "delegate"

// delegationName is the name of the tool that reads answers and lists delegations.
const delegationName = "delegation"

// Labels of the sessions of delegates, by which programs that list sessions know them (agent.Session.Label).
const (
	LabelOf = "delegate_of" // id of the session that has delegated
	LabelTo = "delegate"    // name of the member
)

// An order is what the coordinator asks for.
type order struct {
	To   string `json:"to"`
	Task string `json:"task"`
}

// delegateTool returns the tool that delegates.
func (t *Team) delegateTool() agent.Tool {
	var names []string
	about := "Delegates a task to somebody who knows all of the conversation up to your last answer, but neither that answer nor what " +
		"others are asked. Tasks that do not depend on each other are delegated in one message and worked on side by side. " +
		"You get the beginning of the answer; \"" + delegationName + "\" reads on. There are:"
	for _, m := range t.opts.Members {
		names = append(names, m.Name)
		about += "\n- " + m.Name + ": " + strings.TrimSpace(m.Description)
	}
	tool := agent.Func(DelegateTool, about, t.delegate)
	tool.Schema = schemaOf(names)
	tool.Parallel, tool.Timeout = true, -1 // its limits are those of the run that it begins
	tool.Idempotent = t.opts.Agent.Journals != nil
	tool.Most = t.opts.Digest + 2000
	return tool
}

// schemaOf returns the schema of an order to one of several members.
func schemaOf(names []string) stdjson.RawMessage {
	list, err := json.Marshal(names)
	if err != nil {
		list = []byte(`[]`) // names of members are ASCII
	}
	return stdjson.RawMessage(`{"type":"object","properties":{"to":{"type":"string","enum":` + string(list) +
		`},"task":{"type":"string","description":"what to do, and what to answer with"}},"required":["to","task"],"additionalProperties":false}`)
}

// depthKey is the key of how deep a delegate works.
type depthKey struct{}

// delegate makes one delegation. Whatever becomes of it is a result.
func (t *Team) delegate(ctx context.Context, c *agent.Call, o order) (agent.Result, error) {
	m := t.member(o.To)
	depth, _ := ctx.Value(depthKey{}).(int)
	snap := agent.SnapshotOf(ctx)
	switch {
	case m == nil:
		return agent.Result{}, fmt.Errorf("there is nobody called %q; there are: %s", o.To, strings.Join(t.names(), ", "))
	case strings.TrimSpace(o.Task) == "":
		return agent.Result{}, errors.New("the task is empty")
	case depth >= t.opts.Depth:
		return agent.Result{}, errors.New("a delegate at this depth does not delegate: do it yourself")
	case snap == nil:
		return agent.Result{}, errors.New("there is no conversation to begin with")
	}
	if _, err := snap.Sent(); err != nil {
		return agent.Result{}, err
	}
	d := Delegation{ID: idOf(snap, c), To: m.Name, Task: o.Task, Snapshot: snap.Hash()}
	s, err := m.agent.Start(ctx, snap, d.ID)
	if err != nil {
		return agent.Result{}, err
	}
	events, err := m.begin(context.WithValue(ctx, depthKey{}, depth+1), s, snap.Session(), o.Task)
	if err != nil {
		return agent.Result{}, err
	}
	end, err := t.follow(c, &d, s, events)
	if errors.Is(err, agent.ErrEnded) { // in another process, before the call had returned
		end, err = agent.Outcome{Stop: agent.StopAnswered, Text: answerIn(s, m.told(o.Task))}, nil
	}
	end.Spent = s.Spent() // in all processes
	return t.result(&d, end, err), nil
}

// idOf returns the id of the delegation that a call makes: the same if the call is made again. The id of the call alone would not do: some
// servers number the calls of each answer.
func idOf(snap *agent.Snapshot, c *agent.Call) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s", snap.Session(), len(snap.Messages()), c.ID, c.Arguments))
	return "d-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
}

// begin begins the run of a delegate of a session, or goes on with one that was begun in another process.
func (m *Member) begin(ctx context.Context, s *agent.Session, of, task string) (iter.Seq2[agent.Event, error], error) {
	if toldAt(s, m.told(task)) >= 0 {
		return s.Continue(ctx), nil
	}
	err := errors.Join(s.Rename(m.Name+": "+cut(task, mostTask)), s.SetLabels(map[string]string{LabelOf: of, LabelTo: m.Name}))
	if err != nil {
		return nil, err
	}
	return s.Run(ctx, m.told(task)), nil
}

// told returns what a delegate is told.
func (m *Member) told(task string) string {
	text := "From here on you are " + m.Name + ", to whom this task was delegated, and no longer who delegates. You know the conversation above. " +
		"Others may work on other tasks at the same time. Do only this task, and end with an answer that begins with its result."
	if m.twin() && m.Prompt != "" {
		text += "\n\n" + m.Prompt
	}
	return text + "\n\nThe task:\n" + task
}

// follow reads a run to its end and tells whoever watches.
func (t *Team) follow(c *agent.Call, d *Delegation, s *agent.Session, events iter.Seq2[agent.Event, error]) (end agent.Outcome, err error) {
	for e, fault := range events {
		err = errors.Join(err, fault)
		switch {
		case e.Kind == agent.EventCall && c.Progress != nil:
			c.Progress(d.To + " calls " + e.Call.Tool)
		case e.Outcome != nil:
			end = *e.Outcome
		}
		d.Projection = s.Projection()
		if t.opts.Heard != nil {
			t.opts.Heard(*d, e)
		}
	}
	return end, err
}

// names returns the names of the members.
func (t *Team) names() (out []string) {
	for _, m := range t.members {
		out = append(out, m.Name)
	}
	return out
}

// result returns what the coordinator is given of a delegation that has ended.
func (t *Team) result(d *Delegation, end agent.Outcome, err error) agent.Result {
	d.Outcome = string(end.Stop)
	d.Turns, d.Tokens, d.USD = end.Spent.Turns, end.Spent.Tokens(), end.Spent.Money.USD()
	text := end.Text
	if err != nil {
		text = strings.TrimSpace(err.Error() + "\n\n" + text)
	}
	t.remember(d.ID, text)
	done := end.Stop == agent.StopAnswered || end.Forced || end.Stop == agent.StopLength
	return agent.Result{Text: d.line() + "\n\n" + piece(d.ID, text, 0, t.opts.Digest), Error: err != nil || !done}
}
