package legal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
)

// adapt brings what other providers' models wrote into the form that Anthropic takes: thinking that no model of
// Anthropic has signed is left out, a call's arguments become an object, and a call gets an id of the right form that is
// its own, its result with it. Each call has its results in the message behind it, as Repair leaves them.
func adapt(ms []decant.Message) ([]decant.Message, []decant.Decision) {
	a := adapter{used: map[string]bool{}}
	for i := range ms {
		for k := range ms[i].Blocks {
			if b := &ms[i].Blocks[k]; b.Kind == decant.KindUse && wellFormed(b.CallID) {
				a.used[b.CallID] = false // an id that is not to be invented
			}
		}
	}
	var out []decant.Message
	for i := range ms {
		if m := a.message(ms[i]); len(m.Blocks) > 0 || len(ms[i].Blocks) == 0 {
			out = append(out, m)
		}
	}
	if len(a.made) == 0 {
		return ms, nil
	}
	return out, a.made
}

// An adapter adapts messages, one after the other.
type adapter struct {
	used   map[string]bool   // ids of calls; false: the call is still to come
	turn   map[string]string // the new ids of the newest turn's calls by their old ones
	inTurn bool              // the message before was the assistant's
	made   []decant.Decision
}

// message returns a message as it is to be sent.
func (a *adapter) message(m decant.Message) decant.Message {
	assistant := m.Role == decant.RoleAssistant
	if assistant && !a.inTurn {
		a.turn = map[string]string{}
	}
	a.inTurn = assistant
	was := m.Blocks
	m.Blocks = nil
	for i := range was {
		if b, ok := a.block(&m, was[i]); ok {
			m.Blocks = append(m.Blocks, b)
		}
	}
	if slices.EqualFunc(was, m.Blocks, func(x, y decant.Block) bool { return x.CallID == y.CallID && x.Content == y.Content }) {
		m.Blocks = was
	}
	return m
}

// block returns a block as it is to be sent, and false for one that is not sent.
func (a *adapter) block(m *decant.Message, b decant.Block) (decant.Block, bool) {
	switch b.Kind {
	case decant.KindThinking:
		if !sendable(m, &b) {
			a.decide(&b, "no model of Anthropic has signed this thinking")
			return b, false
		}
	case decant.KindUse:
		if !takesInput(&b) {
			a.decide(&b, "the arguments of the call were not an object")
			b.Content = decant.Text(unquoted(b.Text()))
		}
		id := a.name(b.CallID)
		if a.turn[b.CallID] = id; id != b.CallID {
			a.decide(&b, "the call gets an id that the API takes, which is its own")
			b.CallID = id
		}
	case decant.KindResult:
		if id, ok := a.turn[b.CallID]; ok {
			b.CallID = id
		}
	}
	return b, true
}

func (a *adapter) decide(b *decant.Block, reason string) {
	a.made = append(a.made, decant.Decision{Kind: decant.Repair, Reduction: decant.ReductionRepair, Reason: reason, Target: decant.TargetOf(b)})
}

// name returns the id of a call: its own, if it has the form and no call before has it.
func (a *adapter) name(id string) string {
	if wellFormed(id) && !a.used[id] {
		a.used[id] = true
		return id
	}
	base := strings.Map(func(r rune) rune {
		if wellFormed(string(r)) {
			return r
		}
		return '_'
	}, id)
	if base == "" {
		base = "call"
	}
	id = base
	for n := 2; ; n++ {
		if _, taken := a.used[id]; !taken {
			a.used[id] = true
			return id
		}
		id = fmt.Sprintf("%s_%d", base, n)
	}
}

// sendable reports whether thinking may be sent: a model of Anthropic has signed it.
func sendable(m *decant.Message, b *decant.Block) bool { return b.Signed && !foreign(m.Model) }

// foreign reports whether a model that is known by its name is not one of Anthropic. Proxies and clouds have names of
// their own for those.
func foreign(model string) bool {
	if model == "" || strings.HasPrefix(model, "arn:") {
		return false
	}
	model = strings.ToLower(model)
	return !slices.ContainsFunc([]string{"claude", "anthropic", "opus", "sonnet", "haiku", "fable", "mythos"}, func(name string) bool {
		return strings.Contains(model, name)
	})
}

// takesInput reports whether the arguments of a call are an object, as far as their first byte tells.
func takesInput(b *decant.Block) bool {
	text := strings.TrimSpace(b.Text())
	return text == "" || text[0] == '{'
}

// unquoted returns what a JSON string says, and any other value as it is.
func unquoted(raw string) (out string) {
	if json.Unmarshal([]byte(raw), &out, jsontext.AllowInvalidUTF8(true)) != nil {
		return raw
	}
	return out
}
