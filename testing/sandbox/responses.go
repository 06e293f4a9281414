package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// The door of the Responses API (docs/reference/openai.md, "Responses"): its items and their rules, JSON and streams,
// a cache without markers, reasoning that is sealed and bound, compactions, and state that the server holds. It has no
// conversations, background work, prompt templates or socket.
const responsesPath = "/v1/responses"

// An input is a request for a response.
type input struct {
	body     *node
	model    token.Model
	local    bool
	max      int     // tokens of the answer
	given    int     // items of earlier responses that the server held
	items    []*node // what was said before and what is new, in order
	paths    []string
	shown    []shownItem // what the model reads, in order
	gone     list        // reasoning that was taken out, as the answer reports it
	chain    *chain      // at the end of what is shown
	tools    []tool
	covers   []prefix // hashes of what is shown up to each item, none included
	compacts bool     // it asks for a compaction in place of an answer
}

// A shownItem is an item as the model reads it.
type shownItem struct {
	*node
	text string // of reasoning and of a compaction: what is sealed in it
	path string
}

func (x *exchange) routeResponses(path string) *apiError {
	id, more, _ := strings.Cut(strings.TrimPrefix(path, responsesPath+"/"), "/")
	switch {
	case path == responsesPath && x.r.Header.Get("Upgrade") != "":
		x.w.Header().Set("Upgrade", "HTTP/1.1")
		no := invalid("There are no WebSockets here. Use HTTP.")
		no.status = http.StatusUpgradeRequired
		return no
	case path == responsesPath:
		return x.only(http.MethodPost, x.respond)
	case path == responsesPath+"/compact":
		return x.only(http.MethodPost, x.compactInput)
	case path == responsesPath+"/input_tokens":
		return x.only(http.MethodPost, x.countInput)
	}
	return x.oneResponse(id, more)
}

// respond is POST /v1/responses.
func (x *exchange) respond() *apiError {
	f, err := x.begin()
	if err != nil {
		return err
	}
	q, err := x.input(responseFields)
	if err != nil {
		return err
	}
	stream := q.body.is("stream")
	if err := x.measure(q); err != nil {
		if x.s.opts.LateOverflow && stream && err.code == codeOverflow {
			return x.deliver(outgoing{frames: x.failed(q, err)}, f)
		}
		return err
	}
	found := x.lookUp(q)
	res, err := x.response(q, found)
	if err != nil {
		return err
	}
	x.entry.Usage, x.entry.Stop, x.entry.Answer = res.usage, res.stop(), marshal(res.object())
	x.keep(q, res)
	o := outgoing{whole: x.entry.Answer, found: found}
	if stream {
		o.frames = res.frames(x.s.opts.Chunk)
	}
	return x.deliver(o, f)
}

// input reads a request, and checks all of it but its size.
func (x *exchange) input(fields string) (*input, *apiError) {
	root, err := x.readJSON(maxBody)
	if err != nil {
		return nil, err
	}
	if root.kind != '{' {
		return nil, invalid("We could not parse the JSON body of your request.")
	}
	if err := checkMembers("", root, fields); err != nil {
		return nil, err
	}
	q := &input{body: root}
	if q.model, q.local, err = x.s.lookupChat(root.str("model")); err != nil {
		return nil, err
	}
	for _, check := range []func() *apiError{
		q.checkLimits, q.checkReasoning, func() *apiError { return x.s.shelf.gather(x.account, q) },
		q.checkItems, q.checkPairs, q.checkThoughts, func() *apiError { return x.s.checkCompany(x.account, q) },
		func() *apiError { return x.s.unveil(x.account, q) },
	} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	x.entry.Dropped = len(q.gone)
	return q, nil
}

const codeOverflow = "context_length_exceeded"

// measure counts a prompt. What is too long is refused, unless the server may leave out what is oldest.
func (x *exchange) measure(q *input) *apiError {
	for {
		x.entry.Prompt = 0
		for _, p := range q.pieces(x.s.counter) {
			x.entry.Prompt += p.tokens
		}
		if x.entry.Prompt <= q.model.Window {
			return nil
		}
		if q.body.str("truncation") != "auto" || !q.truncate() {
			return about("input", codeOverflow,
				"Your input exceeds the context window of this model. Please adjust your input and try again.")
		}
	}
}

