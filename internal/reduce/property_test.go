package reduce

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// all runs every reduction over c, each on its own.
func all(c *decant.Conversation, o Options) map[string][]decant.Decision {
	small := Trimming{Over: 400, Head: 100, Tail: 100}
	literal := Trimming{Over: 400, Head: 150, Tail: 150, Literal: true}
	return map[string][]decant.Decision{
		"superseded":  Superseded(Of(context.Background(), c, o)),
		"duplicate":   Duplicate(Of(context.Background(), c, o)),
		"stub":        Stub(Of(context.Background(), c, o)),
		"trim":        Trim(Of(context.Background(), c, o), small),
		"literal":     Trim(Of(context.Background(), c, o), literal),
		"clear":       Clear(Of(context.Background(), c, o), Clearing{}),
		"terminal":    Terminal(Of(context.Background(), c, o)),
		"arguments":   Arguments(Of(context.Background(), c, o)),
		"thinking":    Thinking(Of(context.Background(), c, o), Thoughts{KeepTurns: -1}),
		"first sight": FirstSight(Of(context.Background(), c, o), small),
	}
}

// draw makes up a conversation of an agent with a few files, with text of all kinds.
func draw(t *rapid.T) *decant.Conversation {
	var s script
	s.message(decant.RoleUser, decant.Block{
		Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text(rapid.String().Draw(t, "task")),
	})
	for range rapid.IntRange(1, 12).Draw(t, "rounds") {
		file := rapid.SampledFrom([]string{"/a.go", "/b.md", "c.log"}).Draw(t, "file")
		lines := rapid.SliceOfN(rapid.SampledFrom(lines), 0, 60).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		line := rapid.SampledFrom([]string{
			`Read {"file_path":"FILE"}`, `Read {"file_path":"FILE","offset":5,"limit":10}`, `+ Read {"file_path":"FILE"}`, `Edit {"file_path":"FILE","old_string":TEXT,"new_string":"x"}`,
			`Write {"file_path":"FILE","content":TEXT}`, `Bash {"command":"cat FILE"}`, `! Bash {"command":"go test ./..."}`, `Grep {"pattern":"x"}`, `apply_patch *** Begin Patch`,
		}).Draw(t, "call")
		line = strings.NewReplacer("FILE", file, "TEXT", string(jsonspan.AppendQuote(nil, text))).Replace(line)
		s.call(line, text)
		if rapid.Bool().Draw(t, "talk") {
			s.message(decant.RoleAssistant, decant.Block{Kind: decant.KindThinking, Content: decant.Text("hm")})
		}
	}
	return &s.c
}

// lines are what results are made of.
var lines = []string{
	"", "func handleIndex(w http.ResponseWriter, r *http.Request) {", "a.go:12:3: undefined: fooBar",
	"--- FAIL: TestSomething (0.00s)", "\x1b[31mred\x1b[0m text", "10%\r55%\r100%",
	"中文的一行,里面有路径 /srv/数据/文件.txt", "é\b\bx", "error: " + strings.Repeat("long ", 30), strings.Repeat("界", 2500),
	strings.Repeat("x", 4100), "3 passed, 1 failed", "\x1b[2A\rup", "\xff\xfe broken",
	"id: PRRC_kwDOQyo98M6j8TeL",
}

// TestReductionNeverLarger guards that a replacement is smaller than what it replaces, in bytes and
// in tokens.
func TestReductionNeverLarger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		for name, ds := range all(c, options()) {
			for _, d := range ds {
				old := block(c, d.Target.Ref).Text()
				if d.Kind != decant.DropThinking && (len(d.Text) >= len(old) || d.After >= d.Before) {
					t.Errorf("%s: %d bytes, %d tokens for %d bytes, %d tokens", name, len(d.Text), d.After, len(old), d.Before)
				}
			}
		}
	})
}

// TestReductionIsReversible guards that the decisions name what they replace and that the transcript
// stays as it was.
func TestReductionIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		before := texts(c)
		for name, ds := range all(c, options()) {
			view, err := decant.View(c, number(ds))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if after := texts(c); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Fatalf("%s: the transcript changed", name)
			}
			restored := restore(view, c, ds)
			if fmt.Sprint(restored) != fmt.Sprint(before) {
				t.Errorf("%s: the view with its originals put back is not the transcript", name)
			}
		}
	})
}

// TestSecondRunChangesNothing guards that a reduction of a view proposes nothing more.
func TestSecondRunChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		known := rapid.Bool().Draw(t, "with transcript")
		for name, ds := range all(c, options()) {
			view, err := decant.View(c, number(ds))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			o := options()
			if known {
				o.Transcript, o.Made = c, ds
			}
			if again := all(view, o)[name]; len(again) > 0 && name != "superseded" && name != "duplicate" {
				t.Errorf("%s: second run proposes %s", name, print(again))
			} else if len(again) > len(ds) {
				t.Errorf("%s: second run proposes more: %s", name, print(again))
			}
		}
	})
}

// TestSameInputSameDecisions guards that nothing depends on the order of a map.
func TestSameInputSameDecisions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		a, b := all(c, options()), all(c, options())
		for name := range a {
			if print(a[name]) != print(b[name]) {
				t.Errorf("%s: got %s and then %s", name, print(a[name]), print(b[name]))
			}
		}
	})
}

