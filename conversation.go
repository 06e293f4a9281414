package decant

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// A Conversation is one line of messages between one agent and one model, oldest first.
//
// It is a value to read: functions that change what the model sees return a new Conversation and share the
// blocks that stayed the same. It is safe for concurrent use as long as it is not modified.
type Conversation struct {
	ID        string    // the client's name for it (session or thread id), empty when unknown
	Agent     string    // the program that wrote it: "claude-code", "codex", "pi", or empty
	Model     string    // model id as the client wrote it, empty when unknown
	MaxOutput int       // most output tokens that the client asks for, 0 when unknown
	Thinking  Thinking  // how the request asks the model to think
	Cache     string    // lifetime of the cache marker for the request as a whole: "", "5m" or "1h"
	Fixed     Fixed     // system prompt and tools
	Messages  []Message // in transcript order, Number rising
}

// Thinking says how a request asks the model to think. The zero value means that it does not say, which is off.
type Thinking string

// The thinking modes of the Messages API (docs/reference/anthropic.md, "The request").
const (
	ThinkingOff      Thinking = "disabled"
	ThinkingManual   Thinking = "enabled"  // a token budget; a tool-using turn must start with thinking
	ThinkingAdaptive Thinking = "adaptive" // the model decides
	ThinkingBetween  Thinking = "between_tools"
)

// On reports whether the mode lets the model think at all.
func (t Thinking) On() bool { return t != "" && t != ThinkingOff }

// Fixed is the part of a request that no pour can shrink: the system prompt and the tool schemas.
type Fixed struct {
	// identity of system and tools together, without parts that differ on every request; zero when there are
	// none
	Version Hash
	System  []Block // text blocks, in order
	Tools   []Tool  // in order
}

// A Tool is one tool that a request offers to the model.
type Tool struct {
	Name   string
	Schema Content // the whole definition as the model reads it: name, description, input schema
	Cache  string  // lifetime of a cache marker on it: "", "5m" or "1h"
}

// Role is who speaks in a message.
type Role string

// The roles. If an API sends tool results in messages of the user (Messages API), the message has
// RoleUser and its blocks are results. If an API has messages of their own for results, they have RoleTool.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// A Message is one message of a conversation.
type Message struct {
	Number     int       // position in the transcript, counted from 1 and shown as m1; 0: written by Decant
	Role       Role      // who speaks
	Blocks     []Block   // in order; at least one in a legal view
	ID         string    // the provider's id of an answer, the client's of other messages, when recorded; a copy keeps it
	Model      string    // the model that answered, when recorded
	Time       time.Time // when it was recorded, zero when unknown
	Usage      *Usage    // what the request that this message answers used, when recorded
	Compaction bool      // a summary that the client itself put in place of everything before it
	Fixed      bool      // every view has it: the client configures the model with it, or only its provider can read it
	Scripted   bool      // a program typed the user's words in it: a script, an SDK, the agent that gave this one its task
}

// Name returns the message's short name, "m12", or "decant" for one that Decant wrote.
func (m *Message) Name() string {
	if m.Number == 0 {
		return "decant"
	}
	return "m" + strconv.Itoa(m.Number)
}

// Text returns the text of the message's blocks of the given kinds (all kinds that have text when
// none is given), joined by newlines.
func (m *Message) Text(kinds ...Kind) string {
	var out []byte
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if len(kinds) > 0 && !has(kinds, b.Kind) {
			continue
		}
		if t := b.Text(); t != "" {
			if out != nil {
				out = append(out, '\n')
			}
			out = append(out, t...)
		}
	}
	return string(out)
}

// Summary returns the block of the message that is the client's summary, nil when the message holds none, or one that
// cannot be read because its provider has encrypted it.
func (m *Message) Summary() *Block {
	if !m.Compaction || len(m.Blocks) == 0 {
		return nil
	}
	b := &m.Blocks[0]
	if b.Kind == KindOpaque && strings.HasPrefix(b.Text(), "{") { // an item in the source's form
		return nil
	}
	return b
}

// UserWords reports whether the message holds words of the user.
func (m *Message) UserWords() bool {
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == KindText && b.Author == AuthorUser {
			return true
		}
	}
	return false
}

