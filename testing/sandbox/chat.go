package sandbox

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// The door of Chat Completions (docs/reference/openai.md, "Chat Completions"): one model behind it, the rules about
// the order of messages, usage, a cache without markers, errors in the form of that API. It is small; what it does not
// have it refuses.
const chatPath = "/v1/chat/completions"

// A chat is a request for a completion.
type chat struct {
	body     *node
	model    token.Model
	local    bool
	blind    bool // it looks at no images
	max      int  // tokens of the answer
	messages []*node
	tools    []*node
}

// routeOpenAI serves OpenAI's APIs.
func (x *exchange) routeOpenAI(path string) *apiError {
	x.w.Header().Set("x-request-id", x.requestID())
	key, _ := strings.CutPrefix(x.r.Header.Get("Authorization"), "Bearer ")
	known := key != "" || len(x.s.opts.Local) > 0
	if len(x.s.opts.Keys) > 0 {
		known = slices.Contains(x.s.opts.Keys, key)
	}
	if !known {
		return &apiError{status: http.StatusUnauthorized, kind: kindAuth, code: "invalid_api_key", message: "Incorrect API key provided."}
	}
	sum := sha256.Sum256([]byte(key))
	x.account = string(sum[:16])
	id, one := strings.CutPrefix(path, modelsPath+"/")
	switch {
	case path == chatPath:
		return x.only(http.MethodPost, x.completions)
	case path == responsesPath || strings.HasPrefix(path, responsesPath+"/"):
		return x.routeResponses(path)
	case path == modelsPath:
		return x.only(http.MethodGet, x.listChatModels)
	case one:
		return x.only(http.MethodGet, func() *apiError { return x.oneChatModel(id) })
	}
	return x.unknownURL()
}

func (x *exchange) unknownURL() *apiError {
	return &apiError{status: http.StatusNotFound, kind: kindNotFound, message: "Unknown request URL: " + x.r.Method + " " + x.r.URL.Path}
}

// begin returns what is to go wrong with a request of OpenAI's APIs, or refuses it for that.
func (x *exchange) begin() (Fault, *apiError) {
	f := x.nextFault()
	for _, what := range []string{"requests", "tokens"} {
		for name, value := range map[string]string{"limit": "1000000", "remaining": "1000000", "reset": "1s"} {
			x.w.Header().Set("x-ratelimit-"+name+"-"+what, value)
		}
	}
	return f, f.refusal()
}

// completions is POST /v1/chat/completions.
func (x *exchange) completions() *apiError {
	f, err := x.begin()
	if err != nil {
		return err
	}
	root, err := x.readJSON(maxBody)
	if err != nil {
		return err
	}
	q, err := x.s.readChat(root)
	if err != nil {
		return err
	}
	ps := q.pieces(x.s.counter)
	for i := range ps {
		x.entry.Prompt += ps[i].tokens
	}
	if n := x.entry.Prompt; n > q.model.Window {
		err := coded("context_length_exceeded", "This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", q.model.Window, n)
		err.param = "messages"
		return err
	}
	found := x.s.cache.look(x.account, &request{body: q.body, model: q.model, unmarked: chatLife}, ps, x.entry.Time)
	p := q.prompt(x.session(q.body))
	a, err := consult(x.r.Context(), x.s.model, p)
	if err != nil {
		return err
	}
	c := x.completion(q, a, found.usage)
	x.entry.Usage, x.entry.Stop, x.entry.Answer = c.usage, c.finish, c.whole()
	o := outgoing{whole: x.entry.Answer, found: found}
	if q.body.is("stream") {
		o.frames = c.frames(x.s.opts.Chunk, q.body.get("stream_options").is("include_usage"))
	}
	return x.deliver(o, f)
}

// What the cache of Chat Completions keeps, and from how many tokens on.
const (
	chatLife  = 30 * time.Minute
	chatCache = 1024
)

