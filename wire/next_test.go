package wire_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

// account lists everything that can be seen of a document, or of the error that came instead.
func account(d *wire.Document, err error) []string {
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	c := *d.Conversation
	c.Messages, c.Fixed.System, c.Fixed.Tools = nil, nil, nil
	out := []string{fmt.Sprintf("%s %q %v %#v", d.Format, d.Source, d.Warnings, c)}
	for i := range d.Conversation.Fixed.System {
		out = append(out, blockAccount(d.Conversation.Fixed.System[i]))
	}
	for _, t := range d.Conversation.Fixed.Tools {
		out = append(out, fmt.Sprintf("%q %q %s", t.Name, t.Schema.Text(), t.Cache))
	}
	for _, m := range d.Conversation.Messages {
		bs := m.Blocks
		m.Blocks = nil
		out = append(out, fmt.Sprintf("%#v", m))
		for _, b := range bs {
			out = append(out, blockAccount(b), fmt.Sprintf("%q", d.Raw(b.Ref)))
		}
	}
	for _, name := range []string{"system", "tools", "messages", "metadata", "max_tokens", "none"} {
		out = append(out, fmt.Sprint(name, d.Member(name)))
	}
	out = append(out, string(d.Frame()))
	for seed := range uint64(3) {
		view, err := d.Render(seeded(d.Conversation, 0x9E3779B97F4A7C15*(seed+1)))
		out = append(out, fmt.Sprintf("view %d: %v %s", seed, err, view))
	}
	return out
}

func blockAccount(b decant.Block) string {
	text, size := b.Text(), -1
	if b.Content != nil {
		size = b.Content.Size()
	}
	b.Content = nil
	return fmt.Sprintf("%#v %q %d", b, text, size)
}

// wreck destroys everything that a document could share with others.
func wreck(d *wire.Document) {
	for i := range d.Source {
		d.Source[i] = 'x'
	}
	c := d.Conversation
	for i := range c.Messages {
		clear(c.Messages[i].Blocks)
	}
	clear(c.Messages)
	clear(c.Fixed.System)
	clear(c.Fixed.Tools)
}

// failer is what a test and a property have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// followedBy checks that reading b after a gives what reading b gives, and returns how many messages
// were taken over.
func followedBy(t failer, a, b string) int {
	t.Helper()
	d, err := wire.ParseAs(wire.Anthropic, []byte(a))
	if err != nil {
		return 0
	}
	next, err := parseNext(d, []byte(b))
	wreck(d)
	got, want := account(next, err), account(wire.ParseTwice([]byte(b)))
	if !slices.Equal(got, want) {
		t.Fatalf("after %q\n%q\nis read differently (-alone +after):\n%s", a, b, cmp.Diff(want, got))
	}
	if got := account(wire.ParseAs(wire.Anthropic, []byte(b))); !slices.Equal(got, want) {
		t.Fatalf("%q\nis read differently (-checked first +while it is read):\n%s", b, cmp.Diff(want, got))
	}
	if err != nil {
		return 0
	}
	checkKept(t, a, b, next)
	return next.Kept
}

// checkKept checks that the messages that count as kept are the same in both bodies.
func checkKept(t failer, a, b string, next *wire.Document) {
	t.Helper()
	was, err := wire.ParseAs(wire.Anthropic, []byte(a))
	if err != nil {
		t.Fatalf("%v", err)
	}
	for i := range next.Kept {
		x, y := was.Conversation.Messages[i].Blocks, next.Conversation.Messages[i].Blocks
		if len(x) != len(y) {
			t.Fatalf("m%d counts as kept and has %d blocks for %d", i+1, len(y), len(x))
		}
		for k := range x {
			if !bytes.Equal(was.Raw(x[k].Ref), next.Raw(y[k].Ref)) {
				t.Fatalf("m%d.%d counts as kept and is %q for %q", i+1, k, next.Raw(y[k].Ref), was.Raw(x[k].Ref))
			}
		}
	}
}

