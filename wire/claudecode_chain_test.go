package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

// A claudeSession is a session of Claude Code in the making: one object for each line.
type claudeSession []map[string]any

// line adds a line behind a parent and returns its id.
func (s *claudeSession) line(kind string, parent any, message map[string]any) string {
	id := fmt.Sprintf("u%03d", len(*s))
	l := map[string]any{
		"type": kind, "uuid": id, "parentUuid": parent, "isSidechain": false, "sessionId": "s1",
		"timestamp": fmt.Sprintf("2026-11-20T10:%02d:%02d.000Z", len(*s)/60, len(*s)%60),
	}
	if message != nil {
		l["message"] = message
	}
	*s = append(*s, l)
	return id
}

// rounds returns a session of so many rounds, some of them with two calls whose results hang on their own calls.
func rounds(t *rapid.T, n int) claudeSession {
	var s claudeSession
	var last any
	for i := range n {
		last = s.line("user", last, map[string]any{"role": "user", "content": fmt.Sprintf("question %d", i)})
		calls := rapid.IntRange(0, 2).Draw(t, "calls")
		var on []string
		for k := range calls {
			use := map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", i, k), "name": "Read", "input": map[string]any{"path": "a.go"}}
			last = s.line("assistant", last, map[string]any{"id": fmt.Sprintf("msg_%d", i), "role": "assistant", "content": []any{use}})
			on = append(on, last.(string))
		}
		for k, parent := range on {
			res := map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprintf("toolu_%d_%d", i, k), "content": fmt.Sprintf("result %d %d", i, k)}
			last = s.line("user", parent, map[string]any{"role": "user", "content": []any{res}})
		}
		if rapid.Bool().Draw(t, "attachment") {
			last = s.line("attachment", last, nil)
		}
		text := map[string]any{"type": "text", "text": fmt.Sprintf("answer %d", i)}
		last = s.line("assistant", last, map[string]any{"id": fmt.Sprintf("msg_%d_end", i), "role": "assistant", "content": []any{text}})
	}
	return s
}

// damaged returns the session with damage of the kinds that are found in files.
func (s claudeSession) damaged(t *rapid.T) claudeSession {
	out := slices.Clone(s)
	for range rapid.IntRange(1, 3).Draw(t, "damages") {
		at := rapid.IntRange(0, len(out)-1).Draw(t, "at")
		switch rapid.SampledFrom([]string{"missing", "none", "absent", "ring", "twice", "side"}).Draw(t, "damage") {
		case "missing":
			out[at] = with(out[at], "parentUuid", "never-written")
		case "none":
			out[at] = with(out[at], "parentUuid", nil)
		case "absent":
			out[at] = with(out[at], "parentUuid", nil)
			delete(out[at], "parentUuid")
		case "ring":
			out[at] = with(out[at], "parentUuid", out[rapid.IntRange(at, len(out)-1).Draw(t, "later")]["uuid"])
		case "twice":
			to := rapid.IntRange(at+1, len(out)).Draw(t, "to")
			var again claudeSession
			for _, l := range out[at:to] {
				switch rapid.IntRange(0, 2).Draw(t, "parent") {
				case 0:
					l = with(l, "parentUuid", nil)
				case 1:
					l = with(l, "parentUuid", out[rapid.IntRange(0, len(out)-1).Draw(t, "other")]["uuid"])
				}
				again = append(again, l)
			}
			out = slices.Insert(out, rapid.IntRange(to, len(out)).Draw(t, "behind"), again...)
		case "side":
			l := with(with(out[at], "isSidechain", true), "uuid", fmt.Sprint("side", len(out)))
			out = slices.Insert(out, rapid.IntRange(0, len(out)-1).Draw(t, "before"), l)
		}
	}
	return out
}

func with(l map[string]any, name string, v any) map[string]any {
	out := map[string]any{}
	for k := range l {
		out[k] = l[k]
	}
	out[name] = v
	return out
}

func (s claudeSession) bytes() []byte {
	var out bytes.Buffer
	for _, l := range s {
		raw, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		out.Write(append(raw, '\n'))
	}
	return out.Bytes()
}

// A claudeLink is what the client reads of a line to find its way.
type claudeLink struct {
	Type, UUID, ParentUUID string
	IsSidechain            bool
	Message                struct{ Content json.RawMessage }
}

