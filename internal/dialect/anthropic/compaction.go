package anthropic

import (
	"bytes"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/wire"
)

// A summary is what the provider put in the place of all that stood before it: it comes in one piece behind the start
// of its block, or with it (docs/reference/anthropic.md, "Compaction").
type summary struct{ content, encrypted *string }

// summarize takes the one delta of a block of compaction.
func (a *answer) summarize(b *block, s summary) {
	n := 0
	for _, text := range []*string{s.content, s.encrypted} {
		if text != nil {
			n += len(*text)
		}
	}
	a.came += n
	if a.room(n) {
		b.summary = &s
	}
}

// compaction appends a compaction block in the form of an unstreamed answer.
func (b *block) compaction(dst []byte) []byte {
	if b.summary == nil {
		return append(dst, b.start...)
	}
	dst = b.without(dst, "encrypted_content", "content")
	if b.summary.content == nil {
		dst = append(dst, "null"...)
	} else {
		dst = jsonspan.AppendQuote(dst, *b.summary.content)
	}
	if b.summary.encrypted != nil {
		dst = jsonspan.AppendQuote(append(dst, `,"encrypted_content":`...), *b.summary.encrypted)
	}
	return append(dst, '}')
}

// without appends the block as it began, without an empty signature and without the members named. The last of them
// comes last, and its value is left to be appended.
func (b *block) without(dst []byte, names ...string) []byte {
	sc := jsonspan.Scan(b.start, 0)
	dst = append(dst, '{')
	for sc.Open(); sc.Next(); {
		n := string(sc.Name())
		v := sc.Skip()
		if n == "signature" || slices.Contains(names, n) {
			continue
		}
		dst = append(append(jsonspan.AppendQuote(dst, n), ':'), v.Of(b.start)...)
		dst = append(dst, ',')
	}
	return append(jsonspan.AppendQuote(dst, names[len(names)-1]), ':')
}

// compactionBeta permits a request for a summary, and every request that has one.
const compactionBeta = "compact-2026-09-04"

// signed reports whether a body begins with a summary by the provider that is signed.
func signed(body []byte) bool {
	first, ok := firstOf(body, "messages")
	if !ok {
		return false
	}
	b, ok := firstOf(first, "content")
	return ok && jsonspan.MemberText(b, "type") == "compaction" && jsonspan.MemberText(b, "signature") != ""
}

// firstOf returns the first element of an object's list member, or false if it is not a list.
func firstOf(object []byte, member string) ([]byte, bool) {
	at := jsonspan.Member(object, 0, member)
	if at.IsZero() || object[at.Start] != '[' {
		return nil, false
	}
	sc := jsonspan.Scan(object, at.Start)
	if sc.Open(); !sc.Next() || sc.Kind() != '{' {
		return nil, false
	}
	return sc.Skip().Of(object), true
}

// CompactionBeta implements dialect.Compacter.
func (Dialect) CompactionBeta() string { return compactionBeta }

// Compacts implements dialect.Compacter: beside a signed block there is no compaction at a threshold, and no
// task budget that is repeated.
func (d Dialect) Compacts(r *wire.Document) bool {
	if edits := r.Member("context_management").Of(r.Source); bytes.Contains(edits, []byte("compact")) {
		return false
	}
	return !bytes.Contains(r.Member("output_config").Of(r.Source), []byte(`"remaining"`))
}

// unknown matches what a server says that does not know compactions, or not with a model.
var unknown = lazyregexp.New(`(?i)compact.*(not support|not permitted|invalid|beta|tag)|(not support|invalid|beta|tag).*compact`)

// NoCompaction implements dialect.Compacter.
func (Dialect) NoCompaction(refusal string) bool { return unknown.MatchString(refusal) }

// AskCompaction implements dialect.Compacter. What does not go with such a request is left out of it; none of that is
// part of the prompt.
func (Dialect) AskCompaction(body []byte, instructions string) []byte {
	ask := []byte(`{"type":"summarize"`)
	if instructions != "" {
		ask = jsonspan.AppendQuote(append(ask, `,"instructions":`...), instructions)
	}
	out := without(body, func(name string, value []byte) []byte {
		switch name {
		case "context_management", "stop_sequences", "stream":
			return nil
		case "tool_choice":
			if kind := jsonspan.MemberText(value, "type"); kind == "any" || kind == "tool" {
				return nil
			}
		case "output_config":
			return without(value, func(name string, value []byte) []byte {
				if name == "format" {
					return nil
				}
				return value
			})
		}
		return value
	})
	out = append(append(out[:len(out)-1], `,"compaction":`...), ask...)
	return append(out, "}}"...)
}

// Compaction implements dialect.Compacter.
func (Dialect) Compaction(content []byte) (dialect.ProviderSummary, bool) {
	blocks := blocksOf(content)
	if len(blocks) != 1 || jsonspan.MemberText(blocks[0], "type") != "compaction" ||
		jsonspan.MemberText(blocks[0], "signature") == "" {
		return dialect.ProviderSummary{}, false
	}
	s := dialect.ProviderSummary{Source: string(blocks[0]), Text: jsonspan.MemberText(blocks[0], "content")}
	return s, strings.TrimSpace(s.Text) != ""
}