// nextTests are bodies and what follows them.
var nextTests = []struct {
	name, a, b string
	kept       int
}{
	{"Grown", `{"system":"s","messages":[{"role":"user","content":"a"}]}`,
		`{"system":"s","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`, 1},
	{"SameBody", `{"messages":[{"role":"user","content":"a"}],"system":"s"}`, `{"messages":[{"role":"user","content":"a"}],"system":"s"}`, 1},
	{"MarkerMoved", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}]}`,
		`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"}]},{"role":"user","content":[{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}]}]}`, 1},
	{"SystemBehind", `{"messages":[{"role":"user","content":"a"}],"system":[{"type":"text","text":"You are Claude Code, x"}],"tools":[{"name":"t","cache_control":{"type":"ephemeral"}}]}`,
		`{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}],"system":[{"type":"text","text":"You are Claude Code, x"}],"tools":[{"name":"t","cache_control":{"type":"ephemeral"}}]}`, 1},
	{"OtherSystem", `{"system":"s","tools":[{"name":"t"}],"messages":[{"role":"user","content":"a"}]}`, `{"system":"longer","tools":[{"name":"t"}],"messages":[{"role":"user","content":"a"}]}`, 1},
	{"OtherTools", `{"system":"s","tools":[{"name":"t"}],"messages":[{"role":"user","content":"a"}]}`, `{"system":"s","tools":[{"name":"u"}],"messages":[{"role":"user","content":"a"}]}`, 1},
	{"ToolsGone", `{"system":"s","tools":[{"name":"t"}],"messages":[{"role":"user","content":"a"}]}`, `{"system":"s","messages":[{"role":"user","content":"a"}]}`, 1},
	{"SystemNew", `{"messages":[{"role":"user","content":"a"}]}`, `{"messages":[{"role":"user","content":"a"}],"system":"s"}`, 1},
	{"MembersSwapped", `{"system":"s","messages":[{"role":"user","content":"a"}],"model":"m","max_tokens":5}`, `{"max_tokens":50, "model":"m","messages": [{"role":"user","content":"a"}] ,"system":"s"} `, 1},
	{"OtherAgent", `{"system":"You are Claude Code","messages":[{"role":"user","content":"# AGENTS.md instructions x</INSTRUCTIONS>"},{"role":"user","content":"<system-reminder>x</system-reminder>"}]}`,
		`{"system":"You are Codex","messages":[{"role":"user","content":"# AGENTS.md instructions x</INSTRUCTIONS>"},{"role":"user","content":"<system-reminder>x</system-reminder>"}]}`, 2},
	{"AnsweredLater", `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"One"},{"type":"tool_use","id":"a","name":"Two"},{"type":"tool_use","id":"b","name":"Three"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`,
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"One"},{"type":"tool_use","id":"a","name":"Two"},{"type":"tool_use","id":"b","name":"Three"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Four"}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"b"},{"type":"tool_result","tool_use_id":"b"}]}]}`, 2},
	{"ContentTwice", `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"One"}],"content":"x"}]}`,
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"One"}],"content":"x"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, 0},
	{"MessagesTwice", `{"messages":[{"role":"user","content":"x"}],"messages":[{"role":"user","content":"a"}]}`,
		`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"x"}],"messages":[{"role":"user","content":"a"}]}`, 1},
	{"SystemTwice", `{"system":"s","messages":[{"role":"user","content":"x"}]}`, `{"system":"s","messages":[{"role":"user","content":"x"}],"system":"t"}`, 1},
	{"SystemTwiceBefore", `{"system":"t","messages":[{"role":"user","content":"x"}],"system":"s"}`, `{"system":"s","messages":[{"role":"user","content":"x"}],"system":"t"}`, 1},
	{"NumberGrows", `{"max_tokens":32,"messages":[]}`, `{"max_tokens":320,"messages":[]}`, 0},
	{"Shrunk", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`, `{"messages":[{"role":"user","content":"a"}]}`, 1},
	{"BadRole", `{"messages":[{"role":"user","content":"a"}]}`, `{"messages":[{"role":"user","content":"a"},{"role":"robot"}]}`, 0},
	{"CutOff", `{"messages":[{"role":"user","content":"a"}]}`, `{"messages":[{"role":"user","content":"a"}`, 0},
	{"CutOffBeforeMessages", `{"messages":[]}`, `{"messages":`, 0},
	{"MoreBehind", `{"messages":[{"role":"user","content":"a"}]}`, `{"messages":[{"role":"user","content":"a"}]}x`, 0},
	{"TrailingComma", `{"messages":[{"role":"user","content":"a"}]}`, `{"messages":[{"role":"user","content":"a"}],}`, 0},
	{"ListTrailingComma", `{"messages":[{"role":"user","content":"a"}]}`, `{"messages":[{"role":"user","content":"a"},]}`, 0},
	{"WrongBracket", `{"messages":[{"role":"user","content":"a"}]}`, `{"messages":[{"role":"user","content":"a"}]]`, 0},
	{"NoList", `{"messages":[{"role":"user","content":"a"}]}`, `{"messages":7}`, 0},
	{"NoMessages", `{"messages":[{"role":"user","content":"a"}]}`, `{"system":"s"}`, 0},
	{"Empty", `{"messages":[{"role":"user","content":"a"}]}`, ``, 0},
	{"OddShapes", `{"messages":[{"role":"user","content":[["type","text"],"x",{"type":"text","text":"y"}]}],"system":{"type":"text"},"tools":{"a":1}}`,
		`{"messages":[{"role":"user","content":[["type","text"],"x",{"type":"text","text":"y"}]},{"role":"user","content":{"type":["text"]}}],"system":{"type":"text"},"tools":{"a":1}}`, 1},
	{"EscapedNames", `{"mess\u0061ges":[{"role":"user","content":"a"}],"s\u0079stem":"s"}`, `{"mess\u0061ges":[{"role":"user","content":"a"},{"role":"user","content":"b"}],"s\u0079stem":"s"}`, 1},
	{"Images", `{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","data":"w"}},{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhLAHIAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs="}}]}],"model":"m"}`,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","data":"w"}},{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhLAHIAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs="}}]}]}`, 1},
}

