package console

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/internal/report"
)

// typed returns what an editor is given of keys that come in pieces, a second apart where a piece is empty, and how many
// interrupts there were.
func typed(pieces ...string) (text string, interrupts int) {
	in, keys := io.Pipe()
	told := make(chan struct{}, 100)
	k := newKeyboard(in, told, &pastes{})
	go func() {
		for _, p := range pieces {
			if p == "" {
				time.Sleep(time.Second)
				continue
			}
			io.WriteString(keys, p)
		}
		keys.Close()
	}()
	b, err := io.ReadAll(k)
	if err != nil {
		return err.Error(), 0
	}
	return string(b), len(told)
}

func TestKeys(t *testing.T) {
	for name, tc := range map[string]struct {
		pieces     []string
		want       string
		interrupts int
	}{
		"text":                        {[]string{"a", "b"}, "ab", 0},
		"an arrow":                    {[]string{"a\x1b[Db"}, "a\x1b[Db", 0},
		"an arrow in two pieces":      {[]string{"\x1b", "[D"}, "\x1b[D", 0},
		"Esc":                         {[]string{"a\x1b", "", "b"}, "ab", 1},
		"Esc twice":                   {[]string{"\x1b\x1b", ""}, "", 2},
		"half an arrow":               {[]string{"\x1b[", "", "b"}, "b", 0},
		"half an arrow, then Ctrl-C":  {[]string{"a\x1b[\x03"}, "a\x05\x15", 1},
		"half an arrow, then a paste": {[]string{"\x1b[\x1b[200~a\nb\x1b[201~"}, "a⏎b", 0},
		"Alt and a letter":            {[]string{"\x1bb"}, "\x1bb", 0},
		"Ctrl-C":                      {[]string{"ab\x03c"}, "ab\x05\x15c", 1},
		"a paste":                     {[]string{"\x1b[200~a\r\nb\x03\x1b[A\x1b[201~c"}, "a⏎b␃␛[Ac", 0},
		"a paste in pieces":           {[]string{"\x1b[20", "0~a", "", "\nb\x1b[2", "01~c"}, "a⏎bc", 0},
		"a paste that has no end":     {[]string{"\x1b[200~abc"}, "abc", 0},
		"a hidden character":          {[]string{"\x1b[200~a\u202eb\x1b[201~"}, "a<U+202E>b", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got, n := typed(tc.pieces...); got != tc.want || n != tc.interrupts {
				t.Errorf("%s: %q with %d interrupts, want %q with %d", name, got, n, tc.want, tc.interrupts)
			}
		})
	}
}

// Of a paste that is too long the rest is left out. It is not taken for lines that are typed, which could be commands.
func TestALongPaste(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pasted := strings.Repeat("x\r", mostPasted) + "!reboot\r"
		if got, _ := typed(pasteBegin+pasted+pasteEnd, "b"); strings.ContainsAny(got, "\r\n") || !strings.HasPrefix(got, "[pasted 1: ") || !strings.HasSuffix(got, "]b") {
			t.Errorf("%d bytes: %.100q", len(got), got)
		}
	})
}

// What was pasted into a line that goes on on the next one is what was pasted.
func TestAPasteInALineThatGoesOn(t *testing.T) {
	r := newRich(strings.NewReader(pasteBegin+"a\nb"+pasteEnd+"\\\rc\r"), io.Discard, make(chan struct{}, 1), newHistory(""), nil)
	if got, err := r.read(); err != nil || got != "a\nb\nc" {
		t.Errorf("%q, %v", got, err)
	}
}

// Whatever is pasted: the editor gets one line without commands to the terminal, and what is said is what was pasted.
func TestAnyPaste(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zé @\[\]0-9:\n\t]{0,600}`).Draw(t, "text")
		p := &pastes{}
		line := p.put(text)
		if strings.ContainsAny(line, "\n\t\x1b") || report.Visible(line) != line || utf8.RuneCountInString(line) > longPaste {
			t.Fatalf("the line is %q", line)
		}
		if got, want := p.fill(meant(line)), strings.TrimRight(text, "\n"); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// However text comes in pieces, the same words are shown, in lines that fit, and nothing in them is a command.
func TestScreenShowsAllOfIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.StringMatching("[a-zé \n\x1b\u202e]{0,60}"), 0, 20).Draw(t, "pieces")
		var out bytes.Buffer
		s := &screen{w: &out, columns: func() int { return 40 }}
		for _, p := range pieces {
			s.say(p)
		}
		s.end()
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "<U+202E>", "x")); n > 40 {
				t.Fatalf("a line of %d characters: %q", n, line)
			}
		}
		letters := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got, want := letters(out.String()), letters(report.Visible(strings.Join(pieces, ""))); got != want {
			t.Fatalf("shown is %q, want %q", got, want)
		}
	})
}

// Keys may be anything: the keyboard ends when they do, and the editor never gets half a sequence of a paste.
func FuzzKeys(f *testing.F) {
	f.Add("a\x1b[200~b\x1b[201~", 3)
	f.Add("\x1b\x1b[\x03\x1bOA", 1)
	f.Add("0\x1b[\x1b[200~", 3)
	f.Add("\x1bO\x1b[200~", 100)
	f.Fuzz(func(t *testing.T, keys string, n int) {
		var pieces []string
		n = max(1, min(n, 100))
		for c := range slices.Chunk([]byte(keys), n) {
			pieces = append(pieces, string(c))
		}
		if got, _ := typed(pieces...); strings.Contains(got, pasteBegin) {
			t.Errorf("%q reaches the editor", got)
		}
	})
}
