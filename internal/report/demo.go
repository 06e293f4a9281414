package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
)

// A Demo tells the story of a session that is played with and without Decant, for somebody who has
// never heard of it. Its methods write one part each, in their order.
type Demo struct {
	p        printer
	requests int
	window   int
	colour   bool
}

// demoWidth is how wide the text of a demo is, in columns.
const demoWidth = 80

// NewDemo returns a demo that writes to w, with colour in bold titles.
func NewDemo(w io.Writer, colour bool) *Demo {
	d := &Demo{p: printer{Writer: w, width: demoWidth}, colour: colour}
	if n := d.p.columns(); n > 0 {
		d.p.width = min(n, demoWidth)
	}
	return d
}

// Begin says what is going to happen.
func (d *Demo) Begin(requests, window int) {
	d.requests, d.window = requests, window
	d.p.line(`Decant demo: one real session of a coding agent, played again.

Nothing leaves this machine: a strict stand-in for the model's API gives the
recorded answers; no network, no key. Decant itself is the real one.

An agent sends everything that was said before with every request, until the
model's window, which is all that it can read at once, is full. To get there
soon, the window is %s tokens here; a token is about four characters.`, Thousands(window))
	d.title("Without Decant")
}

func (d *Demo) title(text string) {
	if d.colour {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	d.p.styled("\n" + text + "\n")
}

// Refused says how the session ends without Decant.
func (d *Demo) Refused(request int, message string) {
	d.p.line("  request %d of %d is refused, and the session is over:", request, d.requests)
	d.p.line("    \"%s\"", cut(message, d.p.width-6))
}

// With begins the part with Decant.
func (d *Demo) With() { d.title("With Decant") }

// Pour says what a rewrite of the older history left out. The request before it had so many tokens,
// the one that it was made for has so many.
func (d *Demo) Pour(request, before, after int, ds []decant.Decision) {
	d.p.line("  request %d of %d: the window is filling up, older history is made smaller", request, d.requests)
	var rows [][]string
	var c Compaction
	for i := range ds {
		if ds[i].Before+ds[i].After > 0 {
			c.step(ds[i])
		}
	}
	for _, s := range c.Steps {
		rows = append(rows, []string{"   ", stepText(s, ds), Thousands(s.Before), "->", Thousands(s.After), "tokens"})
	}
	d.p.table(rows, "llrrrl")
	for i := range ds {
		if cp := ds[i].Checkpoint; cp != nil {
			d.p.line("    of the names and numbers in them, %s still stand there with their context", portion(cp.Score))
		}
	}
	d.p.line("    the last request had %s tokens, this one has %s\n", Thousands(before), Thousands(after))
}

// stepText says what one kind of reduction did, without jargon.
func stepText(s step, ds []decant.Decision) string {
	switch s.Reduction {
	case decant.ReductionSuperseded:
		return fmt.Sprintf("%d file reads that are out of date: one line each", s.Decisions)
	case decant.ReductionDuplicate:
		return fmt.Sprintf("%d results that are there twice: one line each", s.Decisions)
	case decant.ReductionStub:
		return fmt.Sprintf("%d old tool results: one line each", s.Decisions)
	case decant.ReductionArguments:
		return fmt.Sprintf("%d old edits: shortened", s.Decisions)
	case decant.ReductionTrim:
		return fmt.Sprintf("%d long results: the middle left out", s.Decisions)
	case decant.ReductionTerminal:
		return fmt.Sprintf("%d outputs: colours left out", s.Decisions)
	}
	for i := range ds {
		if cp := ds[i].Checkpoint; cp != nil {
			return fmt.Sprintf("%d messages, m%d to m%d: one summary", cp.Messages, cp.From, cp.To)
		}
	}
	return fmt.Sprintf("%d of %s", s.Decisions, s.Reduction)
}

// A Comparison is what a session took with and without Decant.
type Comparison struct {
	Model   string
	Window  int     // of the model
	Full    []int   // tokens of each request without Decant
	Sent    []int   // and with it
	FullUSD float64 // price of all requests without Decant, in the model's own window
	SentUSD float64
	Priced  bool
}

// Compare draws how requests grew, and sums them up.
func (d *Demo) Compare(c Comparison) {
	d.p.line("  request %d of %d is answered: the session is complete", d.requests, d.requests)
	top := 0
	for _, n := range c.Full {
		top = max(top, n)
	}
	d.title("Tokens in each request, from the first to the last")
	d.p.line("  sent by the agent    %s %s", spark(c.Full, top), Thousands(c.Full[len(c.Full)-1]))
	d.p.line("  read by the model    %s %s", spark(c.Sent, top), Thousands(c.Sent[len(c.Sent)-1]))
	full, sent := sum(c.Full), sum(c.Sent)
	rows := [][]string{
		{"", "", "without", "with Decant", ""},
		{"", "tokens in all requests", Thousands(full), Thousands(sent), change(float64(sent), float64(full))},
	}
	if c.Priced {
		rows = append(rows, []string{"", "price of the session", fmt.Sprintf("$%.2f", c.FullUSD), fmt.Sprintf("$%.2f", c.SentUSD), change(c.SentUSD, c.FullUSD)})
	}
	d.p.line("")
	d.p.table(rows, "llrrr")
	d.p.line(`
  "without" is %s in its own window of %s tokens,
  where nothing is refused. The provider's prompt cache, which makes repeating
  cheap, is counted in both prices. Both were really sent here. "decant report"
  compares only those requests that fit into the small window without Decant.`, c.Model, Thousands(c.Window))
}

func sum(ns []int) (n int) {
	for _, v := range ns {
		n += v
	}
	return n
}

// change says by how much part differs from whole: "-39 %".
func change(part, whole float64) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%+.0f%%", math.Round(100*(part/whole-1)))
}

