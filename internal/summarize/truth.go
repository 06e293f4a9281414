package summarize

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/tool"
)

// untrue says why a line of a section cannot stay in a record, to the model that wrote it; empty: it can.
func (c *checker) untrue(section int, line string) string {
	switch {
	case c.recital(line):
		return "This repeats your instructions: " + line
	case c.raw(line):
		return "This is raw output, which is quoted beside the record. Say what was found in it: " + line
	}
	if r := c.known.contradicts(line); r != nil {
		return fmt.Sprintf("The result in m%d says otherwise: %s", r.message, line)
	}
	if n, ok := c.known.counted(line); !ok {
		return fmt.Sprintf("No result counts %s: %s", n, line)
	}
	if open := len(c.brief.headings) - 1; section == open {
		if r := c.known.settles(line); r != nil {
			return fmt.Sprintf("m%d has settled this, so it is not open: %s", r.message, line)
		}
	}
	return ""
}

// A result is what a call returned, as far as it says how the call ended.
type result struct {
	call, message  int // numbers of the messages of the call, 0: not known, and of the result
	command        string
	ok, bad        bool // neither: it does not say
	quiet          bool // all that is missing to ok is an exit status: clients may name only those that are not 0
	passed, failed int  // tests
}

// resultsOf returns the results in messages, oldest first.
func resultsOf(ms []decant.Message) (out []result) {
	type made struct {
		tool.Call
		number int
	}
	calls := map[string]made{}
	for i := range ms {
		for k := range ms[i].Blocks {
			switch b := &ms[i].Blocks[k]; b.Kind {
			case decant.KindUse:
				calls[b.CallID] = made{tool.Parse(b.Name, b.Text()), ms[i].Number}
			case decant.KindResult:
				c, known := calls[b.CallID]
				if !known {
					c.Call = tool.Call{Name: b.Name, Class: tool.ClassOf(b.Name), Effect: tool.ClassOf(b.Name)}
				}
				o := tool.OutcomeOf(c.Call, b.Text(), b.Error)
				r := result{call: c.number, message: ms[i].Number, command: c.Command, passed: o.Passed, failed: o.Failed}
				r.bad = b.Error || o.Bad()
				r.ok, r.quiet = !r.bad && o.Status == tool.OK, !r.bad && o.Silent
				out = append(out, r)
			}
		}
	}
	return out
}

// What a line says of how something ended, in words of a few languages; and what makes it say something else.
var (
	saysPassed = lazyregexp.New(`(?i)\b(pass(es|ed|ing)?|succeed(s|ed)?|successful(ly)?|green|bestanden|erfolgreich|réussi\w*)\b|通过|成功`)
	saysFailed = lazyregexp.New(`(?i)\b(fail(s|ed|ing|ures?)?|broken?|breaks|errors?|red|crash(es|ed)?|fehlgeschlagen|échou\w*)\b|失败|失敗`)
	saysLess   = lazyregexp.New(`(?i)\b(should|must|shall|will|would|may|might|can|could|if|once|until|unless|before|after|not|no|never|without|wants?|wanted|expect\w*|fix\w*)\b|n't\b|[?？]|未|没有|如果`)
	counts     = lazyregexp.New(`(?i)\b(\d+)\s+(?:(?:of|/)\s*\d+\s+)?(?:tests?\s+|specs?\s+|cases?\s+)?(pass(?:ed|ing)?|fail(?:ed|ing|ures?)?)\b`)
)

// contradicts returns a result that a line is about and that says the contrary of it, nil where there is none. Where several
// results are meant, all of them must.
func (k *known) contradicts(line string) *result {
	passed, failed := saysPassed.MatchString(line), saysFailed.MatchString(line)
	if passed == failed || saysLess.MatchString(line) {
		return nil
	}
	cited := numbersIn(line)
	var last *result
	for i := range k.results {
		r := &k.results[i]
		if !slices.Contains(cited, r.message) && !slices.Contains(cited, r.call) || !r.ok && !r.bad {
			continue
		}
		if passed == r.ok {
			return nil
		}
		last = r
	}
	return last
}

