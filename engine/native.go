package engine

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/token"
)

// The provider can leave old results out of the prompt that it reads (anthropic-wire section 8): it puts a
// placeholder in their place after it has checked the signatures of thinking on the request as it was sent.
// So this is the one change of old history that is legal while a round is open and thinking is bound.
//
// Left to itself it clears by age on every request, which writes the cache anew each time. Decant asks it to
// clear exactly what was decided, for ever: a trigger that is always passed, and a keep that grows by every
// new call. Each cleared block has a decision of kind native, whose text is the placeholder as the view shows
// it. What is asked for follows from the view alone, so every node asks for the same.

const (
	editingBeta = "context-management-2025-06-27"
	clearTools  = "clear_tool_uses_20250919"
)

// A clearing is what a request asks the provider to leave out of its prompt.
type clearing struct {
	uses    int      // results
	keep    int      // newest calls, whose results stay
	exclude []string // tools whose results stay
	inputs  []string // tools whose arguments go, too
}

// called is a call in a view.
type called struct {
	name                   string
	answered, clear, blank bool // it has a result; its result goes; its arguments go
}

// clearingOf returns what leads from what is sent to a view in which blocks were changed by native decisions.
// It is nil when no block was, and false when no clearing leads there: clearing goes by age, and tells calls
// apart by the names of their tools only.
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
			c.uses++
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

// An editPlace is where an edit goes in a body, and what has to stand around it there.
type editPlace struct {
	at            int
	before, after string
}

// placeOfEdit returns where a body asks for one edit more, behind those that the client asks for: clear_thinking
// must come before clear_tool_uses. It returns false where there is no such place.
func placeOfEdit(body []byte) (editPlace, bool) {
	at := topMember(body, "context_management")
	if at.IsZero() {
		end := bytes.LastIndexByte(body, '}')
		return editPlace{end, `,"context_management":{"edits":[`, `]}`}, end > 0
	}
	value := at.Of(body)
	if value[0] != '{' {
		return editPlace{}, false
	}
	edits := topMember(value, "edits")
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

// clearing returns what the request has to ask the provider for so that the model reads the view; nil when
// nothing, and false when it cannot be asked for.
func (a *attempt) clearing() (*clearing, bool) {
	native := decant.NativeIn(a.inForce, a.made)
	if native == nil {
		return nil, true
	}
	return clearingOf(a.view, native)
}

// sent returns what goes to the provider: the view with everything that the provider leaves out.
func (a *attempt) sent() (*decant.Conversation, error) {
	if decant.NativeIn(a.inForce, a.made) == nil {
		return a.view, nil
	}
	return decant.Replay(a.conv, decant.Sent(slices.Concat(a.inForce, a.made)))
}

// withClearing returns a body that asks for the clearing of the view.
func (a *attempt) withClearing(body []byte) ([]byte, error) {
	c, ok := a.clearing()
	if !ok {
		return nil, errors.New("render: the provider cannot be asked to clear just what was decided")
	}
	if c == nil {
		return body, nil
	}
	return c.ask(body)
}

// ask returns a body that asks for the clearing.
func (c *clearing) ask(body []byte) ([]byte, error) {
	at, ok := placeOfEdit(body)
	if !ok {
		return nil, errors.New("render: context_management has no place for an edit")
	}
	return at.with(body, c.edit()), nil
}

// unclear returns a view in which what native decisions have changed stands as it is sent.
func unclear(view, sent *decant.Conversation, native func(id string) bool) *decant.Conversation {
	ms := slices.Clone(view.Messages)
	for i := range ms {
		ms[i].Blocks = slices.Clone(ms[i].Blocks)
		for k := range ms[i].Blocks {
			b := &ms[i].Blocks[k]
			if !native(b.Changed) {
				continue
			}
			if was := sent.Block(b.Ref); was != nil {
				cache := b.Cache
				*b = *was
				b.Cache = cache
			}
		}
	}
	return view.With(ms)
}

// BetasOf returns the betas that a request to the Messages API needs for what stands in its body.
func BetasOf(body []byte) (out []string) {
	if !topMember(body, "context_management").IsZero() {
		out = append(out, editingBeta)
	}
	if at := topMember(body, "thinking"); !at.IsZero() && body[at.Start] == '{' && !topMember(at.Of(body), "block_binding").IsZero() {
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

// neededBetas returns the betas that the request needs beyond those that the client asks for.
func (a *attempt) neededBetas() []string {
	if c, _ := a.clearing(); c == nil {
		return a.betas
	}
	return append(a.betas[:len(a.betas):len(a.betas)], editingBeta)
}

// asks reports whether the client itself asks the provider to change the context in a way that leaves no room
// for a clearing of ours: for its own clearing, or for a compaction, which goes with no editing at all.
func (a *attempt) asks() bool {
	return a.cleared() || !a.r.doc.Member("compaction").IsZero()
}

// Tools with which the provider's clearing does not go: the memory tool makes it announce itself to the model,
// and what the provider's own tools and MCP servers return is not cleared with the rest.
var (
	memoryTool  = []byte(`"memory_20`)
	serverCalls = []string{`"server_tool_use"`, `"mcp_tool_use"`}
)

// editable reports whether the provider can be asked to clear old results of this conversation at all.
func (a *attempt) editable() bool {
	if a.model.Provider != token.Anthropic || !a.model.Editing || a.known.says(editingOf(a.model), a.e.opts.Now()) != "" {
		return false
	}
	if at := a.r.doc.Member("tools"); !at.IsZero() && bytes.Contains(at.Of(a.req.Body), memoryTool) {
		return false
	}
	if _, ok := placeOfEdit(a.req.Body); !ok {
		return false
	}
	return a.r.doc.Member("mcp_servers").IsZero() && !Served(a.conv)
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
			if b.Kind == decant.KindOpaque && slices.ContainsFunc(serverCalls, func(t string) bool { return bytes.Contains([]byte(b.Text()), []byte(t)) }) {
				return true
			}
		}
	}
	return false
}

// suspend takes native decisions out of the request where they cannot be carried out: it goes out whole.
func (a *attempt) suspend() error {
	native := decant.NativeIn(a.inForce)
	if native == nil {
		return nil
	}
	if _, ok := clearingOf(a.view, native); ok && !a.asks() && a.editable() {
		return nil
	}
	for _, d := range a.inForce {
		if d.Kind == decant.Native {
			a.suspended = append(a.suspended, d)
		}
	}
	a.inForce = decant.Sent(a.inForce)
	v, err := decant.Replay(a.conv, a.inForce)
	if err != nil {
		return err
	}
	a.before, a.view = v, v
	return nil
}

// giveUpEditing takes native decisions back for good that cannot be carried out any longer, so that the next
// route finds the conversation as it is sent. Where a request only asks for something else it goes out whole,
// and the next one as before.
func (a *attempt) giveUpEditing(ctx context.Context) error {
	if a.asks() || len(a.suspended) == 0 {
		return nil
	}
	var ds []decant.Decision
	if a.demand.unedit {
		var err error
		if ds, err = a.takeBack(ctx); err != nil {
			return err
		}
	}
	for _, d := range a.suspended {
		if !slices.ContainsFunc(ds, func(r decant.Decision) bool { return r.Revokes == d.ID }) {
			ds = append(ds, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "the provider does not clear old results as asked"})
		}
	}
	return a.add(ds)
}

