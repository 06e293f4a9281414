package sandbox

import (
	"slices"
	"strconv"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/token"
)

// The strategies of context editing (docs/reference/anthropic.md, "Context editing").
const (
	clearThinking = "clear_thinking_20251015"
	clearTools    = "clear_tool_uses_20250919"
)

// cleared stands in place of a result that was cleared. The API does not say what it puts there.
const cleared = "[Old tool result content cleared]"

// The defaults of clear_tool_uses.
const (
	defaultTrigger = 100_000 // input tokens
	defaultKeep    = 3       // newest uses
)

// The fields of the strategies, their type aside.
var editShapes = map[string][]field{
	clearThinking: {{"keep", anything, false, ""}},
	clearTools: {
		{"trigger", isObject, false, ""}, {"keep", isObject, false, ""}, {"clear_at_least", isObject, false, ""},
		{"exclude_tools", isList, false, ""}, {"clear_tool_inputs", anything, false, ""},
	},
	compactEdit: {{"trigger", isObject, false, ""}, {"pause_after_compaction", isBool, false, ""}, {"instructions", isText, false, ""}},
}

// measureShape is an amount of something: {"type":"input_tokens","value":1000}.
var measureShape = []field{{"type", isText, required, ""}, {"value", isInt, false, ""}}

// edits returns the edits that the request asks for.
func (q *request) edits() []*node { return q.body.get("context_management").get("edits").list() }