// counted reports whether tests that a line counts were counted so by a result or in words of the messages; else it returns
// what it counts.
func (k *known) counted(line string) (what string, ok bool) {
	for _, m := range counts.FindAllStringSubmatch(line, -1) {
		n, _ := strconv.Atoi(m[1])
		verb := strings.ToLower(m[2][:4])
		any, same := false, strings.Contains(k.low, strings.ToLower(m[0])) || strings.Contains(k.low, m[1]+" "+verb)
		for _, r := range k.results {
			any = any || r.passed+r.failed > 0
			same = same || r.passed+r.failed > 0 && (verb == "pass" && n == r.passed || verb == "fail" && n == r.failed)
		}
		if any && !same {
			return m[0], false
		}
	}
	return "", true
}

// settles returns the result of the newest run of a command that an open item names, if it is later than the item and went
// well. A run of something narrower settles nothing.
func (k *known) settles(line string) *result {
	at, low := slices.Max(append(numbersIn(line), 0)), strings.ToLower(line)
	for i := len(k.results) - 1; i >= 0; i-- {
		r := &k.results[i]
		if r.message <= at || at == 0 {
			return nil
		}
		if (r.ok || r.bad || r.quiet) && slices.ContainsFunc(verbs(r.command), func(v string) bool { return strings.Contains(low, v) }) && covers(r.command, line) {
			if r.bad {
				return nil
			}
			return r
		}
	}
	return nil
}

// verbs returns what each simple command of a shell line does, in small letters: "go test", "npm run build", "git push".
func verbs(command string) (out []string) {
	separate := func(r rune) bool { return strings.ContainsRune("&|;\n", r) }
	for one := range strings.FieldsFuncSeq(strings.ToLower(command), separate) {
		var words []string
		for w := range strings.FieldsSeq(one) {
			if len(words) == 2 && words[1] != "run" || len(words) == 3 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz:_") != "" {
				break
			}
			words = append(words, w)
		}
		if len(words) > 1 && words[0] != "cd" && words[0] != "echo" {
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}

// covers reports whether a command is about all files that a line names.
func covers(command, line string) bool {
	if strings.Contains(command, "...") {
		return true
	}
	for _, s := range fact.Scan(nil, line) {
		if name := line[s.Start:s.End]; s.Kind == decant.FactPath && strings.Contains(name, "/") && !strings.Contains(command, name) {
			return false
		}
	}
	return true
}

// numbersIn returns the numbers of the messages that a line names.
func numbersIn(line string) (out []int) {
	for w := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" ()[],;.:-–", r) }) {
		digits, ok := strings.CutPrefix(w, "m")
		if n, err := strconv.Atoi(digits); ok && err == nil && n > 0 {
			out = append(out, n)
		}
	}
	return out
}

// What a line must come to for it to be said by what it was compared with.
const (
	recited   = 5   // words in a row that make an echo of instructions
	copied    = 8   // and of output
	mostEcho  = .6  // share of the words of a line within such rows, of instructions
	mostRaw   = .8  // and of output
	leastTold = 3   // words of a line that messages have, for them to support it
	support   = .15 // share of their weight that the cited message has
)

// grams are the rows of so many words that texts have.
type grams struct {
	seed maphash.Seed
	n    int
	has  map[uint64]bool
}

func gramsOf(n int, texts ...string) *grams {
	g := &grams{maphash.MakeSeed(), n, map[uint64]bool{}}
	for _, text := range texts {
		words := plainWords(text)
		for i := range max(0, len(words)-n+1) {
			g.has[g.hash(words[i:i+n])] = true
		}
	}
	return g
}

