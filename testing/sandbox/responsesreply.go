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
	r := &responder{meter: meter{counter: x.s.counter}, x: x, q: q, res: res}
	r.room = min(q.max, q.model.Window-x.entry.Prompt)
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
	whole := a.Stop != "max_tokens"
	for _, b := range a.Blocks {
		fits, err := r.add(b, a.Stop)
		if err != nil {
			return nil, err
		}
		if !fits {
			whole = false
			break
		}
	}
	if !whole {
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
func (r *responder) add(b Block, stop string) (bool, *apiError) {
	switch b.Kind {
	case decant.KindThinking:
		if !r.q.reasons() || b.Text == "" {
			return true, nil
		}
		before := r.used
		text, whole := r.fit(b.Text)
		r.res.thought += r.used - before
		r.think(text)
		return whole, nil
	case decant.KindText:
		return r.say(b.Text, stop == "refusal")
	case decant.KindUse:
		return r.call(b)
	}
	return true, nil
}

// say appends a message.
func (r *responder) say(text string, refuses bool) (bool, *apiError) {
	said, whole := r.fit(text)
	if strings.TrimSpace(said) == "" {
		return whole, nil
	}
	part := object{"type", "output_text", "annotations", list{}, "logprobs", list{}, "text", said}
	if refuses {
		part = object{"type", "refusal", "refusal", said}
	}
	status := "completed"
	if !whole {
		status = "incomplete"
	}
	return whole, r.put(outItem{streams: said, whole: object{
		"id", r.x.itemID("msg", len(r.res.items)+1), "type", "message", "status", status,
		"role", "assistant", "phase", nil, "content", list{part},
	}})
}

// think appends reasoning.
func (r *responder) think(said string) {
	it := outItem{whole: object{"id", r.x.itemID("rs", len(r.res.items)+1), "type", "reasoning"}}
	summary := list{}
	if r.q.body.get("reasoning").str("summary") != "" {
		it.streams, summary = said, list{object{"type", "summary_text", "text", said}}
	}
	it.whole = append(it.whole, "summary", summary)
	it.kept = append(slices.Clone(it.whole), "encrypted_content", r.x.s.sealThought(r.x.account, r.q, said))
	asked := func(n *node) bool { return n.text == "reasoning.encrypted_content" }
	if slices.ContainsFunc(r.q.body.get("include").list(), asked) {
		it.whole = it.kept
	}
	r.res.items = append(r.res.items, it)
}

// callPrefixes are how the ids of calls begin.
var callPrefixes = map[string]string{
	"function_call": "fc", "custom_tool_call": "ctc", "shell_call": "sh", "local_shell_call": "lsh",
	"tool_search_call": "tsc", "apply_patch_call": "apc", "program": "prg",
}

// call appends a call, whole or not at all.
func (r *responder) call(b Block) (bool, *apiError) {
	t := r.q.tool(b.Name)
	if b.Input == nil {
		b.Input = []byte("{}")
	}
	if !r.take(callFrame + r.counter.Count(t.name) + r.counter.Count(string(b.Input))) {
		return false, nil
	}
	n, kind, id := len(r.res.items)+1, callable[t.kind], b.ID
	used := func(it *node) bool { return it.str("call_id") == id }
	if id == "" || slices.ContainsFunc(r.q.items, used) {
		id = r.x.itemID("call", n)
	}
	o := object{"id", r.x.itemID(callPrefixes[kind], n), "type", kind}
	if kind != "program" {
		o = append(o, "status", "completed")
	}
	members, streams := t.members(b.Input)
	o = append(append(o, "call_id", id), members...)
	if t.namespace != "" {
		o = append(o, "namespace", t.namespace)
	}
	if t.async {
		o = append(o, "async", true)
	}
	return true, r.put(outItem{whole: o, streams: streams})
}

// put appends an item that reasoning after it is bound to.
func (r *responder) put(it outItem) *apiError {
	n, err := parse(marshal(it.whole))
	if err != nil {
		return internal("read our own "+it.whole.of("type").(string), err)
	}
	r.q.show(shownItem{node: n})
	r.res.items = append(r.res.items, it)
	return nil
}

// object returns the answer as the API's object.
func (r *response) object() object {
	q := r.q
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
	format := cmp.Or(text.get("format"), &node{raw: []byte(`{"type":"text"}`)})
	o := object{
		"id", r.id, "object", "response", "created_at", r.created, "status", r.status, "background", false,
		"completed_at", completed, "error", failed, "incomplete_details", incomplete, "model", q.body.str("model"), "output", out,
		"reasoning", object{"effort", reasoning.get("effort"), "summary", reasoning.get("summary")},
		"text", object{"format", format, "verbosity", cmp.Or(text.str("verbosity"), "medium")},
		"service_tier", "default", "top_logprobs", 0, "usage", usage, "user", nil, "access_programs", nil,
	}
	for _, m := range []struct {
		name      string
		otherwise any
	}{
		{"instructions", nil}, {"max_output_tokens", nil}, {"max_tool_calls", nil}, {"metadata", object{}},
		{"parallel_tool_calls", true}, {"previous_response_id", nil}, {"prompt_cache_key", nil}, {"safety_identifier", nil},
		{"store", true}, {"temperature", 1}, {"tool_choice", "auto"}, {"tools", list{}}, {"top_p", 1}, {"truncation", "disabled"},
	} {
		if v := q.body.get(m.name); v != nil {
			m.otherwise = v
		}
		o = append(o, m.name, m.otherwise)
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
		"output_tokens", u.Output, "output_tokens_details", object{"reasoning_tokens", r.thought},
		"total_tokens", u.Prompt() + u.Output,
	}
}
