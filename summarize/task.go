package summarize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/internal/language"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/summary"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// A task is one record that is asked for.
type task struct {
	opts    *Options
	in      provider.SummaryInput
	model   token.Model
	count   *token.Estimator
	counter decant.Counter // of the plan
	sizes   sizes
	brief   brief
	entries []entry
	groups  []group
	gaps    []decant.Gap
	known   *known
	notes   []string // of what was chosen, for people
	spent   spent
}

// spent is what the calls of a task have cost.
type spent struct {
	sync.Mutex
	calls int
	usd   float64
}

// besideRoom is how many tokens of the extractive record are made to find what stands beside a model's.
const besideRoom = 3000

// task makes everything ready that is asked about.
func (s *Summarizer) task(ctx context.Context, in provider.SummaryInput) (*task, error) {
	id := s.opts.Model(in.Model, in.Form.Model)
	if id == "" || len(in.Messages) == 0 || in.MaxTokens < 1 {
		return nil, fmt.Errorf("no model is to summarise %s with %d tokens: %w", in.Model.ID, in.MaxTokens, decant.ErrSummary)
	}
	model, _ := s.opts.Catalog.Lookup(id)
	model.ID = id
	t := &task{opts: &s.opts, in: in, model: model, count: token.For(model), counter: in.Counter, sizes: sizes(in.Form.Chunk.Settled())}
	if t.counter == nil {
		t.counter = t.count
	}
	t.entries, t.groups = entries(in.Messages, in.Form), groups(in.Messages)
	t.weigh()
	t.gaps = t.sizes.leaveOut(t.entries, t.groups, model.Window)
	t.weigh()
	if err := t.instruct(ctx); err != nil {
		return nil, err
	}
	t.known = newKnown(t.everything(), t.entries)
	return t, ctx.Err()
}

// weigh counts the entries.
func (t *task) weigh() {
	for i := range t.entries {
		t.entries[i].tokens = t.count.Count(t.entries[i].text())
	}
}

// instruct writes the brief.
func (t *task) instruct(ctx context.Context) error {
	ms := t.in.Messages
	var said strings.Builder
	for i := range ms {
		if ms[i].UserWords() {
			said.WriteString(ms[i].Text(decant.KindText) + "\n")
		}
	}
	b := brief{from: ms[0].Number, to: ms[len(ms)-1].Number, facts: t.in.Facts, wishes: wishes(cmp.Or(t.in.Instructions, t.in.Form.Instructions), t.in.Focus)}
	chinese, err := summary.Chinese(ctx, ms)
	if err != nil {
		return err
	}
	if b.tongue = language.Of(said.String()); chinese {
		b.tongue = "Chinese"
	}
	b.headings = headings(b.tongue)
	b.room = t.in.MaxTokens
	b.rules, b.files, err = summary.Beside(ctx, ms, summary.Options{Budget: besideRoom, Counter: t.count, NoResults: true})
	if err != nil && !errors.Is(err, decant.ErrNothing) && !errors.Is(err, decant.ErrSummary) {
		return err
	}
	b.rules, b.files = secret.Mask(b.rules), secret.Mask(b.files)
	t.brief = b
	return nil
}

