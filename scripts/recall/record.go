package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/ruler"
	"github.com/decantdev/decant/internal/summary"
	"github.com/decantdev/decant/token"
)

// A legibility is what records say of what an agent used next, and how they can be read.
type legibility struct {
	records, asked               int
	held, grounded, between      int // strings: there, with the words beside them, with the lines before and behind
	lines, alone, short, severed int // of the quotes: all, without either neighbour, of three words or fewer, both
}

func (l *legibility) String() string {
	of := func(n, all int) float64 { return float64(n) / float64(max(1, all)) }
	return fmt.Sprintf("%d records, %d strings: there %.3f, with their words %.3f, between their lines %.3f; %d lines quoted: alone %.3f, three words or fewer %.3f, both %.3f",
		l.records, l.asked, of(l.held, l.asked), of(l.grounded, l.asked), of(l.between, l.asked),
		l.lines, of(l.alone, l.lines), of(l.short, l.lines), of(l.severed, l.lines))
}

// leastCut is how many tokens stand before a place at which a record is made.
const leastCut = 15_000

// measureRecords makes records of sessions, cut at the half and at three quarters of their tokens, as large as a share of what
// they cover, and asks for the strings that the model wrote in the next messages without having been shown them again.
func measureRecords(files []string, share float64) (*legibility, error) {
	out := &legibility{}
	for _, file := range files {
		c, err := session(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		sizes, all := make([]int, len(c.Messages)), 0
		for i := range c.Messages {
			sizes[i] = token.For(token.Model{}).Message(&c.Messages[i])
			all += sizes[i]
		}
		for _, part := range []float64{.5, .75} {
			at, before := 0, 0
			for at < len(sizes) && float64(before) < part*float64(all) {
				before += sizes[at]
				at++
			}
			if before < leastCut || at+6 > len(sizes) {
				continue
			}
			s, err := summary.Extract(context.Background(), c.Messages[:at], summary.Options{Budget: int(share * float64(before))})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			out.records++
			out.ask(c.Messages[:at], c.Messages[at:min(len(sizes), at+reach)], s.Text)
		}
	}
	return out, nil
}

// ask asks a record of old messages for what those that follow use.
func (l *legibility) ask(old, next []decant.Message, record string) {
	o, r := linesOf(textsOf(old, false)), linesOf([]string{record})
	text := strings.Join(textsOf(old, false), "\n")
	was, shown := atomsOf(text), map[string]bool{}
	for i := range next {
		model := next[i].Role == decant.RoleAssistant
		for _, t := range textsOf(next[i:i+1], model) {
			for s := range atomsOf(t) {
				if model && was[s] && !shown[s] {
					l.string(s, text, record, o, r)
				}
				shown[s] = true
			}
		}
	}
	quotes := record
	for _, h := range []string{"\n# Quotes\n", "\n# 摘录\n"} {
		if _, q, ok := strings.Cut(quotes, h); ok {
			quotes, _, _ = strings.Cut(q, "\n# ")
		}
	}
	for ln := range strings.Lines(quotes) {
		if ln = clean(ln); strings.HasPrefix(ln, "…") || !saying(ln) || !o.has(ln) {
			continue
		}
		l.lines++
		lone, few := !o.neighbours(ln, r, false), len(strings.Fields(ln)) <= 3
		l.alone, l.short, l.severed = l.alone+one(lone), l.short+one(few), l.severed+one(lone && few)
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// string asks for one string.
func (l *legibility) string(s, old, record string, o, r lineIndex) {
	l.asked++
	if !strings.Contains(record, s) {
		return
	}
	l.held++
	l.grounded += one(ruler.Grounded(ruler.Contexts(old, s, ruler.Most), ruler.Contexts(record, s, ruler.Most)))
	for ln := range strings.Lines(record) {
		if ln = clean(ln); strings.Contains(ln, s) && o.neighbours(ln, r, true) {
			l.between++
			return
		}
	}
}

// A lineIndex has the lines of texts, each with those before and behind it.
type lineIndex map[string]map[[2]string]bool

func linesOf(texts []string) lineIndex {
	x := lineIndex{}
	for _, t := range texts {
		before, at := "", ""
		put := func(next string) {
			if at != "" {
				if x[at] == nil {
					x[at] = map[[2]string]bool{}
				}
				x[at][[2]string{before, next}] = true
			}
			before, at = at, next
		}
		for ln := range strings.Lines(t) {
			if ln = clean(ln); saying(ln) || ln == "…" {
				put(ln)
			}
		}
		put("")
	}
	return x
}

func (x lineIndex) has(ln string) bool { return x[ln] != nil }

// neighbours reports whether a line of x has in another text the neighbours that it has in x: both, as far as it has any, or
// one of them.
func (x lineIndex) neighbours(ln string, in lineIndex, both bool) bool {
	for was := range x[ln] {
		for is := range in[ln] {
			before, behind := was[0] == "" || is[0] == was[0], was[1] == "" || is[1] == was[1]
			if before && behind || !both && (before || behind) {
				return true
			}
		}
	}
	return false
}

var numberBefore = regexp.MustCompile(`^(\s*\d+(→|\t)|m\d+ )`)

// clean returns a line without its indent and its number.
func clean(ln string) string { return strings.TrimSpace(numberBefore.ReplaceAllString(ln, "")) }

// saying reports whether a line says anything: a bracket alone does not.
func saying(ln string) bool {
	return len(ln) >= 4 && !strings.HasPrefix(ln, "```") && strings.ContainsFunc(ln, func(r rune) bool {
		return r >= 0x80 || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
	})
}

// textsOf returns what messages say: of calls the values of their arguments.
func textsOf(ms []decant.Message, authored bool) (out []string) {
	for i := range ms {
		for k := range ms[i].Blocks {
			switch b := &ms[i].Blocks[k]; {
			case b.Content == nil || b.Kind == decant.KindThinking || b.Kind == decant.KindOpaque:
			case b.Kind == decant.KindUse:
				out = append(out, ruler.Values(b.Text()))
			case b.Kind == decant.KindText || !authored:
				out = append(out, b.Text())
			}
		}
	}
	return out
}

// atomsOf returns the strings of a text that must be exact.
func atomsOf(text string) map[string]bool {
	out := map[string]bool{}
	ruler.Each(text, func(s string, k ruler.Kind) {
		if len(s) > 3 {
			out[s] = true
		}
	})
	return out
}