// TestReductionSplitsNoRune guards that valid text stays valid.
func TestReductionSplitsNoRune(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		for name, ds := range all(c, options()) {
			for _, d := range ds {
				if utf8.ValidString(block(c, d.Target.Ref).Text()) && !utf8.ValidString(d.Text) {
					t.Errorf("%s split a rune: %q", name, d.Text)
				}
			}
		}
	})
}

// TestTrimNeverFusesLines guards that every line of a trimmed result is a whole line of the
// original in the same order, a counted gap, or a very long line cut and counted.
func TestTrimNeverFusesLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		for _, d := range all(c, options())["trim"] {
			old := strings.Split(block(c, d.Target.Ref).Text(), "\n")
			at := 0
			for line := range strings.SplitSeq(strings.TrimSuffix(d.Text, "\n"), "\n") {
				if strings.HasPrefix(line, "[... ") && strings.HasSuffix(line, " left out ...]") {
					continue
				}
				head, rest, long := strings.Cut(line, "[... ")
				_, tail, _ := strings.Cut(rest, " ...]")
				same := func(l string) bool {
					return l == line || long && len(l) > 2000 && strings.HasPrefix(l, head) && strings.HasSuffix(l, tail)
				}
				for at < len(old) && !same(old[at]) {
					at++
				}
				if at == len(old) {
					t.Fatalf("line %q is no line of the original, or out of order", line)
				}
				at++
			}
		}
	})
}

// TestTrimStatesRemovedLines guards that kept lines and counted gaps add up to the original.
func TestTrimStatesRemovedLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		for _, d := range all(c, options())["trim"] {
			old := block(c, d.Target.Ref).Text()
			lines, chars := 0, 0
			for line := range strings.Lines(d.Text) {
				var l, n int
				text := strings.ReplaceAll(line, ",", "")
				if k, _ := fmt.Sscanf(text, "[... %d lines %d character", &l, &n); k == 2 {
					lines, chars = lines+l, chars+n
				} else if k, _ := fmt.Sscanf(text, "[... %d line %d character", &l, &n); k == 2 {
					lines, chars = lines+l, chars+n
				} else if i := strings.Index(text, "[... "); i >= 0 {
					fmt.Sscanf(text[i:], "[... %d characters left out", &n)
					lines, chars = lines+1, chars+n+utf8.RuneCountInString(line)-utf8.RuneCountInString(note(line))
				} else {
					lines, chars = lines+1, chars+utf8.RuneCountInString(line)
				}
			}
			wantLines := strings.Count(strings.TrimSuffix(old, "\n"), "\n") + 1
			if lines != wantLines || chars != utf8.RuneCountInString(old) {
				t.Errorf("accounts for %d lines, %d characters of %d lines, %d characters:\n%s", lines, chars, wantLines,
					utf8.RuneCountInString(old), d.Text)
			}
		}
	})
}

// note returns the count that stands in a cut line.
func note(line string) string {
	i := strings.Index(line, "[... ")
	return line[i : i+strings.Index(line[i:], "...]")+len("...]")]
}

// TestArgumentsStayJSON guards that arguments which were valid JSON still are.
func TestArgumentsStayJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		for _, d := range all(c, options())["arguments"] {
			if old := block(c, d.Target.Ref).Text(); jsonspan.Validate([]byte(old)) == nil &&
				jsonspan.Validate([]byte(d.Text)) != nil {
				t.Errorf("not JSON any more: %s", d.Text)
			}
		}
	})
}

func block(c *decant.Conversation, r decant.Ref) *decant.Block {
	return &c.Messages[r.Message-1].Blocks[r.Block]
}

// number gives decisions ids, as the engine does.
func number(ds []decant.Decision) []decant.Decision {
	for i := range ds {
		ds[i].ID = fmt.Sprint(i + 1)
	}
	return ds
}

func texts(c *decant.Conversation) []string {
	var out []string
	for _, m := range c.Messages {
		for k := range m.Blocks {
			out = append(out, fmt.Sprintf("%d %s %s", m.Number, m.Blocks[k].Kind, m.Blocks[k].Text()))
		}
	}
	return out
}

// restore writes the view's blocks with the originals of the decisions in their places; the originals
// are looked up by the hashes in the decisions, as a store does.
func restore(view, c *decant.Conversation, ds []decant.Decision) []string {
	store := map[decant.Handle]string{}
	for _, m := range c.Messages {
		for k := range m.Blocks {
			text := m.Blocks[k].Text()
			store[decant.HandleOf(decant.HashText(text))] = text
		}
	}
	originals := map[decant.Ref]string{}
	for _, d := range ds {
		originals[d.Target.Ref] = store[d.Handle]
	}
	shown := map[decant.Ref]string{}
	for _, m := range view.Messages {
		for k := range m.Blocks {
			shown[m.Blocks[k].Ref] = m.Blocks[k].Text()
		}
	}
	var out []string
	for _, m := range c.Messages {
		for k := range m.Blocks {
			r := m.Blocks[k].Ref
			text, changed := originals[r]
			if !changed {
				text = shown[r]
			}
			out = append(out, fmt.Sprintf("%d %s %s", m.Number, m.Blocks[k].Kind, text))
		}
	}
	return out
}
