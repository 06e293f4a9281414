package sandbox

import (
	"cmp"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// compactEdit is the strategy that compacts when a threshold is passed.
const compactEdit = "compact_20260112"

// The threshold: what holds when none is given, and the least that may be.
const (
	defaultThreshold = 150_000
	leastThreshold   = 50_000
)

// summarize is the prompt that asks for a summary, unless a request brings its own.
const summarize = `Write a summary of the conversation so far, from which the work can go on without it. Say what the user asked for and wants kept, what was decided and why, what was done and found, exact names, paths, addresses and numbers that are needed again, and what is to be done next. Do not call tools. Answer with the summary only.`

// threshold returns the edit that compacts, nil when there is none.
func (q *request) threshold() *node {
	for _, e := range q.edits() {
		if e.str("type") == compactEdit {
			return e
		}
	}
	return nil
}

// due reports whether the prompt has reached the threshold.
func (in *reading) due() bool {
	e := in.q.threshold()
	if e == nil || in.q.max == 0 || in.q.count {
		return false
	}
	limit := defaultThreshold
	if n, given := e.get("trigger").get("value").integer(); given {
		limit = n
	}
	return in.tokens >= limit
}

// checkCompactEdit checks the fields of the strategy that no other has.
func checkCompactEdit(path string, e *node) *apiError {
	if n, given := e.get("trigger").get("value").integer(); given && n < leastThreshold {
		return invalid("%s.%s: trigger.value must be at least %d", path, compactEdit, leastThreshold)
	}
	return nil
}

// A summing is what a pass that summarizes brought: a text, or a reason for which there is none.
type summing struct {
	text  string
	stop  string // of the pass
	usage decant.Usage
}

// sum lets the summarizer read a prompt and then what asks it for a summary of at most limit tokens.
func (x *exchange) sum(in *reading, instructions string, limit int) (summing, *apiError) {
	x.entry.Compactions++
	ask := cmp.Or(strings.TrimSpace(instructions), summarize)
	size := turnFrame + x.s.counter.Count(ask)
	if in.tokens+size >= in.q.model.Window {
		return summing{stop: "model_context_window_exceeded"}, nil
	}
	p := in.q.prompt(x.session(in.q.body), in.ed)
	p.MaxTokens, p.Messages = limit, append(p.Messages, Message{Role: decant.RoleUser, Blocks: []Block{text(ask)}})
	a, err := consult(x.r.Context(), x.s.summarizer, p)
	if err != nil {
		return summing{}, err
	}
	out := summing{stop: cmp.Or(a.Stop, "end_turn"), usage: in.found.usage}
	out.usage.Input += size
	for _, b := range a.Blocks {
		switch b.Kind {
		case decant.KindText:
			out.text += b.Text
		case decant.KindUse:
			out.stop = "tool_use"
		}
		out.usage.Output += x.s.counter.Count(b.Text)
	}
	if out.usage.Output > limit {
		out.usage.Output, out.stop = limit, "max_tokens"
	}
	if out.text = strings.TrimSpace(out.text); out.stop != "end_turn" {
		out.text = ""
	}
	return out, nil
}

// summary answers a compaction on demand: a signed block, or nothing.
func (x *exchange) summary(in *reading) (*reply, *apiError) {
	s, err := x.sum(in, in.q.body.get(compactionKind).str("instructions"), in.q.max)
	if err != nil {
		return nil, err
	}
	rep := x.blank(in)
	rep.stop, rep.passes = s.stop, []pass{{kind: compactionKind, usage: s.usage}}
	if s.text == "" {
		return rep, nil
	}
	o := out{kind: compactionKind, text: s.text, signature: in.th.chain.close(in.q).sign(x.s.secret, s.text)}
	o.json = jsonspan.AppendQuote([]byte(`{"type":"compaction","content":`), s.text)
	o.json = append(jsonspan.AppendQuote(append(o.json, `,"signature":`...), o.signature), '}')
	rep.stop, rep.blocks = compactionKind, []out{o}
	return rep, nil
}

// blank returns an answer that holds nothing and reports no use.
func (x *exchange) blank(in *reading) *reply {
	rep := &reply{model: in.q.body.str("model"), changes: in.th.appendChanges(nil)}
	rep.id = callName("msg", x.s.secret, [16]byte(in.th.chain.before[:16]), x.entry.Number, 0)
	if in.q.body.get("context_management") != nil {
		rep.edits = in.ed.appendApplied(nil)
	}
	return rep
}

// compacted answers a request that has reached its threshold: with a block that holds the summary, and behind it
// what the model says to the summary. Where there is no summary the block says so, and the model reads everything.
func (x *exchange) compacted(in *reading) (*reply, *apiError) {
	e := in.q.threshold()
	s, err := x.sum(in, e.str("instructions"), max(in.q.model.MaxOutput, in.q.max))
	if err != nil {
		return nil, err
	}
	o := out{kind: compactionKind, text: s.text}
	o.json = append(append([]byte(`{"type":"compaction","content":`), quoteOrNull(s.text)...), '}')
	first := pass{kind: compactionKind, usage: s.usage}
	if s.text != "" && e.is("pause_after_compaction") {
		rep := x.blank(in)
		rep.stop, rep.blocks, rep.passes = compactionKind, []out{o}, []pass{first}
		return rep, nil
	}
	if s.text != "" {
		found := in.found
		if err := x.proceed(in, o); err != nil {
			return nil, err
		}
		in.found = found.and(in.found)
	}
	rep, err := x.reply(in)
	if err != nil {
		return nil, err
	}
	rep.blocks, rep.passes = append([]out{o}, rep.blocks...), append([]pass{first}, rep.passes...)
	return rep, nil
}

// proceed makes of a prompt what is left of it behind a block that was just written.
func (x *exchange) proceed(in *reading, o out) *apiError {
	n, err := parse(o.json)
	if err != nil {
		return internal("read our own compaction block", err)
	}
	q := *in.q
	q.turns = []turn{{role: "assistant", blocks: []block{{n, compactionKind, ""}}}}
	th := &thoughts{chain: newChain(&q), changes: in.th.changes}
	th.chain.pass("assistant", n)
	*in = *x.reading(&q, th, &edited{before: in.ed.before, applied: in.ed.applied})
	return nil
}

// quoteOrNull returns a text as JSON, null for an empty one.
func quoteOrNull(text string) []byte {
	if text == "" {
		return []byte("null")
	}
	return jsonspan.AppendQuote(nil, text)
}