// lookupChat returns a model that Chat Completions has.
func (s *Server) lookupChat(id string) (m token.Model, local bool, err *apiError) {
	m, ok := s.catalog.Lookup(id)
	local = slices.Contains(s.opts.Local, id)
	if !local && (!ok || m.Provider != token.OpenAI) {
		return m, false, &apiError{status: http.StatusNotFound, kind: kindNotFound, code: "model_not_found", message: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", id)}
	}
	if s.opts.Window > 0 {
		m.Window = s.opts.Window
	}
	m.MinCache = chatCache
	return m, local, nil
}

// listChatModels is GET /v1/models, which knows nothing but names.
func (x *exchange) listChatModels() *apiError {
	ids := slices.Clone(x.s.opts.Local)
	for _, m := range x.s.catalog.Models() {
		if m.Provider == token.OpenAI && len(x.s.opts.Local) == 0 {
			ids = append(ids, m.ID)
		}
	}
	all := list{}
	for _, id := range ids {
		all = append(all, chatModel(id))
	}
	return x.send(http.StatusOK, marshal(object{"object", "list", "data", all}))
}

func (x *exchange) oneChatModel(id string) *apiError {
	if _, _, err := x.s.lookupChat(id); err != nil {
		return err
	}
	return x.send(http.StatusOK, marshal(chatModel(id)))
}

func chatModel(id string) object {
	return object{"id", id, "object", "model", "created", 1, "owned_by", "sandbox"}
}

// chatStatus returns the status with which Chat Completions refuses.
func (e *apiError) chatStatus() int {
	if e.status == statusOverloaded {
		return http.StatusServiceUnavailable
	}
	return e.status
}

// chatBody returns a refusal in the form of OpenAI's APIs, for Chat Completions also as an event of a stream.
func (e *apiError) chatBody() []byte {
	kind, code := kindInvalid, e.code
	switch {
	case e.status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	case e.status >= http.StatusInternalServerError:
		kind, code = "server_error", "server_error"
	}
	return marshal(object{"error", object{"message", e.message, "type", kind, "param", orNull(e.param), "code", orNull(code)}})
}

// pieces returns the prompt as what is cached: tools and messages, counted.
func (q *chat) pieces(c decant.Counter) (out []piece) {
	for i, t := range q.tools {
		out = append(out, piece{node: t, sent: t, kind: "tool", path: index("tools", i), tokens: tokens(t, "tool", c)})
	}
	for i, m := range q.messages {
		n := turnFrame + c.Count(said(m))
		for _, call := range m.get("tool_calls").list() {
			n += callFrame + c.Count(call.get("function").str("name")) + c.Count(call.get("function").str("arguments"))
		}
		for _, part := range m.get("content").list() {
			if part.str("type") == "image_url" {
				n += mediaCount
			}
		}
		out = append(out, piece{node: m, sent: m, level: levelMessages, role: m.str("role"), path: index("messages", i), tokens: n})
	}
	return out
}

// said returns the text of a message.
func said(m *node) string { return m.get("content").textOf() }

// prompt returns the request as a model reads it.
func (q *chat) prompt(session string) *Prompt {
	choice := q.body.get("tool_choice")
	p := &Prompt{Model: q.body.str("model"), Session: session, MaxTokens: q.max, Choice: choice.word(), Named: choice.get("function").str("name"), Thinking: "disabled"}
	if q.reasons() {
		p.Thinking = "adaptive"
	}
	if n := q.body.get("parallel_tool_calls"); n != nil {
		p.OneCall = n.kind == 'f'
	}
	for _, t := range q.tools {
		p.Tools = append(p.Tools, t.get("function").str("name"))
		p.Schemas = append(p.Schemas, t.get("function").get("parameters").source())
	}
	for _, m := range q.messages {
		switch role := m.str("role"); role {
		case "system", "developer":
			p.System = append(p.System, said(m))
		case "tool":
			p.add(decant.RoleUser, Block{Kind: decant.KindResult, ID: m.str("tool_call_id"), Text: said(m)})
		default:
			p.add(decant.Role(role), m.spoken()...)
		}
	}
	return p
}

// spoken returns the blocks of a message of the user or the assistant.
func (n *node) spoken() (out []Block) {
	if t := said(n); t != "" {
		out = append(out, text(t))
	}
	for _, part := range n.get("content").list() {
		if t := part.str("type"); t == "image_url" || t == "input_image" {
			out = append(out, Block{Kind: decant.KindImage})
		}
	}
	for _, call := range n.get("tool_calls").list() {
		f := call.get("function")
		out = append(out, Block{Kind: decant.KindUse, ID: call.str("id"), Name: f.str("name"), Input: []byte(f.str("arguments"))})
	}
	return out
}

// add appends blocks to a prompt, to the last message where that has the same role.
func (p *Prompt) add(role decant.Role, blocks ...Block) {
	if n := len(p.Messages); n > 0 && p.Messages[n-1].Role == role {
		p.Messages[n-1].Blocks = append(p.Messages[n-1].Blocks, blocks...)
		return
	}
	p.Messages = append(p.Messages, Message{Role: role, Blocks: blocks})
}

// word returns what a choice of tools says in the words of the Messages API.
func (n *node) word() string {
	switch {
	case n == nil:
		return ""
	case n.kind == '{':
		return "tool"
	case n.text == "required":
		return "any"
	}
	return n.text
}

// reasons reports whether the model thinks before it answers.
func (q *chat) reasons() bool {
	return !q.local && len(q.model.Thinking) > 0 && q.body.str("reasoning_effort") != "none"
}

// number writes the number of a message as paths of this API have it.
func number(i int, member string) string { return "messages.[" + strconv.Itoa(i) + "]." + member }