// edits checks the shape of what context_management asks for.
func (s shaper) edits(model token.Model, edits []*node) *apiError {
	for i, e := range edits {
		path := index("context_management.edits", i)
		if e.kind != '{' {
			return invalid("%s: Input should be an object", path)
		}
		if e.str("type") == compactEdit && !s.betas.has(betaCompact) {
			return invalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags: '%s', '%s'", path, compactEdit, clearThinking, clearTools)
		}
		if !supports(model, e.str("type")) {
			return invalid("%s: %s does not support the '%s' context management strategy", path, model.ID, e.str("type"))
		}
		if err := s.tagged(path, e, editShapes); err != nil {
			return err
		}
		for _, name := range []string{"trigger", "keep", "clear_at_least"} {
			if m := e.get(name); m != nil && m.kind == '{' {
				if err := s.measure(join(path, name), m, e.str("type")+" "+name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// supports reports whether a model is known to take a strategy.
func supports(m token.Model, strategy string) bool {
	switch strategy {
	case clearThinking, clearTools:
		return m.Editing
	case compactEdit:
		return m.Threshold
	}
	return false
}

// measures are the types that the amounts of each field may have.
var measures = map[string][]string{
	clearThinking + " keep":        {"thinking_turns", "all"},
	clearTools + " trigger":        {"input_tokens", "tool_uses"},
	clearTools + " keep":           {"tool_uses"},
	clearTools + " clear_at_least": {"input_tokens"},
	compactEdit + " trigger":       {"input_tokens"},
}

func (s shaper) measure(path string, m *node, of string) *apiError {
	if err := s.object(path, m, measureShape); err != nil {
		return err
	}
	kind := m.str("type")
	if !slices.Contains(measures[of], kind) {
		return invalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags: %q", path, kind, measures[of])
	}
	n, given := m.get("value").integer()
	switch {
	case kind == "all" && given:
		return invalid("%s.value: Extra inputs are not permitted", path)
	case kind == "all":
		return nil
	case !given:
		return invalid("%s.value: Field required", path)
	case n < 0, n == 0 && kind != "tool_uses":
		return invalid("%s.value: Input should be greater than 0", path)
	}
	return nil
}

// checkEdits checks what context_management asks for, field by field and together.
func (q *request) checkEdits() *apiError {
	edits := q.edits()
	if err := (shaper{q.betas}).edits(q.model, edits); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, e := range edits {
		path, kind := index("context_management.edits", i), e.str("type")
		switch {
		case seen[kind]:
			return invalid("%s: the strategy '%s' is given twice", path, kind)
		case kind == clearThinking && i > 0:
			return invalid("context_management: `%s` must be the first strategy in `context_management.edits` when provided", clearThinking)
		case kind == clearThinking && !q.thinks():
			return invalid("%s: `%s` strategy requires `thinking` to be enabled or adaptive", path, clearThinking)
		case kind == clearThinking && !keepsThinking(e.get("keep")):
			return invalid("%s.keep: Input should be \"all\" or an object", path)
		}
		if err := checkInputs(join(path, "clear_tool_inputs"), e.get("clear_tool_inputs")); err != nil {
			return err
		}
		if kind == compactEdit {
			if err := checkCompactEdit(path, e); err != nil {
				return err
			}
		}
		seen[kind] = true
	}
	return nil
}

// keepsThinking reports whether what clear_thinking keeps has one of its forms.
func keepsThinking(keep *node) bool {
	return keep == nil || keep.kind == '{' || keep.kind == '"' && keep.text == "all"
}

// checkInputs checks clear_tool_inputs: true, false, or a list of names.
func checkInputs(path string, n *node) *apiError {
	if n == nil || n.kind == 't' || n.kind == 'f' {
		return nil
	}
	if n.kind != '[' {
		return invalid("%s: Input should be a valid boolean or list", path)
	}
	for i, name := range n.items {
		if name.kind != '"' {
			return invalid("%s: Input should be a valid string", index(path, i))
		}
	}
	return nil
}

// An edited prompt is what context editing leaves of a request. It changes what the model reads, what
// is counted and what is cached; signatures are checked on the request as it was sent.
type edited struct {
	gone    map[*node]bool  // thinking that is left out
	instead map[*node]*node // results and calls, as the model reads them
	before  int             // tokens of the prompt before the edits, 0 when there are none
	applied []applied
}

// applied is an edit that was made.
type applied struct {
	kind  string
	count int // turns or uses
	freed int // tokens
}

// edit makes the edits of a request, whose thinking in dropped is not part of the prompt.
func (q *request) edit(dropped map[*node]bool, c decant.Counter) *edited {
	e := &edited{gone: map[*node]bool{}, instead: map[*node]*node{}}
	for n := range dropped {
		e.gone[n] = true
	}
	if len(q.edits()) == 0 {
		return e
	}
	e.before = count(q.pieces(e), c)
	for _, x := range q.edits() {
		a := applied{kind: x.str("type")}
		switch a.kind {
		case clearThinking:
			a.count = e.clearThinking(q, x)
		case clearTools:
			a.count = e.clearTools(q, x, c)
		}
		if a.count == 0 {
			continue
		}
		a.freed = e.before - count(q.pieces(e), c)
		for _, earlier := range e.applied {
			a.freed -= earlier.freed
		}
		e.applied = append(e.applied, a)
	}
	return e
}

// clearThinking leaves out the thinking of all but the newest turns, and returns of how many. A turn is
// everything that the assistant says until the user says something besides results.
func (e *edited) clearThinking(q *request, x *node) int {
	keep := q.keptThinking(x.get("keep"))
	if keep < 0 {
		return 0
	}
	turns := [][]*node{nil} // of each turn its thinking
	for _, t := range q.turns {
		if t.role == "user" && !t.has("tool_result") {
			turns = append(turns, nil)
		}
		for _, b := range t.blocks {
			if (b.kind == "thinking" || b.kind == "redacted_thinking") && !e.gone[b.node] {
				turns[len(turns)-1] = append(turns[len(turns)-1], b.node)
			}
		}
	}
	turns = slices.DeleteFunc(turns, func(ns []*node) bool { return len(ns) == 0 })
	old := turns[:max(0, len(turns)-keep)]
	for _, ns := range old {
		for _, n := range ns {
			e.gone[n] = true
		}
	}
	return len(old)
}

// keptThinking returns how many of the newest turns keep their thinking, -1 for all. What is kept
// unasked depends on the model.
func (q *request) keptThinking(keep *node) int {
	switch {
	case keep == nil && q.keepsAll():
		return -1
	case keep == nil:
		return 1
	case keep.kind == '"', keep.str("type") == "all":
		return -1
	}
	n, _ := keep.get("value").integer()
	return n
}

// keepsAll reports whether the model is one that keeps all thinking unasked.
func (q *request) keepsAll() bool {
	switch line(q.model.ID) {
	case "opus":
		return q.model.Since(4, 5)
	case "sonnet":
		return q.model.Since(4, 6)
	case "haiku":
		return q.model.Since(5, 0)
	}
	return true
}

// clearTools replaces the results of all but the newest calls, and returns of how many.
func (e *edited) clearTools(q *request, x *node, c decant.Counter) int {
	uses, results := q.calls()
	if !q.triggered(e, x.get("trigger"), len(uses), c) {
		return 0
	}
	keep := defaultKeep
	if k := x.get("keep"); k != nil {
		keep, _ = k.get("value").integer()
	}
	excluded, inputs := names(x.get("exclude_tools")), x.get("clear_tool_inputs")
	was, n, gone := count(q.pieces(e), c), 0, []*node(nil)
	for i := range uses[:max(0, len(uses)-keep)] {
		use, result := uses[i], results[i]
		if result == nil || slices.Contains(excluded, use.str("name")) {
			continue
		}
		n++
		e.instead[result] = result.with("content", &node{kind: '"', text: cleared})
		gone = append(gone, result)
		if inputs != nil && (inputs.kind == 't' || slices.Contains(names(inputs), use.str("name"))) {
			e.instead[use] = use.with("input", &node{kind: '{', raw: []byte("{}")})
			gone = append(gone, use)
		}
	}
	least, given := x.get("clear_at_least").get("value").integer()
	if given && was-count(q.pieces(e), c) < least {
		for _, g := range gone {
			delete(e.instead, g)
		}
		return 0
	}
	return n
}

// triggered reports whether the prompt has passed what an edit waits for.
func (q *request) triggered(e *edited, trigger *node, uses int, c decant.Counter) bool {
	limit := defaultTrigger
	if trigger != nil {
		limit, _ = trigger.get("value").integer()
	}
	if trigger.str("type") == "tool_uses" {
		return uses > limit
	}
	return count(q.pieces(e), c) > limit
}

// calls returns the client's calls in order, and the result of each, nil where there is none.
func (q *request) calls() (uses, results []*node) {
	answers := map[string]*node{}
	for _, t := range q.turns {
		for _, b := range t.blocks {
			if b.kind == "tool_result" {
				answers[b.str("tool_use_id")] = b.node
			}
		}
	}
	for _, t := range q.turns {
		for _, b := range t.blocks {
			if b.kind == "tool_use" {
				uses, results = append(uses, b.node), append(results, answers[b.str("id")])
			}
		}
	}
	return uses, results
}

// names returns the strings in a list.
func names(list *node) (out []string) {
	for _, n := range list.list() {
		out = append(out, n.text)
	}
	return out
}

// with returns a copy of an object in which a member has another value.
func (n *node) with(name string, value *node) *node {
	out := &node{kind: n.kind, names: slices.Clone(n.names), items: slices.Clone(n.items)}
	if i := slices.Index(out.names, name); i >= 0 {
		out.items[i] = value
		return out
	}
	out.names, out.items = append(out.names, name), append(out.items, value)
	return out
}

// uses returns how many results were cleared.
func (e *edited) uses() (n int) {
	for _, a := range e.applied {
		if a.kind == clearTools {
			n += a.count
		}
	}
	return n
}

// shown returns a block as the model reads it, nil when it does not.
func (e *edited) shown(n *node) *node {
	switch {
	case e == nil:
		return n
	case e.gone[n]:
		return nil
	case e.instead[n] != nil:
		return e.instead[n]
	}
	return n
}

// appendApplied appends the member context_management of an answer, which says what the edits did.
func (e *edited) appendApplied(b []byte) []byte {
	b = append(b, `,"context_management":{"applied_edits":[`...)
	for i, a := range e.applied {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonspan.AppendQuote(append(b, `{"type":`...), a.kind)
		if a.kind == clearThinking {
			b = append(b, `,"cleared_thinking_turns":`...)
		} else {
			b = append(b, `,"cleared_tool_uses":`...)
		}
		b = strconv.AppendInt(b, int64(a.count), 10)
		b = append(strconv.AppendInt(append(b, `,"cleared_input_tokens":`...), int64(a.freed), 10), '}')
	}
	return append(b, `]}`...)
}