func TestParseNextReadsWhatParseReads(t *testing.T) {
	for _, tt := range nextTests {
		t.Run(tt.name, func(t *testing.T) {
			if kept := followedBy(t, tt.a, tt.b); kept != tt.kept {
				t.Errorf("kept %d messages, want %d", kept, tt.kept)
			}
			followedBy(t, tt.b, tt.a)
		})
	}
}

func TestCommonCountsBytes(t *testing.T) {
	src := []byte(`{"messages":[],"system":"` + strings.Repeat("long ", 10_000) + `"}`)
	d, err := wire.ParseAs(wire.Anthropic, src)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 2, 3, 4095, 8191, 8192, 8193, 20_000, len(src) - 1, len(src)} {
		other := bytes.Clone(src)
		if n < len(src) {
			other[n] ^= 1
		}
		if got := d.Common(other); got != n {
			t.Errorf("a change at byte %d: got %d", n, got)
		}
		if got := d.Common(src[:n]); got != n {
			t.Errorf("cut at byte %d: got %d", n, got)
		}
	}
	if got := d.Common(append(bytes.Clone(src), "more"...)); got != len(src) {
		t.Errorf("more bytes behind: got %d, want %d", got, len(src))
	}
}

func TestParseNextOfOtherFormats(t *testing.T) {
	for name, f := range bodies {
		d := parsed(t, name)
		next, err := parseNext(d, d.Source)
		if err != nil || next.Format != f || !slices.Equal(account(next, nil), account(d, nil)) {
			t.Errorf("%s: read differently, error %v", name, err)
		}
	}
}

// TestParseNextAlongASession walks along a session request by request, each read after the one before.
func TestParseNextAlongASession(t *testing.T) {
	for _, behind := range []bool{false, true} {
		growing := growth(t, "anthropic-session.json", behind)
		d, err := wire.ParseAs(wire.Anthropic, growing[0])
		if err != nil {
			t.Fatal(err)
		}
		for i, src := range growing[1:] {
			next, err := parseNext(d, src)
			got, want := account(next, err), account(wire.ParseAs(wire.Anthropic, src))
			if !slices.Equal(got, want) {
				t.Fatalf("request %d is read differently (-alone +after):\n%s", i+1, cmp.Diff(want, got))
			}
			if len(d.Conversation.Messages) != next.Kept {
				t.Errorf("request %d: kept %d messages of %d", i+1, next.Kept, len(d.Conversation.Messages))
			}
			d = next
		}
	}
}

