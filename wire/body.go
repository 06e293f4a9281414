package wire

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A body is the layout of a request body: one list of messages or items in one JSON object.
type body struct {
	list  jsonspan.Span // the list
	bare  bool          // list is a string instead, which is the one item (Responses)
	items []item        // its elements, in order
	sites [][]site      // of each message, where its blocks stand

	// Of a request of the Messages API, for the one that comes after it:
	read    decant.Conversation // as it was read, whatever the caller does to the document's
	members []member            // of the request, in order; nil: see topMembers
	system  []site              // of the blocks of the system prompt; without span for a bare string
	tools   []jsonspan.Span     // the definitions of the tools
	twice   bool                // a message holds its content twice
}

// An item is an element of a body's list.
type item struct {
	span    jsonspan.Span // the element
	owner   int           // Number of the message that it belongs to; 0: the fixed part, always kept
	content jsonspan.Span // the value of its content member
	calls   jsonspan.Span // the value of its list of calls (Chat Completions)
}

// bodyDocument ends the construction of a document with a body's layout.
func (b *builder) bodyDocument(f Format, l body) *Document {
	d := b.document(f, &l)
	l.sites, l.read = b.sites, b.conv
	return d
}

// fixedTools reads the list of tools and gives the fixed part its version. It comes after the system
// prompt.
func (b *builder) fixedTools(list jsonspan.Span) {
	b.toolsIn(list)
	b.conv.Fixed.Version = version(&b.conv.Fixed)
}

// toolsIn reads the list of tools and returns where the definitions are.
func (b *builder) toolsIn(list jsonspan.Span) []jsonspan.Span {
	if list.IsZero() {
		return nil
	}
	var defs []jsonspan.Span
	sc := jsonspan.Scan(b.src, list.Start)
	for sc.Open(); sc.Next(); {
		defs = append(defs, sc.Skip())
	}
	if len(defs) == 0 {
		return nil
	}
	b.conv.Fixed.Tools = make([]decant.Tool, len(defs))
	for i, def := range defs {
		b.conv.Fixed.Tools[i] = b.tool(def)
	}
	return defs
}

// tool reads one tool definition. OpenAI's Chat Completions API wraps it into "function"; tools that
// the server runs may have a type only.
func (b *builder) tool(def jsonspan.Span) decant.Tool {
	t := decant.Tool{Schema: b.raw(def), Cache: b.marker(b.find(def, "cache_control"))}
	inner := def
	if f := b.find(def, "function"); !f.IsZero() {
		inner = f
	}
	if t.Name = b.str(b.find(inner, "name")); t.Name == "" {
		t.Name = b.str(b.find(inner, "type"))
	}
	return t
}

// version returns the identity of system prompt and tools; zero when there are none. It is taken from
// the texts and definitions as they are written in the source, without decoding; a cache marker on a text
// does not count, nor does a billing line (see billed).
func version(f *decant.Fixed) decant.Hash {
	if len(f.System) == 0 && len(f.Tools) == 0 {
		return decant.Hash{}
	}
	h := sha256.New()
	for _, c := range withoutBilling(f.System) {
		hashContent(h, c)
	}
	for i := range f.Tools {
		hashContent(h, f.Tools[i].Schema)
	}
	return decant.Hash(h.Sum(nil)[:16])
}

// hashContent adds a content to h, and an end that no JSON value holds.
func hashContent(h hash.Hash, c decant.Content) {
	if l, ok := c.(*lazy); ok {
		h.Write(l.raw)
	} else if c != nil {
		h.Write([]byte(c.Text()))
	}
	h.Write([]byte{0})
}

// agentHeads are the first words of the system prompts of the agent programs that are known.
var agentHeads = []struct{ head, agent string }{
	{"You are Claude Code", AgentClaudeCode},
	{"You are a Claude agent", AgentClaudeCode},
	{"You are Codex", AgentCodex},
	{"You are a coding agent running in the Codex CLI", AgentCodex},
	{"You are opencode", AgentOpencode},
}

// bodyAgent tells which agent program wrote a request from how a block of its system prompt begins; ""
// when it is none of the known.
func bodyAgent(system []decant.Block) string {
	for i := range system {
		text := system[i].Text()
		for _, a := range agentHeads {
			if strings.HasPrefix(text, a.head) {
				return a.agent
			}
		}
	}
	return ""
}

// sessionOf returns the session's id in the user id that a client sends as metadata: Claude Code puts
// an object with a session_id there, and in older versions a text that ends with it.
func sessionOf(user string) string {
	if _, id, ok := strings.Cut(user, "_session_"); ok {
		return id
	}
	b := builder{src: []byte(user), names: map[string]string{}}
	if jsonspan.Validate(b.src) != nil {
		return ""
	}
	return b.str(b.find(jsonspan.Span{End: len(b.src)}, "session_id"))
}

// contentAt returns the content of a block at a site.
func (b *builder) contentAt(s site) decant.Content { return b.content(s.text, s.form) }

// find returns where the value of an object's member stands, the last one of several; zero when the
// value at s is no object or has no such member.
func (b *builder) find(s jsonspan.Span, name string) jsonspan.Span {
	if s.IsZero() {
		return s
	}
	return jsonspan.Member(b.src, s.Start, name)
}

// int returns the integer at s, 0 when it is not one.
func (b *builder) int(s jsonspan.Span) int {
	n, err := strconv.Atoi(string(s.Of(b.src)))
	if err != nil {
		return 0
	}
	return n
}

// fieldError says that a member is not what the format demands.
func fieldError(offset int, field, want string) error {
	return fmt.Errorf("offset %d, %s: %s: %w", offset, field, want, ErrFormat)
}

// indexed returns "name[i]".
func indexed(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }

// isNull reports whether raw is no value at all or null.
func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }
