package team

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/store"
)

const (
	mostAnswers = 1000   // that are remembered where no journal keeps them
	mostRead    = 10_000 // characters of an answer that are read at once
)

// remember remembers an answer.
func (t *Team) remember(id, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.answers[id]; !known {
		t.order = append(t.order, id)
	}
	t.answers[id] = text
	if len(t.order) > mostAnswers {
		delete(t.answers, t.order[0])
		t.order = slices.Delete(t.order, 0, 1)
	}
}

// delegationTool returns the tool that reads answers and lists delegations.
func (t *Team) delegationTool() agent.Tool {
	type which struct {
		ID     string `json:"id,omitzero" jsonschema:"of the delegation whose answer is read; left out: all delegations are listed"`
		Offset int    `json:"offset,omitzero" jsonschema:"characters of the answer to skip"`
	}
	tool := agent.Func(delegationName, "Reads the whole answer of a delegation, or lists all delegations of this conversation, also those that have left your view.",
		func(ctx context.Context, _ *agent.Call, w which) (agent.Result, error) {
			snap := agent.SnapshotOf(ctx)
			if snap == nil {
				return agent.Result{}, errors.New("there is no conversation")
			}
			all := Ledger(snap.Messages())
			if w.ID == "" {
				return agent.Result{Text: listAll(all)}, nil
			}
			return t.read(ctx, all, w.ID, w.Offset)
		})
	tool.ReadOnly = true
	return tool
}

// listAll returns all delegations as lines.
func listAll(all []Delegation) string {
	if len(all) == 0 {
		return "There are no delegations yet."
	}
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].entry()
	}
	return strings.Join(out, "\n")
}

// read returns a piece of the answer of a delegation of this conversation.
func (t *Team) read(ctx context.Context, all []Delegation, id string, offset int) (agent.Result, error) {
	i := slices.IndexFunc(all, func(d Delegation) bool { return d.ID == id })
	if i < 0 {
		return agent.Result{}, fmt.Errorf("this conversation has no delegation %q; without an id all of them are listed", id)
	}
	text, err := t.answer(ctx, &all[i])
	if err != nil {
		return agent.Result{}, err
	}
	return agent.Result{Text: piece(id, text, max(0, offset), mostRead)}, nil
}

// answer returns the whole answer of a delegation.
func (t *Team) answer(ctx context.Context, d *Delegation) (string, error) {
	t.mu.Lock()
	text, ok := t.answers[d.ID]
	t.mu.Unlock()
	if ok {
		return text, nil
	}
	if m := t.member(d.To); m != nil && t.opts.Agent.Journals != nil {
		s, err := m.agent.Open(ctx, d.ID)
		if err == nil {
			return answerIn(s, m.told(d.Task)), nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
	}
	return "", fmt.Errorf("the answer of delegation %s is not kept any longer; what you were given of it is all there is", d.ID)
}

// piece returns so many characters of an answer, and how to read on.
func piece(id, text string, offset, most int) string {
	all := []rune(text)
	if offset >= len(all) && offset > 0 {
		return fmt.Sprintf("The answer has %d characters.", len(all))
	}
	end := min(len(all), offset+most)
	if end == len(all) {
		return string(all[offset:])
	}
	return fmt.Sprintf("%s\n[... characters %d to %d of %d; %s {\"id\":%q,\"offset\":%d} reads on ...]", string(all[offset:end]), offset+1, end, len(all), delegationName, id, end)
}

// lenient takes what the API has sent as it is.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// A block is what a ledger reads of a message.
type block struct {
	Type    string             `json:"type"`
	Text    string             `json:"text"`
	ID      string             `json:"id"`
	Name    string             `json:"name"`
	Input   stdjson.RawMessage `json:"input"`
	Use     string             `json:"tool_use_id"`
	Content stdjson.RawMessage `json:"content"`
}

// text returns the text of a result.
func (b *block) text() string {
	var parts []block
	if json.Unmarshal(b.Content, &parts, lenient) != nil {
		var bare string
		_ = json.Unmarshal(b.Content, &bare, lenient) // neither a list nor a text: there is none
		return bare
	}
	if len(parts) == 0 {
		return ""
	}
	return parts[0].Text
}

// blocksOf returns the blocks of a message, none where it is a bare text.
func blocksOf(m stdjson.RawMessage) []block {
	var message struct {
		Content []block `json:"content"`
	}
	if json.Unmarshal(m, &message, lenient) != nil {
		return nil
	}
	return message.Content
}

// toldAt returns which message of a session says a text, -1 if none does.
func toldAt(s *agent.Session, text string) int {
	for _, turn := range s.Turns() {
		if strings.Contains(turn.Text, text) {
			return turn.First
		}
	}
	return -1
}

// answerIn returns the last text that the model of a session has said since it was told something.
func answerIn(s *agent.Session, told string) string {
	for _, m := range slices.Backward(s.Messages()[max(0, toldAt(s, told)):]) {
		var who struct {
			Role string `json:"role"`
		}
		if json.Unmarshal(m, &who, lenient) != nil || who.Role != "assistant" {
			continue
		}
		var texts []string
		for _, b := range blocksOf(m) {
			if b.Type == "text" && b.Text != "" {
				texts = append(texts, b.Text)
			}
		}
		if len(texts) > 0 {
			return strings.Join(texts, "")
		}
	}
	return ""
}