// resumed returns the lines that Claude Code resumes with: the newest message in the file and its parents, of lines with
// one id the last, and results of calls on the way that hang beside it.
func resumed(tb rapid.TB, src []byte) []byte {
	lines := bytes.SplitAfter(src, []byte("\n"))
	lines = lines[:len(lines)-1]
	links, byID, newest := make([]claudeLink, len(lines)), map[string]int{}, -1
	for i, raw := range lines {
		if err := json.Unmarshal(raw, &links[i]); err != nil {
			tb.Fatal(err)
		}
		byID[links[i].UUID] = i
		if l := &links[i]; !l.IsSidechain && (l.Type == "user" || l.Type == "assistant") {
			newest = i
		}
	}
	seen := map[string]bool{}
	for i, ok := newest, true; ok && !seen[links[i].UUID]; i, ok = byID[links[i].ParentUUID] {
		seen[links[i].UUID] = true
	}
	var out []byte
	for i, l := range links {
		beside := seen[l.ParentUUID] && !l.IsSidechain && bytes.Contains(l.Message.Content, []byte("tool_result"))
		if byID[l.UUID] == i && (seen[l.UUID] || beside) {
			out = append(out, lines[i]...)
		}
	}
	return out
}

func TestClaudeCodeFollowsWhatIsWrittenOfADamagedSession(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sound := rounds(t, rapid.IntRange(2, 5).Draw(t, "rounds"))
		src := sound.damaged(t).bytes()
		d, err := wire.ParseAs(wire.ClaudeCode, src)
		if err != nil {
			t.Fatal(err)
		}
		live := d.Conversation.With(d.Conversation.Live())
		ds := edits(t, live, func(int) bool { return true })
		if len(decant.Cuts(live.Messages)) > 2 && rapid.Bool().Draw(t, "covered") {
			ds = covered(t, live)
		}
		view, err := decant.View(live, ds)
		if err != nil {
			t.Fatal(err)
		}
		out, err := d.Render(view)
		if err != nil || bytes.Equal(out, src) {
			return // nothing was to be changed
		}
		got, err := wire.ParseAs(wire.ClaudeCode, resumed(t, out))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if diff := cmp.Diff(readable(view.Messages), readable(got.Conversation.Live())); diff != "" {
			t.Fatalf("the client resumes with (-want +got):\n%s\nof\n%s\nwritten for\n%s", diff, out, src)
		}
	})
}

func TestClaudeCodeSaysWhatTheClientLoses(t *testing.T) {
	for _, tt := range []struct{ name, damage, want string }{
		{"sound", "", ""},
		{"parent was never written", "missing", "4 messages from here on are lost to the client"},
		{"lines twice without a parent", "twice", "3 messages from here on are lost to the client"},
		{"lines twice with their parents", "same", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s claudeSession
			var last any
			for i := range 6 {
				last = s.line([]string{"user", "assistant"}[i%2], last, map[string]any{"role": []string{"user", "assistant"}[i%2], "id": fmt.Sprint("m", i), "content": fmt.Sprint("said ", i)})
			}
			switch tt.damage {
			case "missing":
				s[4] = with(s[4], "parentUuid", "never-written")
			case "twice":
				for _, l := range s[:4] {
					s = append(s, with(l, "parentUuid", nil))
				}
			case "same":
				s = append(s, s[:4]...)
			}
			d := parseAs(t, wire.ClaudeCode, strings.Split(strings.TrimSpace(string(s.bytes())), "\n")...)
			if n := len(d.Conversation.Messages); n != 6 {
				t.Errorf("got %d messages, want 6", n)
			}
			var said []string
			for _, w := range d.Warnings {
				said = append(said, w.Text)
			}
			if got := strings.Join(said, "\n"); !strings.Contains(got, tt.want) || tt.want == "" && strings.Contains(got, "lost") {
				t.Errorf("got notes %q, want %q", got, tt.want)
			}
		})
	}
}

// Two processes that resume one session write to one file in turn. The client goes on from the newest message, so what
// the other has said is on a branch that was left, however long it is.
func TestClaudeCodeLeavesTheBranchOfAnotherWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s claudeSession
		ask := func(parent any, text string) string {
			q := s.line("user", parent, map[string]any{"role": "user", "content": text})
			said := map[string]any{"type": "text", "text": "on " + text}
			return s.line("assistant", q, map[string]any{"id": "msg_" + q, "role": "assistant", "content": []any{said}})
		}
		both := ask(nil, "shared")
		tips := [2]any{both, both}
		want := [2][]string{{"shared", "on shared"}, {"shared", "on shared"}}
		turns := rapid.SliceOfN(rapid.IntRange(0, 1), 1, 12).Draw(t, "turns")
		for i, who := range turns {
			text := fmt.Sprintf("%d of writer %d", i, who)
			tips[who] = ask(tips[who], text)
			want[who] = append(want[who], text, "on "+text)
		}
		d, err := wire.ParseAs(wire.ClaudeCode, s.bytes())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[turns[len(turns)-1]], texts(d.Conversation)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
