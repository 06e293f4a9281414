package anthropic

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

// The provider can leave old results out of the prompt that it reads (docs/reference/anthropic.md, "Context
// editing"): it puts a placeholder in their place after it has checked the signatures of thinking on the
// request as it was sent. So this is the one change of old history that is legal while a round is open and
// thinking is bound.
//
// Left to itself it clears by age on every request, which rewrites the cache each time. Decant asks it to
// clear exactly what was decided, for ever: a trigger that is always passed, and a keep that grows by every
// new call. Each cleared block has a decision of kind native, whose text is the placeholder as the view shows
// it. What is asked for follows from the view alone, so every node asks for the same.

// editingBeta permits context_management in a request.
const editingBeta = "context-management-2025-06-27"

const clearTools = "clear_tool_uses_20250919"

// A clearing is what a request asks the provider to leave out of its prompt.
type clearing struct {
	results int
	keep    int      // newest calls, whose results stay
	exclude []string // tools whose results stay
	inputs  []string // tools whose arguments go, too
}

// called is a call in a view.
type called struct {
	name                   string
	answered, clear, blank bool // it has a result; its result goes; its arguments go
}

// Clearing implements dialect.Clearer. Clearing goes by age, and tells calls apart by the names of their tools only.
func (Dialect) Clearing(view *decant.Conversation, native func(id string) bool) (dialect.ProviderClearing, bool) {
	c, ok := clearingOf(view, native)
	if c == nil {
		return nil, ok
	}
	return c, ok
}

// clearingOf is Clearing with a pointer, so that no clearing is a nil that can be told.
func clearingOf(view *decant.Conversation, native func(id string) bool) (*clearing, bool) {
	calls := callsOf(view, native)
	last := -1
	for i := range calls {
		if calls[i].clear {
			last = i
		}
	}
	if last < 0 {
		return nil, !slices.ContainsFunc(calls, func(c called) bool { return c.blank })
	}
	c := &clearing{keep: len(calls) - 1 - last}
	cleared, blanked := map[string]bool{}, map[string]bool{}
	for i := range calls[:last+1] {
		if x := &calls[i]; x.clear {
			c.results++
			cleared[x.name] = true
			blanked[x.name] = blanked[x.name] || x.blank
		}
	}
	for i := range calls {
		x := &calls[i]
		switch {
		case i > last && x.blank, i <= last && x.clear && x.blank != blanked[x.name]:
			return nil, false
		case i > last || x.clear:
		case cleared[x.name] || !x.answered:
			return nil, false
		case !slices.Contains(c.exclude, x.name):
			c.exclude = append(c.exclude, x.name)
		}
	}
	for name := range blanked {
		if blanked[name] {
			c.inputs = append(c.inputs, name)
		}
	}
	slices.Sort(c.exclude)
	slices.Sort(c.inputs)
	return c, true
}

// callsOf returns the calls of a view in order.
func callsOf(view *decant.Conversation, native func(id string) bool) (calls []called) {
	open := map[string]int{}
	for i := range view.Messages {
		for k := range view.Messages[i].Blocks {
			b := &view.Messages[i].Blocks[k]
			switch b.Kind {
			case decant.KindUse:
				open[b.CallID] = len(calls)
				calls = append(calls, called{name: b.Name, blank: native(b.Changed)})
			case decant.KindResult:
				if at, ok := open[b.CallID]; ok {
					calls[at].answered, calls[at].clear = true, native(b.Changed)
				}
			}
		}
	}
	return calls
}

// edit returns the clearing as an element of context_management.edits.
func (c *clearing) edit() []byte {
	out := []byte(`{"type":"` + clearTools + `","trigger":{"type":"input_tokens","value":1},"keep":{"type":"tool_uses","value":`)
	out = append(strconv.AppendInt(out, int64(c.keep), 10), '}')
	out = appendNames(out, "exclude_tools", c.exclude)
	out = appendNames(out, "clear_tool_inputs", c.inputs)
	return append(out, '}')
}