// spark draws numbers as one row of bars, top being the highest.
func spark(ns []int, top int) string {
	var b strings.Builder
	for _, n := range ns {
		b.WriteRune(eighths[min(8, max(1, n*8/max(1, top)))])
	}
	return b.String()
}

// Checkpoint shows what the model reads in place of old messages.
func (d *Demo) Checkpoint(cp *decant.Checkpoint) {
	d.title(fmt.Sprintf("What a summary holds: it stands in place of m%d to m%d, %s messages", cp.From, cp.To, Thousands(cp.Messages)))
	d.quote(sections(cp.Summary, 3), 60)
	d.p.line("\n  The facts in it with the most weight, and which message said them last:")
	rows := [][]string{}
	for i, f := range heaviest(cp.Facts) {
		if i == 6 {
			break
		}
		rows = append(rows, []string{"   ", string(f.Kind), fmt.Sprintf("m%d", f.Message), cut(plain(f.Text), 50)})
	}
	d.p.table(rows, "llrl")
}

// sections returns a text with at most so many lines below each heading, and how many there are more.
func sections(text string, most int) string {
	var out []string
	n := 0
	more := func() {
		if n > most {
			out = append(out, fmt.Sprintf("  ... %s", plural(n-most, "more line")))
		}
		n = 0
	}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		if strings.HasPrefix(l, "# ") {
			more()
			out = append(out, l)
			continue
		}
		if n++; n <= most {
			out = append(out, l)
		}
	}
	more()
	return strings.Join(out, "\n")
}

// quote prints the first lines of a text, each cut to the width, and says how many more there are.
func (d *Demo) quote(text string, most int) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for _, l := range lines[:min(most, len(lines))] {
		d.p.line("  | %s", cut(plain(l), d.p.width-4))
	}
	if n := len(lines) - most; n > 0 {
		d.p.line("  | ... and %s", plural(n, "more line"))
	}
}

// wrap breaks a text into lines of at most n characters, between words where that is possible.
func wrap(text string, n int) string {
	var b strings.Builder
	col := 0
	for i, word := range strings.Split(text, " ") {
		size := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case col+1+size > n:
			b.WriteByte('\n')
			col = 0
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += size
	}
	return b.String()
}

// Original shows a message with a tool result, which is only in a summary, as "decant show" prints it,
// and says whether it is exactly what the tool returned.
func (d *Demo) Original(number, tokens int, text string, same bool) {
	d.title("Nothing is lost: every original can be read again")
	d.p.line("  The model no longer reads m%d, a tool result of %s tokens, but the database\n  has it:", number, Thousands(tokens))
	d.p.line("\n  $ decant show last m%d", number)
	d.quote(text, 6)
	answer := "yes"
	if !same {
		answer = "NO"
	}
	d.p.line("  byte for byte what the tool returned: %s", answer)
}

// Undo shows what taking back the newest rewrite does and costs.
func (d *Demo) Undo(plan *decant.Plan, before, after int) {
	d.title("Nothing is final: what was left out can be sent again, at a price named first")
	d.p.line("  $ decant undo last")
	d.p.line("    messages that the model sees: %s before, %s after", Thousands(before), Thousands(after))
	d.p.line("    tokens of the next request: %s before, %s after", Thousands(plan.Before.Total()), Thousands(plan.After.Total()))
	d.p.line("    price: $%.2f once, $%.3f more with every request from then on", plan.Price.CostUSD, -plan.Price.SaveUSD)
	d.p.line("    nothing more is left out until you release it, or the window is full")
}

// End says where to go from here.
func (d *Demo) End(keep string, window int) error {
	d.title("Now with your own")
	d.p.line("  decant inspect FILE   where the tokens of your session went")
	d.p.line("  decant compact FILE   make it smaller, and see what survives")
	d.p.line("  decant run -- claude  run an agent through Decant")
	if keep != "" {
		d.p.line("\n  The database is %s. Try", keep)
		d.p.line("    decant show last --db %s", keep)
		d.p.line("    decant pour last --db %s --window %d --dry-run", keep, window)
	}
	return d.p.err
}
