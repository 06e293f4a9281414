package wire_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

// sessions returns the excerpts of real session files, by name.
func sessions(tb testing.TB) map[string][]byte {
	tb.Helper()
	names, err := filepath.Glob("testdata/sessions/*.jsonl.gz")
	if err != nil || len(names) == 0 {
		tb.Fatal("no session files: ", err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		out[strings.TrimSuffix(filepath.Base(name), ".jsonl.gz")] = readFile(tb, name)
	}
	return out
}

func readFile(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	src, err := wire.Read(f)
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

func parse(tb testing.TB, src []byte) *wire.Document {
	tb.Helper()
	d, err := wire.Parse(src)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func TestSessionUnchangedIsTheSameSlice(t *testing.T) {
	for name, src := range sessions(t) {
		t.Run(name, func(t *testing.T) {
			d := parse(t, src)
			for what, view := range map[string]*decant.Conversation{
				"all": d.Conversation, "live": d.Conversation.With(d.Conversation.Live()),
			} {
				out, err := d.Render(view)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if len(out) != len(src) || &out[0] != &src[0] {
					t.Errorf("%s: got %d bytes that are not the source's own %d", what, len(out), len(src))
				}
			}
		})
	}
}

// What each excerpt holds, counted by hand with another program.
func TestSessionCounts(t *testing.T) {
	type counts struct {
		Format                                      wire.Format
		Messages, Words, Uses, Results, Compactions int
		Usages, Warnings                            int
	}
	want := map[string]counts{
		"claude-code-compacted":     {wire.ClaudeCode, 35, 2, 15, 16, 1, 14, 0},
		"claude-code-parallel":      {wire.ClaudeCode, 17, 1, 8, 8, 1, 7, 0},
		"claude-code-two-on-a-line": {wire.ClaudeCode, 35, 1, 16, 17, 0, 17, 2},
		"codex-compacted":           {wire.Codex, 52, 25, 15, 18, 1, 11, 0}, // 22 of them are the replaced history's
		"pi-linear":                 {wire.Pi, 74, 9, 49, 33, 0, 32, 0},
		"pi-tree":                   {wire.Pi, 6, 2, 0, 0, 2, 2, 0},
	}
	for name, src := range sessions(t) {
		d := parse(t, src)
		got := counts{Format: d.Format, Messages: len(d.Conversation.Messages), Warnings: len(d.Warnings)}
		for i := range d.Conversation.Messages {
			m := &d.Conversation.Messages[i]
			got.Words += btoi(m.UserWords())
			got.Compactions += btoi(m.Compaction)
			got.Usages += btoi(m.Usage != nil)
			for k := range m.Blocks {
				got.Uses += btoi(m.Blocks[k].Kind == decant.KindUse)
				got.Results += btoi(m.Blocks[k].Kind == decant.KindResult)
			}
		}
		if d := cmp.Diff(want[name], got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A session file that was cut off anywhere loses the line that was cut, and nothing else.
func TestSessionCutOffLosesTheLastLineOnly(t *testing.T) {
	srcs := sessions(t)
	names := slices.Sorted(maps.Keys(srcs))
	rapid.Check(t, func(t *rapid.T) {
		src := srcs[rapid.SampledFrom(names).Draw(t, "session")]
		n := rapid.IntRange(len(src)/10, len(src)).Draw(t, "length")
		cutOff(t, src, n, parseOrNil(src[:n]))
	})
}

func parseOrNil(src []byte) *wire.Document {
	d, err := wire.Parse(src)
	if err != nil {
		return nil
	}
	return d
}

func cutOff(t *rapid.T, src []byte, n int, got *wire.Document) {
	whole := src[:bytes.LastIndexByte(src[:n], '\n')+1]
	rest := bytes.TrimSpace(src[len(whole):n])
	if len(rest) > 0 && jsonspan.Validate(rest) == nil {
		return // the line is complete but for its line break
	}
	want := parseOrNil(whole)
	if (want == nil) != (got == nil) {
		t.Fatalf("cut at %d: got %v, want %v", n, got, want)
	}
	if want == nil {
		return
	}
	if d := cmp.Diff(outline(want.Conversation.Messages), outline(got.Conversation.Messages)); d != "" {
		t.Fatalf("cut at %d (-want +got):\n%s", n, d)
	}
	if more := len(got.Warnings) - len(want.Warnings); more != btoi(len(rest) > 0) {
		t.Fatalf("cut at %d: %d more warnings for %d bytes of a line: %v", n, more, len(rest), got.Warnings)
	}
}

// outline returns a line for each block: what a model would read and who wrote it. Opaque blocks have
// no text in it.
func outline(ms []decant.Message) []string {
	var out []string
	for i := range ms {
		for k := range ms[i].Blocks {
			b := &ms[i].Blocks[k]
			text := b.Text()
			if b.Kind == decant.KindOpaque {
				text = b.Name
			}
			out = append(out, fmt.Sprintf("%s %s %s %s %q images=%d %s", ms[i].Role, b.Kind, b.CallID, b.Name, b.Author, b.Media.Count, text))
		}
	}
	return out
}

func TestSessionOddities(t *testing.T) {
	const user = `{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"go on"}}`
	const answer = `{"type":"assistant","uuid":"u2","parentUuid":"u1","message":{"id":"a","role":"assistant","content":[{"type":"text","text":"done"}]}}`
	tests := []struct {
		name, src string
		want      []string // texts
		warnings  []string // what each warning holds
	}{
		{"LineBreaksOfWindows", user + "\r\n" + answer + "\r\n", []string{"go on", "done"}, nil},
		{"ByteOrderMark", "\xef\xbb\xbf" + user + "\n" + answer + "\n", []string{"go on", "done"}, nil},
		{"BlankLines", "\n \n" + user + "\n\n" + answer + "\n\n", []string{"go on", "done"}, nil},
		{"NoLineBreakAtTheEnd", user + "\n" + answer, []string{"go on", "done"}, nil},
		{"TwoObjectsOnALine", user + answer + "\n", []string{"go on", "done"}, []string{"line 1: 2 objects on one line"}},
		{"LastLineCutOff", user + "\n" + answer[:60], []string{"go on"}, []string{"line 2: the last line was cut off"}},
		{"GarbageInTheMiddle", user + "\n{oops}\n" + answer + "\n", []string{"go on", "done"}, []string{"line 2: not JSON"}},
		{"CutOffAndTheNextOnItsLine", user[:60] + user + "\n" + answer + "\n", []string{"go on", "done"}, []string{"line 1: a record was cut off"}},
		{"CutOffBehindAWholeOne", user + answer[:60] + answer + "\n", []string{"go on", "done"}, []string{"line 1: a record was cut off"}},
		{"CutOffWithinACharacter", user + "\n{\"uuid\":\"u0\",\"message\":\"\xe6\x97" + answer + "\n", []string{"go on", "done"}, []string{"line 2: a record was cut off"}},
		{"CutOffAndOfAnotherKind", user + "\n" + `{"parentUuid":null,"type":"us` + answer + "\n", []string{"go on", "done"}, []string{"line 2: a record was cut off"}},
		{"CutOffAndSeveralOnItsLine", user[:70] + user[:40] + user + answer + "\n", []string{"go on", "done"}, []string{"line 1: a record was cut off"}},
		{"CutOffWithinContent", answer[:120] + user + "\n" + answer + "\n", []string{"go on", "done"}, []string{"line 1: a record was cut off"}},
		{"BytesOfACrashInFront", "\x00\x00\x00" + user + "\n" + answer + "\n", []string{"go on", "done"}, nil},
		{"BytesOfACrashBetween", user + "\x00\x00" + answer + "\n", []string{"go on", "done"}, []string{"line 1: 2 objects on one line"}},
		{"BytesOfACrashAlone", user + "\n\x00\x00\n" + answer + "\n\x00\x00\x00", []string{"go on", "done"}, []string{"line 2: 2 NUL bytes", "line 4: 3 NUL bytes"}},
		{"NotAnObject", user + "\n[1]\n" + answer + "\n", []string{"go on", "done"}, []string{"line 2: not a JSON object"}},
		{"SameLineTwice", user + "\n" + answer + "\n" + answer + "\n", []string{"go on", "done"}, []string{"line 3: 1 lines from here on stand in the file twice"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := wire.ParseAs(wire.ClaudeCode, []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, texts(d.Conversation)); diff != "" {
				t.Errorf("texts (-want +got):\n%s", diff)
			}
			if len(d.Warnings) != len(tt.warnings) {
				t.Fatalf("got warnings %v, want %v", d.Warnings, tt.warnings)
			}
			for i, w := range tt.warnings {
				if got := d.Warnings[i].String(); !strings.Contains(got, w) {
					t.Errorf("got warning %q, want %q in it", got, w)
				}
			}
			if out, err := d.Render(d.Conversation); err != nil || string(out) != tt.src {
				t.Errorf("got %q, %v; want the source", out, err)
			}
		})
	}
}

func texts(c *decant.Conversation) []string {
	var out []string
	for i := range c.Messages {
		out = append(out, c.Messages[i].Text())
	}
	return out
}

func TestSessionWithoutAConversationIsAnError(t *testing.T) {
	for name, src := range map[string]string{
		"Empty":    "",
		"Blank":    "\n\n",
		"NoJSON":   "hello\n",
		"NoLines":  `{"type":"summary","summary":"x","leafUuid":"y"}` + "\n",
		"BadJSON":  `{"type":"user"`,
		"JustBOM":  "\xef\xbb\xbf",
		"OneBrace": "{",
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range []wire.Format{wire.ClaudeCode, wire.Codex, wire.Pi} {
				d, err := wire.ParseAs(f, []byte(src))
				if err == nil {
					t.Errorf("%s: got %d messages, want an error", f, len(d.Conversation.Messages))
				}
			}
		})
	}
}