// undoClearing returns those of the revocations of a pour that take back what the provider clears, if the pour
// was a clearing. That is legal at any time: what is sent does not change. The record stays where thinking may
// stand on it.
func (a *attempt) undoClearing(ds []decant.Decision) ([]decant.Decision, bool) {
	kinds := map[string]decant.DecisionKind{}
	for _, d := range a.state.Decisions {
		kinds[d.ID] = d.Kind
	}
	clears := func(d decant.Decision) bool { return kinds[d.Revokes] == decant.Native }
	records := func(d decant.Decision) bool { return kinds[d.Revokes] == decant.Insert }
	if !slices.ContainsFunc(ds, clears) || slices.ContainsFunc(ds, func(d decant.Decision) bool { return !clears(d) && !records(d) }) {
		return nil, false
	}
	if a.bound() {
		ds = slices.DeleteFunc(slices.Clone(ds), records)
	}
	return ds, true
}

// withRecords returns decisions that are to be replayed without the clearings whose record is not among them:
// nobody would know what was cleared. A fork has a clearing that was made behind its branch point so.
func withRecords(ds []decant.Decision) []decant.Decision {
	recorded := map[string]bool{} // by pour
	for i := range ds {
		if ds[i].Kind == decant.Insert {
			recorded[PourOf(ds[i].ID)] = true
		}
	}
	return slices.DeleteFunc(ds, func(d decant.Decision) bool { return d.Kind == decant.Native && !recorded[PourOf(d.ID)] })
}
