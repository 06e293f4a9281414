package sandbox

import (
	"strconv"
	"time"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/token"
)

// A request is a body that has the shape it should have. Whether it also obeys the rules is for the
// checks that follow to say.
type request struct {
	body   *node
	betas  betas
	model  token.Model
	max    int     // max_tokens; of a count the model's own limit
	count  bool    // it asks for a count only
	batch  bool    // it is one of a batch
	system []*node // blocks
	tools  []*node
	turns  []turn
	ids    map[string]bool // of all calls, also of those that were cut off

	unmarked time.Duration // how long the prompt is cached without markers; 0: as the server does
	skip     []string      // members that make no difference to the cache
}

// A turn is what one role says until another one speaks: neighbouring messages of one role are one
// turn to the server (docs/reference/anthropic.md, "The request").
type turn struct {
	role   string
	path   string // of its first message
	blocks []block
}

// A block is a block of a message and where it stands.
type block struct {
	*node
	kind string // its type
	path string // "messages.3.content.0"
}

func index(path string, i int) string { return path + "." + strconv.Itoa(i) }

// decode checks the shape of a body and takes it apart.
func decode(body *node, b betas, count bool) (*request, *apiError) {
	s := shaper{b}
	fields := messageFields
	if count {
		fields = countFields
	}
	if err := s.object("", body, fields); err != nil {
		return nil, err
	}
	q := &request{body: body, betas: b, count: count, system: body.get("system").blocks(), tools: body.get("tools").list()}
	q.max, _ = body.get("max_tokens").integer()
	for _, err := range []*apiError{s.parts(body), s.tools(q.tools), q.readTurns(s)} {
		if err != nil {
			return nil, err
		}
	}
	return q, nil
}

// parts checks the objects at the top level.
func (s shaper) parts(body *node) *apiError {
	for _, p := range []struct {
		name  string
		shape []field
	}{
		{"metadata", metadataShape}, {"tool_choice", choiceShape}, {"thinking", thinkingShape},
		{"output_config", outputShape}, {"context_management", contextShape},
	} {
		if n := body.get(p.name); n != nil {
			if err := s.object(p.name, n, p.shape); err != nil {
				return err
			}
		}
	}
	if n := body.get("thinking").get("block_binding"); n != nil {
		if err := s.object("thinking.block_binding", n, bindingShape); err != nil {
			return err
		}
	}
	if n := body.get(compactionKind); n != nil {
		return s.demand(n)
	}
	return nil
}

var toolName = lazyregexp.New(`^[a-zA-Z0-9_-]{1,128}$`)

// tools checks tool definitions. Those that the server runs have fields of their own, which differ
// from one to the next and from version to version; they are taken as they are.
func (s shaper) tools(tools []*node) *apiError {
	seen := map[string]bool{}
	for i, t := range tools {
		path := index("tools", i)
		if t.kind != '{' {
			return invalid("%s: Input should be an object", path)
		}
		if err := s.tool(path, t); err != nil {
			return err
		}
		name := t.str("name")
		if seen[name] {
			return invalid("tools: Tool names must be unique.")
		}
		seen[name] = true
	}
	return nil
}

func (s shaper) tool(path string, t *node) *apiError {
	if kind := t.str("type"); kind != "" && kind != "custom" {
		if m := t.get("cache_control"); m != nil {
			return s.marker(path+".cache_control", m)
		}
		return nil
	}
	path += ".custom"
	if err := s.object(path, t, toolShape); err != nil {
		return err
	}
	if !toolName.MatchString(t.str("name")) {
		return invalid("%s.name: String should match pattern '%s'", path, toolName)
	}
	if t.get("input_schema").str("type") != "object" {
		return invalid("%s.input_schema.type: Input should be 'object'", path)
	}
	return nil
}

// readTurns checks the shape of the messages and merges neighbours of one role.
func (q *request) readTurns(s shaper) *apiError {
	messages := q.body.get("messages").list()
	if len(messages) == 0 && !q.summarizes() {
		return invalid("messages: at least one message is required")
	}
	if len(messages) > maxMessages {
		return invalid("messages: at most %d messages are allowed", maxMessages)
	}
	for i, m := range messages {
		path := index("messages", i)
		if err := s.object(path, m, messageShape); err != nil {
			return err
		}
		if err := s.content(path+".content", m.get("content"), nil); err != nil {
			return err
		}
		role := m.str("role")
		if role != "user" && role != "assistant" && role != "system" {
			return invalid("%s.role: Input should be 'user', 'assistant' or 'system'", path)
		}
		q.addMessage(role, path, m.get("content"))
		if n := m.get("output_config"); n != nil {
			if err := s.object(path+".output_config", n, outputShape); err != nil {
				return err
			}
			if role == "system" {
				continue // it may say the effort and nothing else
			}
		}
		if err := q.checkFilled(role, path, m.get("content"), i == len(messages)-1); err != nil {
			return err
		}
	}
	return nil
}

// maxMessages is the longest list of messages that the API takes.
const maxMessages = 100_000

func (q *request) addMessage(role, path string, content *node) {
	if k := len(q.turns) - 1; k < 0 || q.turns[k].role != role {
		q.turns = append(q.turns, turn{role: role, path: path})
	}
	t := &q.turns[len(q.turns)-1]
	for i, b := range content.blocks() {
		t.blocks = append(t.blocks, block{b, b.str("type"), index(path+".content", i)})
	}
}

// checkFilled refuses a message without content. Only the final message of the assistant, which is
// a prefill, may be empty.
func (q *request) checkFilled(role, path string, content *node, last bool) *apiError {
	empty := content.kind == '"' && content.text == "" || content.kind == '[' && len(content.items) == 0
	if empty && !(last && role == "assistant") {
		return invalid("%s: all messages must have non-empty content except for the optional final assistant message", path)
	}
	return nil
}

// open returns the last turn of the assistant when its calls are what the request answers: nothing
// but the user's results, and what the client says beside them, follows it.
func (q *request) open() *turn {
	for i := len(q.turns) - 1; i > 0; i-- {
		t := &q.turns[i]
		if t.role == "user" && t.has("tool_result") {
			return q.before(i)
		}
		if t.role != "system" {
			return nil
		}
	}
	return nil
}

// before returns the turn before the i-th when the assistant spoke it.
func (q *request) before(i int) *turn {
	if i > 0 && q.turns[i-1].role == "assistant" {
		return &q.turns[i-1]
	}
	return nil
}

// has reports whether the turn has a block of the given type.
func (t *turn) has(kind string) bool {
	for _, b := range t.blocks {
		if b.kind == kind {
			return true
		}
	}
	return false
}