func has(kinds []Kind, k Kind) bool {
	for _, x := range kinds {
		if x == k {
			return true
		}
	}
	return false
}

// Kind is what a block is.
type Kind string

// The kinds of blocks. Whatever an API calls by another name or a future version adds is opaque:
// it keeps its place and its bytes.
const (
	KindText     Kind = "text"
	KindImage    Kind = "image"    // also documents: see Media
	KindUse      Kind = "use"      // a tool call; Content is its arguments
	KindResult   Kind = "result"   // what the call returned
	KindThinking Kind = "thinking" // also redacted thinking and reasoning items
	KindOpaque   Kind = "opaque"
)

// Author is who wrote a block.
type Author string

// The authors. A client puts reminders, notes and command output into messages of the user; these
// are not the user's words.
const (
	AuthorUser   Author = "user"   // a person typed it
	AuthorClient Author = "client" // the agent program put it there
	AuthorModel  Author = "model"
	AuthorTool   Author = "tool"
	AuthorDecant Author = "decant" // made by a decision
)

// A Block is the smallest piece of a message.
type Block struct {
	Kind    Kind
	Author  Author
	Content Content // nil: no text (an image, for example)
	// of a use and its result, and of an opaque call that the server answers itself and its result; may repeat
	CallID  string
	Name    string   // of the tool, on a use and on its result
	Error   bool     // a result that reports a failure
	Signed  bool     // thinking that carries a provider's signature or encrypted content
	Media   Media    // of an image, a document, or a result that holds some
	Loads   int      // of a result: how many tools it makes known to the model that the request does not list
	Cache   string   // lifetime of a cache marker on it: "", "5m" or "1h"
	Inside  []string // lifetimes of the cache markers on blocks within this one, in order; they count like any other
	Ref     Ref      // place in the transcript
	Changed string   // id of the decision that made it differ from the transcript, empty when verbatim
}

// Marker returns the lifetime of the last cache marker on the block or within it, or "".
func (b *Block) Marker() string {
	if b.Cache == "" && len(b.Inside) > 0 {
		return b.Inside[len(b.Inside)-1]
	}
	return b.Cache
}

// Text returns the block's text as the model reads it: the arguments of a use, the text in a result.
// Each call decodes it again; keep the text if you need it more than once.
func (b *Block) Text() string {
	if b.Content == nil {
		return ""
	}
	return b.Content.Text()
}

// MayHold reports whether the block's text may hold one of some strings; where it does not, the text holds
// none. Content with a method MayHold(...string) bool is not decoded for that.
func (b *Block) MayHold(strs ...string) bool {
	h, ok := b.Content.(interface{ MayHold(...string) bool })
	return !ok || h.MayHold(strs...)
}

// Hash returns the identity of the block's text. Equal texts have equal hashes. Content with a method
// Hash() Hash is not decoded.
func (b *Block) Hash() Hash {
	if h, ok := b.Content.(interface{ Hash() Hash }); ok {
		return h.Hash()
	}
	return HashText(b.Text())
}

// Ref is a block's place in the transcript.
type Ref struct {
	Message int // number of the message, from 1; 0 means that Decant wrote it
	Block   int // index in the message's blocks, from 0
}

// After reports whether r follows s in the transcript.
func (r Ref) After(s Ref) bool {
	return r.Message > s.Message || r.Message == s.Message && r.Block > s.Block
}

// Media describes the images and documents of a block. The zero value means that there are none.
type Media struct {
	Type   string // media type of the first one, "image/png"
	Count  int    // how many
	Bytes  int    // encoded size of all, as sent
	Tokens int    // tokens by the provider's rule if their size is known, else 0
}

// Content is the text of a block, wherever its bytes are.
type Content interface {
	// Text returns the decoded text. It may allocate on each call.
	Text() string
	// Size returns the size of the encoded text in bytes, without decoding it. It is rarely less than
	// len(Text()), and good enough for limits and shortcuts.
	Size() int
}

// A Holder is content that holds images or documents, as the content of a result may.
type Holder interface {
	// Held returns the images and documents as blocks, in order, without a Ref.
	Held() []Block
}

