package whatif

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/agent"
)

// A script is the calls that a turn has made. What one of them returned holds for the same call of another turn only where both have changed
// the same things before it, in the same order.
type script struct {
	still map[string]bool // by the names of tools: their calls change nothing that the turn sees
	then  []then

	mu       sync.Mutex
	changes  int              // calls of the new turn that stand for those which changed something
	answers  map[string]*then // by the ids of the new turn's calls
	decided  map[string]bool  // calls that were looked at
	waits    map[string]bool  // calls that would change something
	recorded []string
	shared   []string // ids of the turn's calls whose results were returned
	made     []string
}

// A then is a call of the turn, and what it returned.
type then struct {
	id              string
	tool, arguments string
	changes         int // calls before it that may have changed something
	result          agent.Result
	used            bool
}

// newScript returns the calls of messages.
func newScript(still map[string]bool, messages []stdjson.RawMessage) *script {
	sc := &script{still: still, answers: map[string]*then{}, decided: map[string]bool{}, waits: map[string]bool{}}
	results := map[string]agent.Result{}
	for _, m := range messages {
		for _, b := range read(m) {
			if b.Type == "tool_result" {
				results[b.Answers] = b.result()
			}
		}
	}
	changes := 0
	for _, m := range messages {
		for _, b := range read(m) {
			r, ok := results[b.ID]
			if b.Type != "tool_use" || !ok {
				continue
			}
			sc.then = append(sc.then, then{id: b.ID, tool: b.Name, arguments: canonical(b.Input), changes: changes, result: r})
			if !still[b.Name] {
				changes++
			}
		}
	}
	return sc
}

// canonical returns arguments in a form in which equal ones are the same.
func canonical(v stdjson.RawMessage) string {
	out := jsontext.Value(bytes.Clone(v))
	if out.Canonicalize() != nil {
		return string(v)
	}
	return string(out)
}

// find returns what a call returned in the turn, nil where nothing says what it would return now.
func (sc *script) find(c *agent.Call, changes int) *then {
	arguments := canonical(c.Arguments)
	for i := range sc.then {
		if t := &sc.then[i]; !t.used && t.changes == changes && t.tool == c.Tool && t.arguments == arguments {
			return t
		}
	}
	return nil
}

// permit returns what says which calls of the new turn are made. All calls of an answer are looked at together: where one would change something,
// none that may do so is made, so that whoever keeps the session decides about all of them.
func (sc *script) permit(permit func(context.Context, *agent.Tool, *agent.Call) agent.Verdict) func(context.Context, *agent.Tool, *agent.Call) agent.Verdict {
	return func(ctx context.Context, t *agent.Tool, c *agent.Call) agent.Verdict {
		sc.mu.Lock()
		defer sc.mu.Unlock()
		if !sc.decided[c.ID] {
			sc.decide(calls(agent.SessionOf(ctx)))
		}
		switch {
		case sc.answers[c.ID] != nil:
			return agent.Verdict{Kind: agent.Allow}
		case sc.waits[c.ID] || !t.ReadOnly:
			return agent.Verdict{Kind: agent.Ask}
		case permit != nil:
			return permit(ctx, t, c)
		case t.Ask:
			return agent.Verdict{Kind: agent.Ask}
		}
		return agent.Verdict{Kind: agent.Allow}
	}
}

// decide looks at the calls of an answer.
func (sc *script) decide(round []agent.Call) {
	changes, found, all := sc.changes, map[string]*then{}, true
	for i := range round {
		c := &round[i]
		sc.decided[c.ID] = true
		t := sc.find(c, changes)
		if t != nil {
			t.used, found[c.ID] = true, t
		}
		if still, known := sc.still[c.Tool]; known && !still {
			all = all && t != nil
			changes++
		}
	}
	for i := range round {
		c := &round[i]
		switch still, known := sc.still[c.Tool]; {
		case found[c.ID] != nil && (all || still):
			sc.answers[c.ID] = found[c.ID]
		case known && !still:
			sc.waits[c.ID] = true
		}
	}
	if all {
		sc.changes = changes
	}
}

// wrapped returns tools whose calls return what they returned in the turn, or are made where they change nothing.
func (sc *script) wrapped(tools []agent.Tool) []agent.Tool {
	out := slices.Clone(tools)
	for i := range out {
		run := out[i].Run
		out[i].Run = func(ctx context.Context, c *agent.Call) (agent.Result, error) {
			if t := sc.take(c); t != nil {
				return t.result, nil
			}
			return run(ctx, c) // one that changes something never comes here: permit has it wait
		}
	}
	return out
}

// take notes that a call is about to return, and returns what it returned in the turn; nil: it is made.
func (sc *script) take(c *agent.Call) *then {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	name := c.Tool + " " + string(c.Arguments)
	t := sc.answers[c.ID]
	if t != nil {
		sc.recorded, sc.shared = append(sc.recorded, name), append(sc.shared, t.id)
	} else {
		sc.made = append(sc.made, name)
	}
	return t
}

// calls returns the calls of the last message of a session.
func calls(s *agent.Session) (out []agent.Call) {
	ms := s.Messages()
	for _, b := range read(ms[len(ms)-1]) {
		if b.Type == "tool_use" {
			out = append(out, agent.Call{ID: b.ID, Tool: b.Name, Arguments: b.Input})
		}
	}
	return out
}

// A block is a block of a message, as far as it matters here.
type block struct {
	Type    string             `json:"type"`
	Text    string             `json:"text"`
	ID      string             `json:"id"`
	Name    string             `json:"name"`
	Input   stdjson.RawMessage `json:"input"`
	Answers string             `json:"tool_use_id"`
	Error   bool               `json:"is_error"`
	Content []block            `json:"content"`
	Source  struct {
		Type string `json:"media_type"`
		Data []byte `json:"data"`
	} `json:"source"`
}

// result returns what a call has returned.
func (b *block) result() agent.Result {
	r := agent.Result{Error: b.Error}
	var texts []string
	for i := range b.Content {
		switch in := &b.Content[i]; in.Type {
		case "text":
			texts = append(texts, in.Text)
		case "image":
			r.Images = append(r.Images, agent.Attachment{Name: "image", MediaType: in.Source.Type, Data: in.Source.Data})
		}
	}
	r.Text = strings.Join(texts, "\n")
	return r
}

// lenient takes what is stored as it is.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// read returns the blocks of a message of a session, in which they are a list.
func read(m stdjson.RawMessage) []block {
	var in struct {
		Blocks []stdjson.RawMessage `json:"content"`
	}
	if json.Unmarshal(m, &in, lenient) != nil {
		return nil
	}
	out := make([]block, 0, len(in.Blocks))
	for _, v := range in.Blocks {
		var b block
		if json.Unmarshal(v, &b, lenient) == nil { // what is none of these blocks says nothing here
			out = append(out, b)
		}
	}
	return out
}

// role returns who says a message.
func role(m stdjson.RawMessage) string {
	var in struct {
		Role string `json:"role"`
	}
	if json.Unmarshal(m, &in, lenient) != nil {
		return ""
	}
	return in.Role
}