// truncate leaves out the oldest item that does not configure the model, with what belongs to it.
func (q *input) truncate() bool {
	i := slices.IndexFunc(q.shown, func(it shownItem) bool { return !it.configures() })
	if i < 0 || i == len(q.shown)-1 {
		return false
	}
	call, _ := q.shown[i].call()
	q.shown = slices.Delete(q.shown, i, i+1)
	q.shown = slices.DeleteFunc(q.shown, func(it shownItem) bool {
		answered, ok := it.answers()
		return ok && call != "" && answered == call
	})
	return true
}

// lookUp returns what a prompt finds in the cache (docs/reference/openai.md, "The prompt cache").
func (x *exchange) lookUp(q *input) hit {
	ps, own := q.pieces(x.s.counter), 0
	if q.instructsLast() { // these hold for one answer and are not cached
		own = ps[len(ps)-1].tokens
		ps = ps[:len(ps)-1]
	}
	options, life := q.body.get("prompt_cache_options"), chatLife
	if options.str("ttl") == "12h" {
		life = 12 * time.Hour
	}
	r := &request{body: q.body, model: q.model, unmarked: life, skip: itemCanon.skip}
	found := x.s.cache.look(x.account+"\x00"+q.body.str("prompt_cache_key")+q.settings(), r, ps, x.entry.Time)
	found.usage = charged(q.model, found.usage)
	if options.str("mode") == "explicit" && !strings.Contains(string(q.body.raw), `"prompt_cache_breakpoint"`) {
		found = hit{usage: decant.Usage{Input: found.usage.Prompt()}, start: x.entry.Time}
	}
	found.usage.Input += own
	return found
}

// settings are the parameters that are part of what reasoning and the cache depend on.
func (q *input) settings() string {
	out := canon{}.value([]byte("format="), orEmpty(q.body.get("text").get("format")))
	return string(append(append(out, " effort="...), q.body.get("reasoning").str("effort")...))
}

func orEmpty(n *node) *node {
	if n == nil {
		return &node{kind: '{'}
	}
	return n
}

// instructsLast reports whether the instructions stand behind the input, where each request has its own.
func (q *input) instructsLast() bool {
	return since(q.model.ID, 6, 2) && q.body.str("instructions") != ""
}

// pieces returns the prompt as what is cached, counted: tools, instructions and items, or instructions last.
func (q *input) pieces(c decant.Counter) (out []piece) {
	for _, t := range q.body.get("tools").list() {
		out = append(out, piece{node: t, sent: t, kind: "tool", tokens: tokens(t, "tool", c)})
	}
	var own []piece
	if n := q.body.get("instructions"); n != nil && n.text != "" {
		p := piece{node: textBlock(n), sent: n, level: levelMessages, role: "system", tokens: turnFrame + c.Count(n.text)}
		own = append(own, p)
	}
	if !q.instructsLast() {
		out, own = append(out, own...), nil
	}
	for _, it := range q.shown {
		p := piece{node: it.node, sent: it.node, level: levelMessages, role: it.kindOf(), path: it.path, tokens: it.tokens(c)}
		out = append(out, p)
	}
	return append(out, own...)
}

// tokens returns the size of an item.
func (it *shownItem) tokens(c decant.Counter) int {
	call, name := it.call()
	switch kind := it.kindOf(); {
	case kind == "reasoning":
		return c.Count(it.text)
	case kind == "compaction":
		return turnFrame + c.Count(it.text)
	case kind == "additional_tools", kind == "tool_search_output":
		sum := 0
		for _, t := range it.get("tools").list() {
			sum += tokens(t, "tool", c)
		}
		return sum + turnFrame
	case call != "":
		return callFrame + c.Count(name) + c.Count(string(it.arguments()))
	case kind == "message":
		return turnFrame + it.media() + c.Count(said(it.node))
	}
	if _, ok := it.answers(); ok {
		return callFrame + it.media() + c.Count(it.output())
	}
	return c.Count(string(it.raw))
}

// media returns what the images and files of an item count.
func (it *shownItem) media() (sum int) {
	for _, member := range []string{"content", "output"} {
		for _, part := range it.get(member).list() {
			if t := part.str("type"); t == "input_image" || t == "input_file" {
				sum += mediaCount
			}
		}
	}
	return sum
}

// countInput is POST /v1/responses/input_tokens.
func (x *exchange) countInput() *apiError {
	q, err := x.input(countedFields)
	if err != nil {
		return err
	}
	for _, p := range q.pieces(x.s.counter) {
		x.entry.Prompt += p.tokens
	}
	return x.send(http.StatusOK, marshal(object{"object", "response.input_tokens", "input_tokens", x.entry.Prompt}))
}