// Text is content that is held decoded, such as what Decant writes itself.
type Text string

// Text returns t.
func (t Text) Text() string { return string(t) }

// Size returns the length of t in bytes.
func (t Text) Size() int { return len(t) }

// Source is content that is a whole opaque block, in the bytes of its API.
type Source string

// Text returns s.
func (s Source) Text() string { return string(s) }

// Size returns the length of s in bytes.
func (s Source) Size() int { return len(s) }

// A Hash identifies content: the first 16 bytes of its SHA-256.
type Hash [16]byte

// HashText returns the hash of s.
func HashText(s string) Hash { return HashBytes([]byte(s)) }

// HashBytes returns the hash of b.
func HashBytes(b []byte) Hash {
	sum := sha256.Sum256(b)
	return Hash(sum[:16])
}

// String returns the hash in hexadecimal, 32 digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Short returns the first 8 hexadecimal digits, enough to tell the blocks of one conversation apart.
func (h Hash) Short() string { return hex.EncodeToString(h[:4]) }

// IsZero reports whether h is the zero hash, which no content has.
func (h Hash) IsZero() bool { return h == Hash{} }

// Live returns the messages that are still in the model's context: everything from the client's own newest
// summary on, or all of them without one.
func (c *Conversation) Live() []Message {
	for i := len(c.Messages) - 1; i > 0; i-- {
		if c.Messages[i].Compaction {
			return c.Messages[i:]
		}
	}
	return c.Messages
}

// Hash returns the identity of the conversation: of its fixed part and of every block with its place,
// author and call. It reads the whole text.
func (c *Conversation) Hash() Hash {
	h := sha256.New()
	w := bufio.NewWriter(h)
	w.Write(c.Fixed.Version[:])
	for i := range c.Messages {
		m := &c.Messages[i]
		w.WriteByte(0)
		w.WriteString(string(m.Role))
		for k := range m.Blocks {
			b := &m.Blocks[k]
			for _, s := range [...]string{string(b.Kind), b.CallID, b.Name, b.Text()} {
				w.WriteByte(1)
				w.WriteString(s)
			}
		}
	}
	w.Flush() // a hash takes everything
	return Hash(h.Sum(nil)[:16])
}

// With returns a copy of c that has the messages ms.
func (c *Conversation) With(ms []Message) *Conversation {
	v := *c
	v.Messages = ms
	return &v
}

// Index returns the index in c.Messages of the message with a number, -1 when c has none. Numbers rise.
func (c *Conversation) Index(number int) int {
	if i, ok := position(c.Messages, number); ok {
		return i
	}
	return -1
}

// Message returns the message with a number, nil when c has none.
func (c *Conversation) Message(number int) *Message {
	if i := c.Index(number); i >= 0 {
		return &c.Messages[i]
	}
	return nil
}

// Block returns the block with a reference, nil when c has none. A block that a decision has put in place of
// another has the reference of that one.
func (c *Conversation) Block(ref Ref) *Block {
	m := c.Message(ref.Message)
	if m == nil {
		return nil
	}
	if ref.Block < len(m.Blocks) && m.Blocks[ref.Block].Ref == ref {
		return &m.Blocks[ref.Block]
	}
	for i := range m.Blocks {
		if m.Blocks[i].Ref == ref {
			return &m.Blocks[i]
		}
	}
	return nil
}

// Has reports whether m has a block of a kind.
func (m *Message) Has(k Kind) bool {
	for i := range m.Blocks {
		if m.Blocks[i].Kind == k {
			return true
		}
	}
	return false
}

// Has reports whether c has a block of a kind.
func (c *Conversation) Has(k Kind) bool {
	for i := range c.Messages {
		if c.Messages[i].Has(k) {
			return true
		}
	}
	return false
}

// OpenRound reports whether the model has yet to answer to results of its calls, or to continue.
func (c *Conversation) OpenRound() bool {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		m := &c.Messages[i]
		switch m.Role {
		case RoleAssistant:
			return i == len(c.Messages)-1 || m.Has(KindUse)
		case RoleUser:
			if m.Has(KindResult) {
				return true
			}
		}
	}
	return false
}
