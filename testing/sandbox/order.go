package sandbox

import (
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// checkMessages checks the rules about which block may stand where (docs/reference/anthropic.md, "Rules").
// The rule stands at each check.
func (q *request) checkMessages() *apiError {
	for _, check := range []func() *apiError{
		q.checkCompactions, q.checkFirst, q.checkPlaces, q.checkFinished, q.checkText, q.checkIDs, q.checkPairs, q.checkTools, q.checkServerTools, q.checkSystemTurns, q.checkPrefill, q.checkManual, q.checkReferences, q.checkImages,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkFirst is the rule first-message. What a compaction left may stand first, too.
func (q *request) checkFirst() *apiError {
	first := q.turns[0]
	if first.role == "user" || len(first.blocks) > 0 && first.blocks[0].kind == compactionKind && first.blocks[0].get("content") != nil {
		return nil
	}
	return invalid("messages: first message must use the \"user\" role")
}

// roleOf says who may send a block in a message. What is missing here belongs to server tools, which
// only the assistant uses; a tool_reference stands within results only.
var roleOf = map[string][]string{
	"text":              {"user", "assistant", "system"},
	"image":             {"user"},
	"document":          {"user"},
	"search_result":     {"user"},
	"tool_result":       {"user"},
	"container_upload":  {"user"},
	"tool_use":          {"assistant"},
	"thinking":          {"assistant"},
	"redacted_thinking": {"assistant"},
	"tool_reference":    {},
	compactionKind:      {"user", "assistant"},
}

// checkPlaces refuses blocks in messages of a role that cannot send them.
func (q *request) checkPlaces() *apiError {
	for _, t := range q.turns {
		for _, b := range t.blocks {
			roles, ok := roleOf[b.kind]
			if !ok || b.kind == compactionKind && b.get("signature") == nil {
				roles = []string{"assistant"}
			}
			if !slices.Contains(roles, t.role) {
				return invalid("%s: `%s` blocks are not permitted in messages of the role `%s`", b.path, b.kind, t.role)
			}
		}
	}
	return nil
}

// checkText is the rule text-empty, for every text block wherever it stands.
func (q *request) checkText() *apiError {
	for i, b := range q.system {
		if err := filled(index("system", i), "system", b); err != nil {
			return err
		}
	}
	for _, t := range q.turns {
		for _, b := range t.blocks {
			if err := filled(b.path, "messages", b.node); err != nil {
				return err
			}
			for i, inner := range nested(b) {
				if err := filled(index(b.path+".content", i), "messages", inner); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// nested returns the blocks within a result whose content is a list.
func nested(b block) []*node {
	if b.kind != "tool_result" && b.kind != "search_result" {
		return nil
	}
	return b.get("content").list()
}

func filled(path, part string, b *node) *apiError {
	if b.str("type") != "text" {
		return nil
	}
	text := b.str("text")
	if text == "" {
		return invalid("%s: text content blocks must be non-empty (%s)", part, path)
	}
	if strings.TrimSpace(text) == "" {
		return invalid("%s: text content blocks must contain non-whitespace text (%s)", part, path)
	}
	return nil
}

var callID = lazyregexp.New(`^[a-zA-Z0-9_-]+$`)

// checkIDs is the rules call-id-form and call-id-unique.
func (q *request) checkIDs() *apiError {
	q.ids = map[string]bool{}
	for _, t := range q.turns {
		for _, b := range t.blocks {
			if b.kind != "tool_use" && b.kind != "server_tool_use" && b.kind != "mcp_tool_use" {
				continue
			}
			id := b.str("id")
			if !callID.MatchString(id) {
				return invalid("%s.%s.id: String should match pattern '%s'", b.path, b.kind, callID)
			}
			if q.ids[id] {
				return invalid("messages: `tool_use` ids must be unique (%s at %s)", id, b.path)
			}
			q.ids[id] = true
		}
	}
	return nil
}

// checkTools is that messages with calls go with tools.
func (q *request) checkTools() *apiError {
	if len(q.body.get("tools").list()) > 0 {
		return nil
	}
	for _, t := range q.turns {
		for _, b := range t.blocks {
			if b.kind == "tool_use" || b.kind == "tool_result" {
				return invalid("%s: Requests which have `tool_use` or `tool_result` blocks must define tools", b.path)
			}
		}
	}
	return nil
}

// checkPairs is the rules tool-result-missing, tool-result-orphan and tool-results-first.
func (q *request) checkPairs() *apiError {
	for i := range q.turns {
		if err := q.checkCalls(i); err != nil {
			return err
		}
		if err := q.checkResults(i); err != nil {
			return err
		}
	}
	return nil
}

// checkCalls checks that the calls of the i-th turn are answered by the next one.
func (q *request) checkCalls(i int) *apiError {
	var answered []string
	if i+1 < len(q.turns) && q.turns[i+1].role == "user" {
		answered = q.turns[i+1].ids("tool_result", "tool_use_id")
	}
	var missing []string
	for _, id := range q.turns[i].ids("tool_use", "id") {
		if !slices.Contains(answered, id) {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		return invalid("%s: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", q.turns[i].path, strings.Join(missing, ", "))
	}
	return nil
}

// checkResults checks that the results of the i-th turn answer the calls of the one before, once
// each, and come first.
func (q *request) checkResults(i int) *apiError {
	var asked []string
	if t := q.before(i); t != nil {
		asked = t.ids("tool_use", "id")
	}
	other := false
	seen := map[string]bool{}
	for _, b := range q.turns[i].blocks {
		if b.kind != "tool_result" {
			other = true
			continue
		}
		id := b.str("tool_use_id")
		switch {
		case !slices.Contains(asked, id):
			return invalid("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", b.path, id)
		case seen[id]:
			return invalid("%s: each `tool_use` must have a single result. Found multiple `tool_result` blocks with id: %s", b.path, id)
		case other:
			return invalid("%s: `tool_result` blocks must come before any other content of the user message", b.path)
		}
		seen[id] = true
	}
	return nil
}

// ids returns a member of all blocks of one type.
func (t *turn) ids(kind, member string) []string {
	var out []string
	for _, b := range t.blocks {
		if b.kind == kind {
			out = append(out, b.str(member))
		}
	}
	return out
}

// checkServerTools is the rules server-result-missing and server-result-orphan. A call of the server beside calls of the
// client gets its result behind the client's; anything else behind those ends the assistant's turn.
func (q *request) checkServerTools() *apiError {
	var waiting []block
	for _, t := range q.turns {
		if t.role != "assistant" {
			if len(waiting) > 0 && !t.only("tool_result") {
				return unserved(waiting[0])
			}
			continue
		}
		var err *apiError
		if waiting, err = t.served(waiting); err != nil {
			return err
		}
	}
	return nil
}

// served returns which of the server's calls are waiting for their results after the turn, of those that were before.
func (t *turn) served(waiting []block) ([]block, *apiError) {
	for _, b := range t.blocks {
		switch {
		case servers(b.kind):
			waiting = append(waiting, b)
		case strings.HasSuffix(b.kind, "_tool_result"):
			id := b.str("tool_use_id")
			k := slices.IndexFunc(waiting, func(b block) bool { return b.str("id") == id })
			if k < 0 {
				return nil, invalid("%s: unexpected `tool_use_id` found in `%s` blocks: %s. Each `%[2]s` block must have a corresponding `%[4]s` block before it.",
					b.path, b.kind, id, callOf(b.kind))
			}
			waiting = slices.Delete(waiting, k, k+1)
		}
	}
	return waiting, nil
}

// servers reports whether a block of a type calls a tool that the server runs.
func servers(kind string) bool { return kind == "server_tool_use" || kind == "mcp_tool_use" }

// callOf returns the type of the calls that results of a type answer.
func callOf(result string) string {
	if result == "mcp_tool_result" {
		return "mcp_tool_use"
	}
	return "server_tool_use"
}

func unserved(call block) *apiError {
	name, result := call.str("name"), call.str("name")
	if call.kind == "mcp_tool_use" {
		result = "mcp"
	}
	return invalid("%s: `%s` tool use with id %s was found without a corresponding `%s_tool_result` block", call.path, name, call.str("id"), result)
}

// only reports whether all blocks of the turn are of one type.
func (t *turn) only(kind string) bool {
	return !slices.ContainsFunc(t.blocks, func(b block) bool { return b.kind != kind })
}

// checkSystemTurns is the rule system-place. That a system message may not be first follows from first-message,
// that it may not stand between a call and its result from tool-result-missing.
func (q *request) checkSystemTurns() *apiError {
	for i, t := range q.turns {
		if t.role != "system" {
			continue
		}
		if prev := q.turns[i-1]; prev.role != "user" && !prev.endsWithServerResult() {
			return invalid("%s: a `system` message must follow a `user` message, or an `assistant` message that ends with a server tool result", t.path)
		}
		if i+1 < len(q.turns) && q.turns[i+1].role != "assistant" {
			return invalid("%s: a `system` message must be last or be followed by an `assistant` message", t.path)
		}
	}
	return nil
}

func (t *turn) endsWithServerResult() bool {
	if len(t.blocks) == 0 {
		return false
	}
	kind := t.blocks[len(t.blocks)-1].kind
	return t.role == "assistant" && strings.HasSuffix(kind, "_tool_result")
}

// checkPrefill is the rule prefill. An answer that a server tool interrupted is continued, not prefilled.
func (q *request) checkPrefill() *apiError {
	last := &q.turns[len(q.turns)-1]
	if last.role != "assistant" || last.endsWithServerResult() || len(q.waits()) > 0 || q.summarizes() {
		return nil
	}
	if q.model.Since(4, 6) {
		return invalid("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	if len(last.blocks) == 0 {
		return nil
	}
	b := last.blocks[len(last.blocks)-1]
	if text := b.str("text"); b.kind == "text" && strings.TrimRight(text, " \t\r\n") != text {
		return invalid("messages: final assistant content cannot end with trailing whitespace")
	}
	return nil
}

// waits returns the calls of the server that have no result where the request ends.
func (q *request) waits() (calls []block) {
	for _, t := range q.turns {
		if t.role == "assistant" {
			calls, _ = t.served(calls)
		}
	}
	return calls
}

// checkManual is the rule thinking-first: with manual thinking the turn that called tools, or that
// is prefilled, begins with thinking. A turn is everything the assistant said since the user last
// said something other than results.
func (q *request) checkManual() *apiError {
	first := q.currentTurn()
	if q.mode() != "enabled" || first == nil || q.summarizes() && q.turns[len(q.turns)-1].role == "assistant" {
		return nil
	}
	said := slices.DeleteFunc(slices.Clone(first.blocks), func(b block) bool { return b.kind == compactionKind })
	if len(said) == 0 {
		return nil
	}
	if b := said[0]; b.kind != "thinking" && b.kind != "redacted_thinking" {
		return invalid("%s.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the last set of `tool_use` and `tool_result` blocks).", b.path, b.kind)
	}
	return nil
}

// currentTurn returns the first thing the assistant said in the turn that the request continues, nil
// when the request begins a new one.
func (q *request) currentTurn() *turn {
	var first *turn
	for i := len(q.turns) - 1; i >= 0; i-- {
		t := &q.turns[i]
		if t.role == "user" && !t.has("tool_result") {
			break
		}
		if t.role == "assistant" {
			first = t
		}
	}
	return first
}
