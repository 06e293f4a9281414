package summary

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
)

// Told is what of a model's text about messages can be quoted.
type Told struct {
	Text     string  // its unchanged lines, without those that cannot stay
	Kept     float64 // share of its lines that can
	Familiar float64 // share of its words that are words of the messages
}

// leastName is the length from which a name that the messages do not have counts as invented.
const leastName = 6

// Tell looks at what a model wrote about messages. Lines that name what stands nowhere in the messages cannot
// be quoted, nor can those that order the reader to do something: rules are said in the words of those who
// gave them.
func Tell(ctx context.Context, text string, ms []decant.Message) Told {
	source := told(ctx, ms)
	known, words := fact.IndexOf(source), map[string]bool{}
	eachWord(source, func(w string) { words[w] = true })
	all, familiar := 0, 0
	eachWord(text, func(w string) {
		if all++; words[w] {
			familiar++
		}
	})
	ls := strings.SplitAfter(text, "\n")
	bad, quoted, kept := map[int]bool{}, 0, 0
	for _, p := range passages(text) {
		if quoted++; !fact.Order(p.text) && !invents(p.text, known) {
			kept++
			continue
		}
		for i := p.first; i <= p.last; i++ {
			bad[i] = true
		}
	}
	out := Told{Kept: share(kept, quoted), Familiar: share(familiar, all)}
	i := -1
	out.Text = strings.TrimSpace(strings.Join(slices.DeleteFunc(ls, func(string) bool { i++; return bad[i] }), ""))
	return out
}

func share(n, all int) float64 { return float64(n) / float64(max(1, all)) }

// told returns all that messages say.
func told(ctx context.Context, ms []decant.Message) string {
	var w strings.Builder
	for i := range ms {
		for k := range ms[i].Blocks {
			if b := &ms[i].Blocks[k]; b.Content != nil && b.Kind != decant.KindThinking && ctx.Err() == nil {
				w.WriteString(b.Name + "\n" + b.Text() + "\n")
			}
		}
	}
	return w.String()
}

// invents reports whether a text has a name that is not known.
func invents(text string, known *fact.Index) bool {
	for _, f := range fact.Scan(nil, text) {
		name := text[f.Start:f.End]
		if f.Inner || f.Kind == decant.FactNumber || len(name) < leastName || known.Contains(name) {
			continue
		}
		if base := path.Base(name); f.Kind == decant.FactPath && len(base) >= leastName && base != name &&
			known.Contains(base) {
			continue
		}
		return true
	}
	return false
}

// eachWord calls see with the words of a text, in small letters, and with the characters of scripts without
// blanks two by two.
func eachWord(text string, see func(string)) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case letter(c):
			j, _ := wordEnd(text, i)
			if j-i >= 4 && standsAlone(text, i, j) {
				see(strings.ToLower(text[i:j]))
			}
			i = j
		case c >= 0xe3 && c < 0xee && i+6 <= len(text):
			if text[i+3] >= 0xe3 && text[i+3] < 0xee {
				see(text[i : i+6])
			}
			i += 3
		default:
			i++
		}
	}
}
