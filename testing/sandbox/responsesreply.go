package sandbox

import (
	"cmp"
	"slices"
	"strings"

	"github.com/decantdev/decant"
)

// A response is a finished answer of the Responses API: complete before its first byte is sent.
type response struct {
	q       *input
	id      string
	created int
	status  string
	why     string // it is incomplete
	items   []outItem
	usage   decant.Usage
	thought int       // output tokens of reasoning
	err     *apiError // it failed
}

// An outItem is an item of an answer.
type outItem struct {
	whole   object // without the seal of reasoning, unless the client asked for it
	kept    object // as the server keeps it; nil: whole
	streams string // what a stream brings in pieces
}

// A reply under way knows its limits and where it is.
type responder struct {
	meter
	x   *exchange
	q   *input
	res *response
}

// response answers a request.
func (x *exchange) response(q *input, found hit) (*response, *apiError) {
	res := &response{q: q, created: int(x.entry.Time.Unix()), status: "completed", usage: found.usage}
	res.id = x.itemID("resp", 0)
	r := &responder{meter: meter{counter: x.s.counter, room: min(q.max, q.model.Window-x.entry.Prompt)}, x: x, q: q, res: res}
	defer func() { res.usage.Output = r.used }()
	switch {
	case q.compacts:
		_, err := r.compact()
		return res, err
	case q.body.get("prompt_cache_options").is("prewarm"):
		return res, nil
	}
	p := q.prompt(x.session(q.body))
	if n := q.threshold(); n > 0 && x.entry.Prompt >= n {
		var err *apiError
		if p, err = r.proceed(); err != nil {
			return nil, err
		}
	}
	a, err := consult(x.r.Context(), x.s.model, p)
	if err != nil {
		return nil, err
	}
	if len(a.Blocks) == 0 && a.Stop == "" {
		a.Blocks = []Block{text("Done.")}
	}
	for _, b := range a.Blocks {
		if !r.add(b, a.Stop) {
			res.status, res.why = "incomplete", "max_output_tokens"
			return res, nil
		}
	}
	if a.Stop == "max_tokens" {
		res.status, res.why = "incomplete", "max_output_tokens"
	}
	return res, nil
}

// itemID returns an id for the n-th item of an answer.
func (x *exchange) itemID(prefix string, n int) string {
	return callName(prefix, x.s.secret, [16]byte{}, x.entry.Number, n)
}

// stop says for the log why the model stopped.
func (r *response) stop() string { return cmp.Or(r.why, r.status) }

// add appends what a model said. It returns false when that did not fit and the answer ends here.
func (r *responder) add(b Block, stop string) bool {
	n := len(r.res.items)
	switch b.Kind {
	case decant.KindThinking:
		if !r.q.reasons() || b.Text == "" {
			return true
		}
		before := r.used
		text, whole := r.fit(b.Text)
		r.res.thought += r.used - before
		r.think(text)
		return whole
	case decant.KindText:
		said, whole := r.fit(b.Text)
		part := object{"type", "output_text", "annotations", list{}, "logprobs", list{}, "text", said}
		if stop == "refusal" {
			said, part = b.Text, object{"type", "refusal", "refusal", b.Text}
		}
		if strings.TrimSpace(said) == "" {
			return whole
		}
		status := map[bool]string{true: "completed", false: "incomplete"}[whole]
		r.put(outItem{streams: said, whole: object{"id", r.x.itemID("msg", n+1), "type", "message", "status", status, "role", "assistant", "phase", r.phase(), "content", list{part}}})
		return whole
	case decant.KindUse:
		return r.call(b)
	}
	return true
}

// phase says whether a message is the last word of the model, as far as one can know: nil.
func (r *responder) phase() any { return nil }

// think appends reasoning.
func (r *responder) think(said string) {
	id := r.x.itemID("rs", len(r.res.items)+1)
	it := outItem{whole: object{"id", id, "type", "reasoning", "summary", list{}}}
	if r.q.body.get("reasoning").str("summary") != "" {
		it.streams = said
		it.whole[5] = list{object{"type", "summary_text", "text", said}}
	}
	it.kept = append(slices.Clone(it.whole), "encrypted_content", r.x.s.sealThought(r.x.account, r.q, said))
	if slices.ContainsFunc(r.q.body.get("include").list(), func(n *node) bool { return n.text == "reasoning.encrypted_content" }) {
		it.whole = it.kept
	}
	r.res.items = append(r.res.items, it)
}

