package summarize

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/token"
)

// An offer is a way to ask, as it is billed: tokens that are read from the provider's cache, others of the prompt, and those
// of the answer.
type offer struct {
	model                 token.Model
	cached, fresh, answer int
}

// price returns what an offer costs in dollars, and whether that is known.
func (o offer) price(at time.Time) (usd float64, known bool) {
	u := decant.Usage{CacheRead: o.cached, Input: o.fresh, Output: o.answer}
	return cost.Of(o.model, u, cost.Terms{At: at}).Total()
}

// cheaper reports whether an offer is known to cost less than another.
func (o offer) cheaper(than offer, at time.Time) bool {
	a, known := o.price(at)
	b, both := than.price(at)
	return known && both && a < b
}

// A ride is a call that goes on from what the conversation's provider has in its cache.
type ride struct {
	model  token.Model
	prompt string // appended to what was sent
	prefix int    // tokens of what was sent
	output int    // tokens that are asked for
	brief  brief
}

// ride returns the call on the cached prompt where there is one, it fits, and it costs less than the plain call. It says in
// a note what was chosen, where there was a choice.
func (t *task) ride() (r *ride, note string) {
	sent := t.in.Sent
	if sent == nil {
		return nil, ""
	}
	r, err := t.onto(sent)
	if err != nil {
		return nil, "the record is not asked for on the cached prompt: " + err.Error()
	}
	fresh := token.For(r.model).Count(r.prompt)
	on := offer{r.model, r.prefix, fresh, t.brief.room}
	plain := offer{t.model, 0, t.size(0, len(t.entries)) + t.brief.size(t.count), t.brief.room}
	now := t.opts.Now()
	a, _ := on.price(now)
	b, _ := plain.price(now)
	switch {
	case !t.sizes.follows(r.prefix, fresh, r.output, r.model.Window):
		return nil, "the record is not asked for on the cached prompt: there is no room for it"
	case on.cheaper(plain, now):
		return r, fmt.Sprintf("the record is asked for on the cached prompt of %s: $%.4f, against $%.4f by %s", r.model.ID, a, b, t.model.ID)
	}
	return nil, fmt.Sprintf("the record is asked for by %s: $%.4f, against $%.4f on the cached prompt of %s", t.model.ID, b, a, r.model.ID)
}

// onto makes a ride on a request.
func (t *task) onto(sent []byte) (*ride, error) {
	doc, err := anthropic.Dialect{}.Parse(sent)
	if err != nil {
		return nil, errors.New("it is no request of the Messages API")
	}
	id := jsonspan.MemberText(sent, "model")
	model, known := t.opts.Catalog.Lookup(id)
	if held, _ := t.opts.Catalog.Lookup(t.in.Model.ID); !known || held.ID != model.ID {
		return nil, errors.New("it is another model's")
	}
	model.ID = id
	r := &ride{model: model, brief: t.brief, prefix: token.For(model).Conversation(doc.Conversation).Total()}
	anchors := t.anchors()
	r.brief.marked(anchors)
	r.prompt = r.brief.appended(anchors)
	body, err := t.request(&question{brief: &r.brief, model: model, sent: sent}, r.prompt)
	if err != nil {
		return nil, err
	}
	r.output = anthropic.MaxOutput(body.Body)
	return r, nil
}

// anchorLength is how many characters of a message stand beside its number.
const anchorLength = 48

// anchors lists the numbers of the messages with how each begins: a request says no numbers.
func (t *task) anchors() string {
	var w strings.Builder
	for i := range t.entries {
		if len(t.entries[i].parts) == 0 || t.entries[i].parts[0].quoted && t.entries[i].role != decant.RoleAssistant {
			continue
		}
		p := &t.entries[i].parts[0]
		begins := strings.Join(strings.Fields(p.body), " ")
		if utf8.RuneCountInString(begins) > anchorLength {
			begins = string([]rune(begins)[:anchorLength])
		}
		w.WriteString(p.label + ": " + begins + "\n")
	}
	return w.String()
}

// appended returns what is said at the end of a conversation that the model has before it.
func (b *brief) appended(anchors string) string {
	var w strings.Builder
	w.WriteString("This is a note of the client program; the user has not written it. The work pauses here. Answer this note only, with text; call no tool.\n\n" + b.system())
	fmt.Fprintf(&w, "\nThe conversation is what stands above, up to m%d. What comes after m%d stays as it is: say nothing of it. The messages have these numbers:\n", b.to, b.to)
	w.WriteString(b.quoted("messages", anchors))
	b.beside(&w)
	w.WriteString("\nWrite the record of the messages up to this number now.\n")
	return w.String()
}

// riding asks on the cached prompt.
func (t *task) riding(ctx context.Context, r *ride) (string, error) {
	q := &question{brief: &r.brief, model: r.model, prompt: r.prompt, sent: t.in.Sent, source: t.size(0, len(t.entries))}
	return t.write(ctx, q)
}