// TestParseNextKeepsNothingOfTheEarlierRequest: a conversation of a thousand requests costs the memory of
// one.
func TestParseNextKeepsNothingOfTheEarlierRequest(t *testing.T) {
	growing := growth(t, "anthropic-session.json", false)
	first := bytes.Clone(growing[0])
	d, err := wire.ParseAs(wire.Anthropic, first)
	if err != nil {
		t.Fatal(err)
	}
	source, list, document := weak.Make(&first[0]), weak.Make(&d.Conversation.Messages[0]), weak.Make(d)
	first = nil
	next, err := parseNext(d, growing[1])
	if err != nil {
		t.Fatal(err)
	}
	d = nil
	runtime.GC()
	if source.Value() != nil || list.Value() != nil || document.Value() != nil {
		t.Error("the earlier request is still in memory")
	}
	if next.Kept == 0 {
		t.Error("nothing was taken over")
	}
	runtime.KeepAlive(next)
}

// growth returns the requests of the session whose last request is a body of testdata: each holds two
// messages more than the one before. The members other than messages stand before or behind them.
func growth(tb testing.TB, name string, behind bool) [][]byte {
	d := parsed(tb, name)
	list := d.Member("messages")
	var elems []jsonspan.Span
	sc := jsonspan.Scan(d.Source, list.Start)
	for sc.Open(); sc.Next(); {
		elems = append(elems, sc.Skip())
	}
	rest := []byte("{")
	for _, name := range []string{"system", "tools", "max_tokens", "model"} {
		if m := d.Member(name); !m.IsZero() {
			rest = fmt.Appendf(rest, "%q:%s,", name, m.Of(d.Source))
		}
	}
	var out [][]byte
	for n := 1; n <= len(elems); n += 2 {
		messages := fmt.Sprintf(`"messages":[%s]`, d.Source[elems[0].Start:elems[n-1].End])
		if behind {
			out = append(out, slices.Concat([]byte("{"), []byte(messages), []byte(","), rest[1:len(rest)-1], []byte("}")))
		} else {
			out = append(out, slices.Concat(rest, []byte(messages), []byte("}")))
		}
	}
	return out
}

// TestParseNextOfAnyChange is ParseNext's contract: whatever a client does to its last request, the
// new one is read as if it were the first.
func TestParseNextOfAnyChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyRequest(t)
		followedBy(t, a.String(), a.changed(t))
	})
}

// A draft is a request that can be changed member by member.
type draft struct {
	members  []string // before and behind the messages
	at       int      // how many stand before the messages
	messages []string
	sep      string
}

func (d *draft) String() string {
	list := `"messages":[` + strings.Join(d.messages, d.sep) + `]`
	return "{" + strings.Join(slices.Insert(slices.Clone(d.members), d.at, list), d.sep) + "}"
}

func anyRequest(t *rapid.T) *draft {
	d := &draft{sep: rapid.SampledFrom([]string{",", ", ", "\n,\t"}).Draw(t, "separator")}
	d.members = rapid.SliceOfN(rapid.SampledFrom(drafted.members), 0, 5).Draw(t, "members")
	d.at = rapid.IntRange(0, len(d.members)).Draw(t, "messages at")
	d.messages = rapid.SliceOfN(rapid.SampledFrom(drafted.messages), 0, 6).Draw(t, "messages")
	return d
}

