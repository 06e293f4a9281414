package policy_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A chatLog is one person's chat over several days, with questions about it that are asked afterwards.
type chatLog struct {
	Days []struct {
		Date  string `json:"date"`
		Turns []struct {
			Query    string `json:"query"`
			Response string `json:"response"`
		} `json:"turns"`
	} `json:"days"`
	Questions []string `json:"questions"`
}

// talk returns the chat as a conversation; each day begins with its date.
func (l *chatLog) talk() *talk {
	c := &talk{}
	for _, d := range l.Days {
		for i, t := range d.Turns {
			if i == 0 {
				t.Query = d.Date + "\n" + t.Query
			}
			c.user(t.Query)
			c.assistant(t.Response)
		}
	}
	return c
}

// turns returns what was said in each turn.
func (l *chatLog) turns() (out []string) {
	for _, d := range l.Days {
		for _, t := range d.Turns {
			out = append(out, t.Query+"\n"+t.Response)
		}
	}
	return out
}

// terms returns the words of a text, and of scripts that have no blanks the pairs of neighbours.
func terms(text string) map[string]bool {
	out := map[string]bool{}
	var word []rune
	end := func() {
		if len(word) >= 3 {
			out[string(word)] = true
		}
		word = word[:0]
	}
	last := rune(0)
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.Is(unicode.Han, r):
			end()
			if last != 0 {
				out[string([]rune{last, r})] = true
			}
			last = r
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			word = append(word, r)
		default:
			end()
		}
		last = 0
	}
	end()
	return out
}

// An asked is a question: what it asks by, and the terms of the turn that answers it.
type asked struct{ by, answer map[string]bool }

// asked returns the questions that a sentence answers: the statement with the most of the question's terms, rare
// ones before common ones. The answer are its terms that at most two turns have, and the question has not.
func (l *chatLog) asked() (out []asked) {
	var said []map[string]bool
	in := map[string]int{}
	for _, t := range l.turns() {
		for w := range terms(t) {
			in[w]++
		}
		for _, s := range statements(t) {
			said = append(said, terms(s))
		}
	}
	for _, q := range l.Questions {
		a := asked{terms(q), map[string]bool{}}
		best := slices.MaxFunc(said, func(s, t map[string]bool) int {
			return cmp.Compare(shared(a.by, s, in), shared(a.by, t, in))
		})
		if shared(a.by, best, in) == 0 {
			continue
		}
		for w := range best {
			if in[w] <= 2 && !a.by[w] {
				a.answer[w] = true
			}
		}
		if len(a.answer) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// statements returns the sentences of a text that ask nothing.
func statements(text string) (out []string) {
	for _, s := range sentence.FindAllString(text, -1) {
		if s = strings.TrimSpace(s); s != "" && !strings.HasSuffix(s, "?") && !strings.HasSuffix(s, "？") {
			out = append(out, s)
		}
	}
	return out
}

var sentence = regexp.MustCompile(`[^.!?。！？\n]+[.!?。！？]*`)

// shared adds up the terms that two texts share, each by how few turns have it.
func shared(a, b map[string]bool, in map[string]int) (sum float64) {
	for w := range a {
		if b[w] {
			sum += math.Round(1000 / float64(in[w]))
		}
	}
	return sum
}

// answered returns the share of the answers' terms that a text has, and the share of those that it has on a line
// that has a term of the question as well.
func answered(qs []asked, text string) (any, grounded float64) {
	var lines []map[string]bool
	for line := range strings.Lines(text) {
		lines = append(lines, terms(line))
	}
	for _, q := range qs {
		a, g := 0, 0
		for w := range q.answer {
			found, near := false, false
			for _, l := range lines {
				found = found || l[w]
				near = near || l[w] && overlap(l, q.by)
			}
			if found {
				a++
			}
			if near {
				g++
			}
		}
		any += float64(a) / float64(len(q.answer))
		grounded += float64(g) / float64(len(q.answer))
	}
	return any / float64(len(qs)), grounded / float64(len(qs))
}

func overlap(a, b map[string]bool) bool {
	for w := range b {
		if a[w] {
			return true
		}
	}
	return false
}

// chance returns lines of a chat that were chosen by lot, so many tokens of them.
func (l *chatLog) chance(lot *rand.Rand, tokens int) string {
	var lines []string
	for _, t := range l.turns() {
		lines = append(lines, strings.Split(t, "\n")...)
	}
	lot.Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
	est := token.For(token.Model{})
	n := 0
	for n < len(lines) && est.Count(strings.Join(lines[:n+1], "\n")) <= tokens {
		n++
	}
	return strings.Join(lines[:n], "\n")
}

// compacted returns what is left of a chat at a share of its size, and the tokens of it.
func (l *chatLog) compacted(t *testing.T, percent int) (string, int) {
	t.Helper()
	c := l.talk()
	o := options(t, "default")
	o.Target = token.For(o.Model).Messages(c.conv.Messages) * percent / 100
	o.KeepTurns = 0
	plan, err := policy.Plan(context.Background(), &c.conv, o)
	if err != nil {
		t.Fatal(err)
	}
	view, err := plan.Apply(&c.conv)
	if err != nil {
		t.Fatal(err)
	}
	text := wire.Text(view)
	return text, token.For(token.Model{}).Count(text)
}

func readChats(t *testing.T, path string) (out []*chatLog) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		l := &chatLog{}
		if err := json.Unmarshal(lines.Bytes(), l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	if err := lines.Err(); err != nil || len(out) == 0 {
		t.Fatalf("%d chats: %v", len(out), err)
	}
	return out
}

// What is asked afterwards about a chat survived no more often than in lines chosen by lot. The chats
// are those of MemoryBank, in the folder memorybank of DECANT_DATA.
func TestChatsAreKeptAboveChance(t *testing.T) {
	dir := os.Getenv("DECANT_DATA")
	if dir == "" {
		t.Skip("DECANT_DATA names no folder")
	}
	for _, lang := range []string{"en", "zh"} {
		chats := readChats(t, filepath.Join(dir, "memorybank", "memorybank-"+lang+".jsonl.gz"))
		for _, percent := range []int{10, 20} {
			var ours, lots, oursNear, lotsNear float64
			questions := 0
			const draws = 100
			lot := rand.New(rand.NewPCG(1, 2))
			for _, l := range chats {
				qs := l.asked()
				questions += len(qs)
				text, tokens := l.compacted(t, percent)
				a, g := answered(qs, text)
				ours, oursNear = ours+a, oursNear+g
				for range draws {
					a, g := answered(qs, l.chance(lot, tokens))
					lots, lotsNear = lots+a/draws, lotsNear+g/draws
				}
			}
			n := float64(len(chats))
			t.Logf("%s, %d chats, %d questions, at %d%%: Decant %.3f, with the question %.3f; lines by lot %.3f, %.3f",
				lang, len(chats), questions, percent, ours/n, oursNear/n, lots/n, lotsNear/n)
			if ours <= lots || oursNear <= lotsNear {
				t.Errorf("%s at %d%%: not above chance", lang, percent)
			}
		}
	}
}
