package summary

import (
	"context"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/tool"
	"github.com/decantdev/decant/internal/typed"
)

// A reader takes messages apart.
type reader struct {
	*source
	calls map[string]*act // by call id, newest
	names map[string]bool // of tools whose results name an exit status that is not 0
	shift int             // added to the numbers of messages: a record in front of them replaces many
}

// read takes ms apart.
func read(ctx context.Context, ms []decant.Message) *source {
	r := reader{source: &source{ctx: ctx, messages: len(ms)}, calls: map[string]*act{}, names: map[string]bool{}}
	for i := range ms {
		m := ms[i]
		if m.Number > 0 {
			m.Number += r.shift
			if r.from == 0 {
				r.from = m.Number
			}
			r.to = m.Number
		}
		for k := range m.Blocks {
			r.check()
			r.block(&m, i, &m.Blocks[k])
		}
	}
	r.close()
	return r.source
}

func (r *reader) block(m *decant.Message, i int, b *decant.Block) {
	switch b.Kind {
	case decant.KindText:
		r.said(m, i, b)
	case decant.KindUse:
		r.use(m, i, b)
	case decant.KindResult:
		r.returned(m, i, b)
	case decant.KindOpaque:
		if m.Summary() == b {
			r.said(m, i, b)
		}
	}
}

// earlier reports whether a block is a summary by the client, or by its provider, which may have answered behind it.
func earlier(m *decant.Message, b *decant.Block) bool {
	return m.Compaction && (b.Kind == decant.KindOpaque || m.Blocks[0].Kind != decant.KindOpaque)
}

// continued is how Claude Code begins the summary that it puts in place of earlier messages.
const continued = "This session is being continued from a previous conversation"

// said takes in a text block.
func (r *reader) said(m *decant.Message, i int, b *decant.Block) {
	body := secret.Mask(b.Text())
	r.size += len(body)
	t := &text{index: i, number: m.Number, body: body, handle: decant.HandleOf(b.Hash())}
	if b.Author == decant.AuthorDecant && r.fold(i, body) {
		r.shift += max(0, r.to-m.Number)
		return
	}
	if b.Author != decant.AuthorModel {
		r.acts = append(r.acts, r.handles.hear(body, i, m.Number)...)
	}
	switch {
	case earlier(m, b) || b.Author == decant.AuthorDecant ||
		m.Role == decant.RoleUser && strings.HasPrefix(body, continued):
		t.author = byEarlier
	case b.Author == decant.AuthorUser:
		t.author = byUser
		words, pasted := apartFromRecord(typed.Words("", body))
		if pasted != "" {
			r.texts = append(r.texts, &text{author: byClient, index: i, number: m.Number, body: pasted, handle: t.handle})
		}
		if t.body = strings.TrimSpace(words); t.body == "" {
			return
		}
	case b.Author == decant.AuthorModel:
		t.author, r.model = byModel, true
		t.body, _, _ = strings.Cut(body, mark) // what it quotes of a record, or of what looks like one, it does not say
	default:
		t.author = byClient
	}
	r.texts = append(r.texts, t)
}

// apartFromRecord returns what a user wrote and, apart from it, what looks like a record of Decant's and was pasted:
// from its first line to the next empty one. Nobody types such a thing, so nothing in it is what the user says.
func apartFromRecord(body string) (words, pasted string) {
	at := strings.Index(body, mark)
	if at < 0 || at > 0 && body[at-1] != '\n' {
		return body, ""
	}
	rest := ""
	pasted, rest, _ = strings.Cut(body[at:], "\n\n")
	return body[:at] + rest, pasted
}

// use takes in a call.
func (r *reader) use(m *decant.Message, i int, b *decant.Block) {
	args := secret.Mask(b.Text())
	r.size += len(args)
	r.model = true
	a := &act{Call: tool.Parse(b.Name, args), index: i, number: m.Number, values: values(args)}
	r.calls[b.CallID] = a
	r.acts = append(r.acts, a)
}

// returned takes in what a call returned.
func (r *reader) returned(m *decant.Message, i int, b *decant.Block) {
	body := secret.Mask(b.Text())
	r.size += len(body)
	a := r.calls[b.CallID]
	if a == nil { // the call precedes the stretch
		a = &act{
			Call: tool.Call{Name: b.Name, Class: tool.ClassOf(b.Name), Effect: tool.ClassOf(b.Name)}, index: i,
			number: m.Number,
		}
		r.acts = append(r.acts, a)
	}
	a.done = true
	a.outcome = tool.OutcomeOf(a.Call, body, b.Error)
	a.failed = b.Error || a.outcome.Bad()
	if a.outcome.HasExit && a.outcome.Exit != 0 {
		r.names[a.Name] = true
	}
	a.result = tool.Body(body)
	a.effect = a.outcome.Acted
	a.raw = body
	r.handles.follow(a)
	r.handles.open(a, decant.HandleOf(b.Hash()))
	r.answers(m, i, b, a, body)
}

// close finds the model's last words of each turn, and takes the silence of a tool that names other exit statuses for 0.
func (r *reader) close() {
	for _, a := range r.acts {
		if a.outcome.Silent && r.names[a.Name] {
			a.outcome.Status = tool.OK
		}
	}
	var last *text
	act := 0
	for _, t := range r.texts {
		for act < len(r.acts) && r.acts[act].index < t.index {
			act++
			last = nil // it went on working
		}
		if t.author == byUser && last != nil {
			last.closing = true
		}
		if last = nil; t.author == byModel {
			last = t
		}
	}
	if last != nil && (len(r.acts) == 0 || r.acts[len(r.acts)-1].index < last.index) {
		last.closing = true
	}
}

// values returns the strings and numbers in args, a JSON text, in order.
func values(args string) []value {
	src := []byte(args)
	if jsonspan.Validate(src) != nil {
		return []value{{text: args}} // a tool that takes bare text
	}
	var out []value
	s := jsonspan.Scan(src, 0)
	leaves(&s, src, "", &out)
	return out
}

func leaves(s *jsonspan.Scanner, src []byte, name string, out *[]value) {
	switch s.Kind() {
	case '{':
		for s.Open(); s.Next(); {
			n := string(s.Name())
			leaves(s, src, n, out)
		}
	case '[':
		for s.Open(); s.Next(); {
			leaves(s, src, name, out)
		}
	case '"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		text := jsonspan.Unquote(s.Skip().Of(src))
		*out = append(*out, value{name: name, text: text, old: strings.HasPrefix(strings.ToLower(name), "old")})
	default:
		s.Skip()
	}
}