func appendNames(dst []byte, member string, names []string) []byte {
	for i, n := range names {
		if i == 0 {
			dst = append(dst, `,"`+member+`":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = jsonspan.AppendQuote(dst, n)
	}
	if len(names) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// An editPlace is the place of an edit in a body, with the text that must surround it.
type editPlace struct {
	at            int
	before, after string
}

// placeOfEdit returns where a body asks for one edit more, behind those that the client asks for: clear_thinking
// must come before clear_tool_uses. It returns false where there is no such place.
func placeOfEdit(body []byte) (editPlace, bool) {
	at := jsonspan.Member(body, 0, "context_management")
	if at.IsZero() {
		end := bytes.LastIndexByte(body, '}')
		return editPlace{end, `,"context_management":{"edits":[`, `]}`}, end > 0
	}
	value := at.Of(body)
	if value[0] != '{' {
		return editPlace{}, false
	}
	edits := jsonspan.Member(value, 0, "edits")
	switch list := edits.Of(value); {
	case edits.IsZero() && len(bytes.TrimSpace(value[1:len(value)-1])) == 0:
		return editPlace{at.End - 1, `"edits":[`, `]`}, true
	case edits.IsZero():
		return editPlace{at.End - 1, `,"edits":[`, `]`}, true
	case list[0] != '[':
		return editPlace{}, false
	case len(bytes.TrimSpace(list[1:len(list)-1])) == 0:
		return editPlace{at.Start + edits.End - 1, "", ""}, true
	}
	return editPlace{at.Start + edits.End - 1, ",", ""}, true
}

// with returns body with an edit in the place.
func (p editPlace) with(body, edit []byte) []byte {
	out := make([]byte, 0, len(body)+len(p.before)+len(edit)+len(p.after))
	out = append(append(append(out, body[:p.at]...), p.before...), edit...)
	return append(append(out, p.after...), body[p.at:]...)
}

// Results implements dialect.ProviderClearing.
func (c *clearing) Results() int { return c.results }

// Beta implements dialect.ProviderClearing.
func (c *clearing) Beta() string { return editingBeta }

// Ask implements dialect.ProviderClearing.
func (c *clearing) Ask(body []byte) ([]byte, error) {
	at, ok := placeOfEdit(body)
	if !ok {
		return nil, errors.New("render: context_management has no place for an edit")
	}
	return at.with(body, c.edit()), nil
}

// BetasOf returns the betas that the body of a request to the Messages API needs.
func BetasOf(body []byte) (out []string) {
	if at := jsonspan.Member(body, 0, "context_management"); !at.IsZero() {
		out = append(out, editingBeta)
		if bytes.Contains(at.Of(body), []byte(compactEdit)) {
			out = append(out, thresholdBeta)
		}
	}
	if signed(body) {
		out = append(out, compactionBeta)
	}
	if at := jsonspan.Member(body, 0, "thinking"); !at.IsZero() && body[at.Start] == '{' &&
		!jsonspan.Member(at.Of(body), 0, "block_binding").IsZero() {
		out = append(out, bindingBeta)
	}
	return out
}

// Plain returns the body of a request to the Messages API without what needs a beta, see [BetasOf].
func Plain(body []byte) []byte {
	if len(BetasOf(body)) == 0 {
		return body
	}
	return without(body, func(name string, value []byte) []byte {
		switch name {
		case "context_management":
			return nil
		case "thinking":
			if !jsonspan.Member(value, 0, "block_binding").IsZero() {
				return without(value, func(name string, value []byte) []byte {
					if name == "block_binding" {
						return nil
					}
					return value
				})
			}
		}
		return value
	})
}

// without returns an object whose members have the values that keep returns, those aside for which it
// returns nil.
func without(object []byte, keep func(name string, value []byte) []byte) []byte {
	out := []byte("{")
	s := jsonspan.Scan(object, 0)
	for s.Open(); s.Next(); {
		name := string(s.Name())
		value := keep(name, s.Skip().Of(object))
		if value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonspan.AppendQuote(out, name), ':'), value...)
	}
	return append(out, '}')
}

// Tools with which the provider's clearing does not go: the memory tool makes it announce itself to the model,
// and what the provider's own tools and MCP servers return is not cleared with the rest.
var (
	memoryTool  = []byte(`"memory_20`)
	serverCalls = []string{`"server_tool_use"`, `"mcp_tool_use"`}
)

// Clears implements dialect.Clearer: context_management is as expected, and there are no memory tool, no MCP
// servers and no calls that the provider has answered.
func (d Dialect) Clears(r *wire.Document, c *decant.Conversation) bool {
	if !r.Member("mcp_servers").IsZero() {
		return false
	}
	_, tools := d.Fixed(r)
	_, ok := placeOfEdit(r.Source)
	return ok && !bytes.Contains(tools, memoryTool) && !Served(c)
}

// Served reports whether a conversation has calls that the provider itself has answered: then it cannot be asked to
// clear old results.
func Served(c *decant.Conversation) bool {
	for i := range c.Messages {
		if c.Messages[i].Role != decant.RoleAssistant {
			continue
		}
		for k := range c.Messages[i].Blocks {
			b := &c.Messages[i].Blocks[k]
			if b.Kind == decant.KindOpaque && slices.ContainsFunc(serverCalls,
				func(t string) bool { return bytes.Contains([]byte(b.Text()), []byte(t)) }) {
				return true
			}
		}
	}
	return false
}