// drafted are members and messages to draw requests from.
var drafted = struct{ members, messages []string }{
	[]string{`"system":"You are Claude Code"`, `"system":[{"type":"text","text":"You are Codex","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}]`,
		`"system":{"type":"text"}`, `"system":null`, `"tools":[{"name":"a","input_schema":{}},{"type":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}]`,
		`"tools":[]`, `"tools":7`, `"max_tokens":32`, `"max_tokens":320`, `"model":"m"`, `"thinking":{"type":"adaptive"}`,
		`"metadata":{"user_id":"{\"session_id\":\"s\"}"}`, `"stream":true`, `"messages":[]`, `"messages":[{"role":"user","content":"first"}]`},
	[]string{`{"role":"user","content":"hi"}`, `{"content":"<system-reminder>x</system-reminder>","role":"user"}`, `{"role":"user","content":"é \u00e9 \"q\" \ud83d"}`,
		`{"role":"assistant","content":[{"type":"text","text":"ok"},{"type":"tool_use","id":"a","name":"One","input":{"x":[1]}}]}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"a","name":"Two"},{"type":"tool_use","id":"b","name":"Three"}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1","is_error":true}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"2"},{"type":"image","source":{"data":"AAAA"}}]},{"type":"tool_result","tool_use_id":"a"}]}`,
		`{"role":"user","content":[{"type":"text","text":"<system-reminder>y</system-reminder>"},{"type":"text","text":"m","cache_control":{"type":"ephemeral"}}]}`,
		`{"role":"assistant","content":[{"type":"compaction","content":"so far"}]}`, `{"role":"system","content":[]}`, `{"role":"user"}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Lost"}],"content":[{"type":"tool_use","id":"b","name":"Four"}]}`,
		`{"role":"user","content":[["x"],"y",null,{"type":"new","a":{}}]}`},
}

// changed returns the request after some changes, of members or of bytes.
func (d *draft) changed(t *rapid.T) string {
	b := &draft{members: slices.Clone(d.members), at: d.at, messages: slices.Clone(d.messages), sep: d.sep}
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		switch rapid.IntRange(0, 6).Draw(t, "change") {
		case 0, 1, 2:
			b.messages = append(b.messages, rapid.SliceOfN(rapid.SampledFrom(drafted.messages), 1, 3).Draw(t, "more")...)
		case 3:
			if i := rapid.IntRange(0, len(b.messages)).Draw(t, "message"); i < len(b.messages) {
				b.messages[i] = rapid.SampledFrom(drafted.messages).Draw(t, "instead")
			}
		case 4:
			if i := rapid.IntRange(0, len(b.members)).Draw(t, "member"); i < len(b.members) {
				b.members[i] = rapid.SampledFrom(drafted.members).Draw(t, "instead")
			}
		case 5:
			b.at = rapid.IntRange(0, len(b.members)).Draw(t, "messages at")
		case 6:
			b.members = rapid.Permutation(b.members).Draw(t, "order")
		}
	}
	out := b.String()
	for range rapid.IntRange(-3, 2).Draw(t, "breaks") {
		i := rapid.IntRange(0, len(out)).Draw(t, "at")
		j := min(len(out), i+rapid.SampledFrom([]int{0, 1, 2, 7, 1000}).Draw(t, "cut"))
		out = out[:i] + rapid.SampledFrom([]string{"", "", `"`, `\`, "{", "}", "[", "]", ",", ":", "\xff", "\x00", " ", "1"}).Draw(t, "put") + out[j:]
	}
	return out
}

// FuzzParseNext replaces some bytes of a body by others.
func FuzzParseNext(f *testing.F) {
	for _, tt := range nextTests {
		f.Add(tt.a, uint(0), uint(len(tt.a)), tt.b)
		f.Add(tt.b, uint(len(tt.b)/2), uint(1), "")
		f.Add(tt.a, uint(len(tt.a)-2), uint(0), `,{"role":"user","content":[]}`)
	}
	f.Fuzz(func(t *testing.T, a string, at, n uint, put string) {
		i := int(at % uint(len(a)+1))
		j := i + int(n%uint(len(a)-i+1))
		followedBy(t, a, a[:i]+put+a[j:])
	})
}

// parseNext reads a request that comes after another one.
func parseNext(d *wire.Document, src []byte) (*wire.Document, error) {
	if next, ok := d.ParseNext(src); ok {
		return next, nil
	}
	return wire.ParseAs(d.Format, src)
}