// everything returns all that the messages say, and what the brief does: what an answer may name.
func (t *task) everything() string {
	var w strings.Builder
	for i := range t.in.Messages {
		for k := range t.in.Messages[i].Blocks {
			b := &t.in.Messages[i].Blocks[k]
			if b.Kind == decant.KindThinking || b.Kind == decant.KindOpaque {
				continue
			}
			text := secret.Mask(b.Text())
			w.WriteString(b.Name + "\n" + text + "\n")
			if b.Kind == decant.KindUse && strings.Contains(text, `\`) {
				w.WriteString(strings.NewReplacer(`\\`, `\`, `\/`, `/`, `\"`, `"`, `\n`, "\n").Replace(text) + "\n")
			}
		}
	}
	for _, f := range t.in.Facts {
		w.WriteString(clean(f.Text) + "\n")
	}
	return w.String()
}

// text returns the entries [start, end) as they are sent.
func (t *task) text(start, end int) string {
	var w strings.Builder
	for i := start; i < end; i++ {
		w.WriteString(t.entries[i].text())
	}
	return w.String()
}

// size returns the tokens of the entries [start, end).
func (t *task) size(start, end int) (n int) {
	for i := start; i < end; i++ {
		n += t.entries[i].tokens
	}
	return n
}

// size returns the tokens of what a model is told beside the messages.
func (b *brief) size(c decant.Counter) int { return c.Count(b.system()) + c.Count(b.prompt("")) }

// output returns how many tokens are asked for when a record may have room.
func (t *task) output(room int) int { return answerRoom(room, t.model.MaxOutput) }

// A question is what is asked of a model to get a record.
type question struct {
	brief  *brief
	model  token.Model // that is asked
	prompt string
	sent   []byte // the request that the prompt is appended to, nil: it stands by itself
	source int    // tokens of the messages
	once   bool   // an answer that can be used is not corrected
}

// request returns the call that asks a question with a prompt.
func (t *task) request(q *question, prompt string) (*provider.Request, error) {
	wait := provider.Backoff(t.in.Form.Retry)
	if q.sent == nil {
		most := answerRoom(q.brief.room, q.model.MaxOutput)
		return &provider.Request{Model: q.model.ID, System: q.brief.system(), Prompt: prompt, MaxTokens: most, Cool: true, Backoff: wait}, nil
	}
	body, err := anthropic.AppendTurn(q.sent, prompt)
	if err == nil {
		body = anthropic.LimitOutput(body, maxAnswer)
	}
	return &provider.Request{Model: q.model.ID, Body: body, Betas: anthropic.BetasOf(body), Backoff: wait}, err
}

// one asks for the record of everything in one call.
func (t *task) one(ctx context.Context) (string, error) {
	messages := t.text(0, len(t.entries))
	b := t.brief
	b.marked(messages)
	return t.write(ctx, &question{brief: &b, model: t.model, prompt: b.prompt(messages), source: t.size(0, len(t.entries))})
}

// write asks for a record, and once more where it is not good enough. Of two that can be used the better one counts.
func (t *task) write(ctx context.Context, q *question) (string, error) {
	first, err := t.answer(ctx, q, q.prompt)
	if err != nil {
		return "", err
	}
	if first.fatal != "" || len(first.wrong) == 0 || q.once && first.bad == "" {
		return first.record()
	}
	second, err := t.answer(ctx, q, q.brief.corrected(q.prompt, shortened(first.said), first.wrong))
	switch {
	case err != nil && first.bad != "":
		return "", err
	case err == nil && second.better(first):
		return second.record()
	}
	return first.record()
}

// answer asks a question, and looks at the answer.
func (t *task) answer(ctx context.Context, q *question, prompt string) (*finding, error) {
	r, err := t.request(q, prompt)
	if err != nil {
		return nil, err
	}
	a, err := t.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	c := &checker{brief: q.brief, counter: t.counter, known: t.known, source: q.source}
	f := c.look(ctx, a)
	if f.said = a.Text; q.sent != nil && a.Calls > 0 {
		f.fatal = "the model calls a tool" // whatever it is told, it has its tools
	}
	return &f, nil
}

// maxShown is how many characters of an answer are shown to the model again.
const maxShown = 16_000

// shortened returns what is shown of an answer.
func shortened(answer string) string {
	r := []rune(answer)
	if len(r) <= maxShown {
		return answer
	}
	return string(r[:maxShown]) + "\n[cut off here]"
}

// record returns the text of a finding, or why it is none.
func (f *finding) record() (string, error) {
	if f.fatal != "" {
		return "", errUnusable(f.fatal)
	}
	if f.bad != "" {
		return "", errUnusable(f.bad)
	}
	return f.text, nil
}

// better reports whether a finding is better than an earlier one.
func (f *finding) better(than *finding) bool {
	usable := f.fatal == "" && f.bad == ""
	if than.bad != "" || !usable {
		return usable || than.bad != ""
	}
	return len(f.wrong) <= len(than.wrong)
}

// ask makes one call, and notes what it cost.
func (t *task) ask(ctx context.Context, r *provider.Request) (*provider.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cause := provider.Cause{Conversation: t.in.Conversation, Upstream: t.in.Upstream, Purpose: provider.ForRecord}
	a, err := t.opts.Asker.Ask(ctx, cause, r)
	if err == nil && a == nil {
		err = errors.New("there is no answer")
	}
	t.spent.Lock()
	defer t.spent.Unlock()
	t.spent.calls++
	if a != nil {
		m, known := t.opts.Catalog.Lookup(cmp.Or(a.Model, r.Model))
		if usd, _ := cost.Of(m, a.Usage, cost.Terms{At: t.opts.Now()}).Total(); known {
			t.spent.usd += usd
		}
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s for a record: %w", r.Model, err)
	}
	return a, nil
}