func (g *grams) hash(words []string) uint64 {
	var h maphash.Hash
	h.SetSeed(g.seed)
	for _, w := range words {
		h.WriteString(w)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// share returns the share of words that stand in a row of the texts.
func (g *grams) share(words []string) float64 {
	in, until := 0, 0
	for i := range max(0, len(words)-g.n+1) {
		if g.has[g.hash(words[i:i+g.n])] {
			in += i + g.n - max(i, until)
			until = i + g.n
		}
	}
	return float64(in) / float64(max(1, len(words)))
}

// plainWords returns the words of a text in small letters.
func plainWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// statement returns the text of a line without its number.
func statement(line string) string {
	line = strings.TrimSpace(line)
	first, rest, _ := strings.Cut(line, " ")
	if digits, ok := strings.CutPrefix(first, "m"); ok && strings.Trim(digits, "0123456789") == "" && digits != "" {
		return strings.TrimSpace(rest)
	}
	return line
}

// recital reports whether a line says what the model was told and the messages do not say.
func (c *checker) recital(line string) bool {
	line = statement(line)
	words := plainWords(line)
	told := c.brief.system() + "\n" + c.brief.wishes
	if c.echo == nil {
		c.echo = gramsOf(recited, told)
		c.echoes = map[string]bool{}
		for clause := range strings.FieldsFuncSeq(told, func(r rune) bool { return strings.ContainsRune("\n.:;", r) }) {
			c.echoes[strings.Join(plainWords(clause), " ")] = true
		}
	}
	whole := len(words) > 1 && c.echoes[strings.Join(words, " ")]
	if !whole && (len(words) < recited || c.echo.share(words) < mostEcho) {
		return false
	}
	return !strings.Contains(c.known.low, strings.ToLower(strings.TrimRight(line, ".")))
}

// raw reports whether a line is what a tool returned. Facts are asked for word by word.
func (c *checker) raw(line string) bool {
	line = statement(line)
	words := plainWords(line)
	if len(words) < copied || c.known.output().share(words) < mostRaw {
		return false
	}
	return !slices.ContainsFunc(c.brief.facts, func(f decant.Fact) bool { return f.Kind.Sentence() && strings.Contains(line, f.Text) })
}

// outputs returns the rows of words that results have.
func (k *known) outputs() *grams {
	var texts []string
	for i := range k.entries {
		for _, p := range k.entries[i].parts {
			if p.quoted && k.entries[i].role != decant.RoleAssistant {
				texts = append(texts, p.whole)
			}
		}
	}
	return gramsOf(copied, texts...)
}

// supported returns a line with the number of the message that says it: the one that it cites, if that has of its words what
// can be expected, else the one that it is most likely from. It returns false where no message supports it. What is said in
// words that the messages do not have cannot be told.
func (k *known) supported(line string, from, to int) (string, bool) {
	words := map[string]bool{}
	for w := range wordsOf(statement(line)) {
		if len(k.index()[w]) > 0 {
			words[w] = true
		}
	}
	cited := numbersIn(line)
	if len(cited) == 0 || len(words) < leastTold {
		return line, true
	}
	all, there, meant := 0.0, 0.0, k.meant(cited)
	for _, w := range slices.Sorted(maps.Keys(words)) {
		weight := 1 / float64(len(k.index()[w]))
		all += weight
		if slices.ContainsFunc(k.index()[w], func(i int) bool { return meant[k.entries[i].number] }) {
			there += weight
		}
	}
	if there >= support*all {
		return line, true
	}
	return k.attribute(statement(line), from, to)
}

// meant returns these numbers of messages, with those of the calls and results that belong to them.
func (k *known) meant(numbers []int) map[int]bool {
	out := map[int]bool{}
	for _, n := range numbers {
		out[n] = true
	}
	for i := range k.results {
		if r := &k.results[i]; slices.Contains(numbers, r.call) || slices.Contains(numbers, r.message) {
			out[r.call], out[r.message] = true, true
		}
	}
	return out
}
