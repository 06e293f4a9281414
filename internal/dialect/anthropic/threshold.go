package anthropic

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

var _ dialect.Pauser = Dialect{}

// thresholdBeta permits compaction at a threshold, and every request that has a block of it.
const thresholdBeta = "compact-2026-01-12"

// The edits of rules beside clearTools (docs/reference/anthropic.md, "Context editing" and "Compaction").
const (
	clearThoughts = "clear_thinking_20251015"
	compactEdit   = "compact_20260112"
)

// leastThreshold is the smallest size, in tokens, at which the provider compacts.
const leastThreshold = 50_000

// TakesRules implements dialect.Pauser. Tools without a type are the client's; of those with one, these are.
func (d Dialect) TakesRules(r *wire.Document) bool {
	if d.Edits(r) != dialect.NoEdits || !d.Compacts(r) || !r.Member("mcp_servers").IsZero() {
		return false
	}
	if _, ok := placeOfEdit(r.Source); !ok {
		return false
	}
	_, tools := d.Fixed(r)
	if len(tools) == 0 || tools[0] != '[' {
		return len(tools) == 0
	}
	sc := jsonspan.Scan(tools, 0)
	for sc.Open(); sc.Next(); {
		tool := sc.Skip().Of(tools)
		if tool[0] != '{' || !runsHere(jsonspan.MemberText(tool, "type")) {
			return false
		}
	}
	return true
}

// runsHere reports whether a tool of a type is carried out by the client.
func runsHere(kind string) bool {
	return kind == "" || kind == "custom" || slices.ContainsFunc([]string{"bash_", "text_editor_", "computer_"}, func(p string) bool { return strings.HasPrefix(kind, p) })
}

// Rule implements dialect.Pauser. A client that says itself what happens to thinking has its way.
func (Dialect) Rule(body []byte, r dialect.Rules) ([]byte, error) {
	for _, edit := range editsOf(body, r) {
		at, ok := placeOfEdit(body)
		if !ok {
			return nil, errors.New("render: context_management has no place for an edit")
		}
		body = at.with(body, edit)
	}
	return body, nil
}

// editsOf returns the edits that rules ask for, in the order that the API wants.
func editsOf(body []byte, r dialect.Rules) (out [][]byte) {
	measure := func(dst []byte, name, kind string, n int) []byte {
		dst = append(dst, `,"`+name+`":{"type":"`+kind+`","value":`...)
		return append(strconv.AppendInt(dst, int64(n), 10), '}')
	}
	edit := func(kind string) []byte { return []byte(`{"type":"` + kind + `"`) }
	if theirs := jsonspan.Member(body, 0, "context_management").Of(body); r.Thinking > 0 &&
		!bytes.Contains(theirs, []byte("clear_thinking")) {
		out = append(out, append(measure(edit(clearThoughts), "keep", "thinking_turns", r.Thinking), '}'))
	}
	if r.Results > 0 {
		e := measure(edit(clearTools), "trigger", "input_tokens", r.Results)
		e = measure(e, "keep", "tool_uses", r.KeepCalls)
		if r.Least > 0 {
			e = measure(e, "clear_at_least", "input_tokens", r.Least)
		}
		out = append(out, append(e, '}'))
	}
	if r.Summary > 0 {
		e := measure(edit(compactEdit), "trigger", "input_tokens", max(leastThreshold, r.Summary))
		if r.Instructions != "" {
			e = jsonspan.AppendQuote(append(e, `,"instructions":`...), r.Instructions)
		}
		out = append(out, append(e, `,"pause_after_compaction":true}`...))
	}
	return out
}

// RuleBetas implements dialect.Pauser.
func (Dialect) RuleBetas(r dialect.Rules) (out []string) {
	if r.Clears() {
		out = append(out, editingBeta)
	}
	if r.Summary > 0 {
		out = append(out, thresholdBeta)
	}
	return out
}

// Opens implements dialect.Pauser.
func (Dialect) Opens(name, data []byte) (summary, known bool) {
	switch dialect.KindOfEvent(name, data) {
	case "message_start", "ping":
		return false, false
	case "content_block_start":
		if jsonspan.Validate(data) != nil {
			return false, true
		}
		b := jsonspan.Member(data, 0, "content_block")
		return !b.IsZero() && data[b.Start] == '{' && jsonspan.MemberText(b.Of(data), "type") == "compaction", true
	}
	return false, true
}

// Paused implements dialect.Pauser.
func (Dialect) Paused(content []byte) (dialect.ProviderSummary, bool) {
	blocks := blocksOf(content)
	if len(blocks) == 0 || jsonspan.MemberText(blocks[0], "type") != "compaction" {
		return dialect.ProviderSummary{}, false
	}
	if len(blocks) > 1 { // it has not paused
		return dialect.ProviderSummary{}, true
	}
	s := dialect.ProviderSummary{Source: string(blocks[0]), Text: jsonspan.MemberText(blocks[0], "content")}
	if strings.TrimSpace(s.Text) == "" {
		return dialect.ProviderSummary{}, true
	}
	return s, true
}

// Unsigned implements dialect.Pauser.
func (Dialect) Unsigned(source string) bool {
	block := []byte(source)
	return jsonspan.Validate(block) == nil && len(block) > 0 && block[0] == '{' &&
		jsonspan.MemberText(block, "signature") == ""
}

// blocksOf returns the objects in a JSON list of blocks.
func blocksOf(content []byte) (out [][]byte) {
	if len(content) == 0 || jsonspan.Validate(content) != nil {
		return nil
	}
	sc := jsonspan.Scan(content, 0)
	if sc.Kind() != '[' {
		return nil
	}
	for sc.Open(); sc.Next(); {
		b := sc.Skip().Of(content)
		if b[0] != '{' {
			return nil
		}
		out = append(out, b)
	}
	return out
}