// call appends a call, whole or not at all.
func (r *responder) call(b Block) bool {
	t := r.q.tool(b.Name)
	if b.Input == nil {
		b.Input = []byte("{}")
	}
	if !r.take(callFrame + r.counter.Count(t.name) + r.counter.Count(string(b.Input))) {
		return false
	}
	n, kind := len(r.res.items)+1, callable[t.kind]
	id := b.ID
	if id == "" || slices.ContainsFunc(r.q.items, func(it *node) bool { return it.str("call_id") == id }) {
		id = r.x.itemID("call", n)
	}
	prefix := cmp.Or(idPrefixes[kind], map[string]string{"shell_call": "sh", "local_shell_call": "lsh", "tool_search_call": "tsc", "apply_patch_call": "apc", "program": "prg"}[kind])
	o := object{"id", r.x.itemID(prefix, n), "type", kind, "status", "completed", "call_id", id}
	if kind == "program" {
		o = slices.Delete(o, 4, 6)
	}
	members, streams := t.members(b.Input)
	o = append(o, members...)
	if t.namespace != "" {
		o = append(o, "namespace", t.namespace)
	}
	if t.async {
		o = append(o, "async", true)
	}
	r.put(outItem{whole: o, streams: streams})
	return true
}

// put appends an item that reasoning after it is bound to.
func (r *responder) put(it outItem) {
	n, err := parse(marshal(it.whole))
	if err != nil {
		panic(err) // arguments are JSON, or a text
	}
	r.q.show(shownItem{node: n})
	r.res.items = append(r.res.items, it)
}

// object returns the answer as the API's object.
func (r *response) object() object {
	q := r.q
	member := func(name string, otherwise any) any {
		if v := q.body.get(name); v != nil {
			return v
		}
		return otherwise
	}
	out := list{}
	for _, it := range r.items {
		out = append(out, it.whole)
	}
	var failed, incomplete, usage, completed any
	if r.err != nil {
		failed = object{"code", r.err.code, "message", r.err.message}
	}
	if r.why != "" {
		incomplete = object{"reason", r.why}
	}
	if r.status == "completed" || r.status == "incomplete" {
		usage = r.used()
	}
	if r.status == "completed" {
		completed = r.created
	}
	reasoning, text := q.body.get("reasoning"), q.body.get("text")
	o := object{
		"id", r.id, "object", "response", "created_at", r.created, "status", r.status, "background", false, "completed_at", completed,
		"error", failed, "incomplete_details", incomplete, "instructions", member("instructions", nil),
		"max_output_tokens", member("max_output_tokens", nil), "max_tool_calls", member("max_tool_calls", nil), "model", q.body.str("model"),
		"output", out, "parallel_tool_calls", member("parallel_tool_calls", true), "previous_response_id", member("previous_response_id", nil),
		"prompt_cache_key", member("prompt_cache_key", nil), "reasoning", object{"effort", reasoning.get("effort"), "summary", reasoning.get("summary")},
		"safety_identifier", member("safety_identifier", nil), "service_tier", "default", "store", member("store", true),
		"temperature", member("temperature", 1), "text", object{"format", cmp.Or(text.get("format"), &node{raw: []byte(`{"type":"text"}`)}), "verbosity", member("verbosity", "medium")},
		"tool_choice", member("tool_choice", "auto"), "tools", member("tools", list{}), "top_logprobs", 0, "top_p", member("top_p", 1),
		"truncation", member("truncation", "disabled"), "usage", usage, "user", nil, "metadata", member("metadata", object{}), "access_programs", nil,
	}
	if len(q.gone) > 0 {
		o = append(o, "input_transformations", q.gone)
	}
	return o
}

// used returns the member usage: the input is the whole prompt (docs/reference/openai.md, "Usage").
func (r *response) used() object {
	u, long := r.usage, 0
	if r.q.body.get("prompt_cache_options").str("ttl") == "12h" {
		long = u.CacheWrite
	}
	return object{
		"input_tokens", u.Prompt(),
		"input_tokens_details", object{
			"cached_tokens", u.CacheRead, "cache_write_tokens", u.CacheWrite,
			"cache_write_tokens_details", object{"ttl_30m_tokens", u.CacheWrite - long, "ttl_12h_tokens", long},
		},
		"output_tokens", u.Output, "output_tokens_details", object{"reasoning_tokens", r.thought}, "total_tokens", u.Prompt() + u.Output,
	}
}
