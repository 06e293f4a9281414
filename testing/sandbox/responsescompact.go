package sandbox

import (
	"slices"
	"strings"

	"github.com/decantdev/decant"
)

// defaultCompaction is at how many tokens the server compacts by itself when a request asks for that without a number.
const defaultCompaction = 200_000

// threshold returns at how many tokens the server compacts by itself, 0 for never.
func (q *input) threshold() int {
	edits := q.body.get("context_management").list()
	if len(edits) == 0 {
		return 0
	}
	if n, given := edits[0].get("compact_threshold").integer(); given {
		return n
	}
	return defaultCompaction
}

// compact appends a compaction of all that is shown, and returns what it says.
func (r *responder) compact() (string, *apiError) {
	r.x.entry.Compactions++
	p := r.q.prompt(r.x.session(r.q.body))
	p.Messages = append(p.Messages, Message{Role: decant.RoleUser, Blocks: []Block{text(summarize)}})
	a, err := consult(r.x.r.Context(), r.x.s.summarizer, p)
	if err != nil {
		return "", err
	}
	said := ""
	for _, b := range a.Blocks {
		if b.Kind == decant.KindText {
			said += b.Text
		}
	}
	said, _ = r.fit(strings.TrimSpace(said))
	r.res.items = append(r.res.items, outItem{whole: object{
		"id", r.x.itemID("cmp", len(r.res.items)+1), "type", "compaction", "encrypted_content", r.x.s.sealSummary(r.q, said),
	}})
	return said, nil
}

// proceed compacts, and returns the prompt that the model reads behind that: what configures it, the summary, and the
// last words of the user.
func (r *responder) proceed() (*Prompt, *apiError) {
	shown, sealedUp := r.q.shown, r.q.chain
	said, err := r.compact()
	if err != nil {
		return nil, err
	}
	n, perr := parse(marshal(r.res.items[0].whole))
	if perr != nil {
		return nil, internal("read our own compaction", perr)
	}
	r.q.begin()
	r.q.show(shownItem{node: n, text: said})
	r.q.chain.earlier = append(slices.Clone(sealedUp.earlier), sealedUp.before)
	if err := r.configure(shown); err != nil {
		return nil, err
	}
	p := r.q.prompt(r.x.session(r.q.body))
	for i := range shown {
		if shown[i].configures() {
			p.read(&shown[i])
		}
	}
	for _, it := range slices.Backward(shown) {
		if it.str("role") == "user" {
			p.read(&it)
			break
		}
	}
	return p, nil
}

// configure appends what earlier items said about the configuration, which a compaction does not hold.
func (r *responder) configure(shown []shownItem) *apiError {
	o := object{"id", r.x.itemID("cfg", len(r.res.items)+1), "type", "configuration_update"}
	for _, name := range []string{"reasoning", "text"} {
		for _, it := range slices.Backward(shown) {
			if v := it.get(name); it.kindOf() == "configuration_update" && v != nil {
				o = append(o, name, v)
				break
			}
		}
	}
	if len(o) == 4 {
		return nil
	}
	return r.put(outItem{whole: o})
}

// compactInput is POST /v1/responses/compact: what the user said, and a compaction of all.
func (x *exchange) compactInput() *apiError {
	f, err := x.begin()
	if err != nil {
		return err
	}
	q, err := x.input(compactFields)
	if err != nil {
		return err
	}
	if err := x.measure(q); err != nil {
		return err
	}
	found := x.lookUp(q)
	q.compacts = true
	res, err := x.response(q, found)
	if err != nil {
		return err
	}
	out := list{}
	for i, it := range q.shown {
		if it.kindOf() != "message" || it.str("role") != "user" {
			continue
		}
		content := any(it.get("content"))
		if it.get("content").kind == '"' {
			content = list{object{"type", "input_text", "text", it.get("content").text}}
		}
		o := object{"id", x.itemID("msg", 1000+i), "type", "message", "status", "completed", "role", "user"}
		out = append(out, append(o, "content", content))
	}
	out = append(out, res.items[0].whole)
	x.entry.Usage, x.entry.Stop = res.usage, "compaction"
	x.entry.Answer = marshal(object{
		"id", res.id, "object", "response.compaction", "created_at", res.created, "output", out, "usage", res.used(),
	})
	return x.deliver(outgoing{whole: x.entry.Answer, found: found}, f)
}
