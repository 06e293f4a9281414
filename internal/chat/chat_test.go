package chat_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/chat"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/provider/sandbox"
	"github.com/decantdev/decant/store"
)

// A world is a chat in a folder, before a strict stand-in for the Messages API.
type world struct {
	*testing.T
	server  *sandbox.Server
	client  provider.Speaker
	dir     string
	notices bytes.Buffer
}

func newWorld(t *testing.T, m sandbox.Model) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir()}
	w.server, w.client = stand(t, sandbox.Options{Model: m})
	return w
}

// stand returns a stand-in with a client of it.
func stand(t *testing.T, o sandbox.Options) (*sandbox.Server, *anthropic.Client) {
	t.Helper()
	s := sandbox.New(o)
	rt, stop := s.Pipe()
	t.Cleanup(stop)
	c, err := anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "test"),
		Backoff: provider.Backoff{Attempts: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// file writes a file of the project.
func (w *world) file(name, text string) {
	w.Helper()
	name = filepath.Join(w.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		w.Fatal(err)
	}
}

// chat opens a chat with options.
func (w *world) chat(o chat.Options) *chat.Chat {
	w.Helper()
	p, err := project.Load(project.Options{Dir: w.dir})
	if err != nil {
		w.Fatal(err)
	}
	o.Project, o.Client, o.Notices = p, w.client, &w.notices
	if o.Model == "" {
		o.Model = "claude-sonnet-4-5"
	}
	if o.DB == "" {
		o.DB = filepath.Join(w.T.TempDir(), "chat.db")
	}
	if o.Preset == nil {
		o.Preset = loop(w.T, project.Settings{})
	}
	c, err := chat.New(w.Context(), o)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if err := c.Close(); err != nil {
			w.Error(err)
		}
		for _, e := range w.server.Log.Refused() {
			w.Errorf("request %d was refused with %d: %s", e.Number, e.Status, e.Error)
		}
	})
	return c
}

// loop returns the preset of the seed with settings.
func loop(t *testing.T, s project.Settings) *preset.Preset {
	t.Helper()
	p, err := chat.PresetFor(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// say says something and returns the answer.
func say(t *testing.T, c *chat.Chat, text string) string {
	t.Helper()
	answer := ""
	for e, err := range c.Run(t.Context(), text) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Outcome != nil {
			answer = e.Outcome.Text
		}
	}
	return answer
}

// once asks a question and returns what was written.
func once(t *testing.T, c *chat.Chat, q chat.Question) (string, *chat.Result, error) {
	t.Helper()
	var out bytes.Buffer
	q.Out = &out
	r, err := c.Once(t.Context(), q)
	return out.String(), r, err
}

// answers is a model that answers by the prompt.
type answers func(p *sandbox.Prompt) sandbox.Answer

func (f answers) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	return f(p), nil
}

func text(s string) sandbox.Answer {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: s}}}
}

func use(name, input string) sandbox.Answer {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, Name: name, Input: jsontext.Value(input)}}}
}

// reader reads each file that it is told to, once, and answers whether it can see a secret. It knows nothing but its prompt.
func reader(secret string) answers {
	return func(p *sandbox.Prompt) sandbox.Answer {
		last := p.Messages[len(p.Messages)-1].Blocks
		b := last[len(last)-1]
		if name, ok := strings.CutPrefix(b.Text, "Read "); ok && b.Kind == decant.KindText {
			return use("read", fmt.Sprintf(`{"path":%q}`, name))
		}
		for _, m := range p.Messages {
			for _, b := range m.Blocks {
				if strings.Contains(b.Text, secret) {
					return text("I see it.")
				}
			}
		}
		return text("I do not see it.")
	}
}

// reads is a tool that reads files of a folder.
func reads(dir string) agent.Tool {
	type which struct {
		Path string `json:"path"`
	}
	t := agent.Func("read", "Reads a file.", func(_ context.Context, _ *agent.Call, w which) (agent.Result, error) {
		b, err := os.ReadFile(filepath.Join(dir, filepath.Base(w.Path)))
		return agent.Result{Text: string(b)}, err
	})
	t.ReadOnly = true
	return t
}

// writes is a tool that somebody must allow.
func writes(wrote *[]string) agent.Tool {
	return agent.Tool{Name: "write", Ask: true, Schema: jsontext.Value(`{"type":"object","properties":{"text":{"type":"string"}}}`),
		Run: func(_ context.Context, c *agent.Call) (agent.Result, error) {
			*wrote = append(*wrote, string(c.Arguments))
			return agent.Result{Text: "written"}, nil
		}}
}

// postings returns a file of jobs, of about 10,000 tokens for each thousand lines.
func postings(round, jobs int) string {
	var b strings.Builder
	for i := range jobs {
		n := 100*round + i
		fmt.Fprintf(&b, "Job %d: senior developer. stack %d/10, pay %d/10, url: https://jobs.example/%d\n%s\n\n", n, n%10, (n+3)%10, n*7919,
			strings.Repeat("We are a team that values clear words and short meetings. ", 40))
	}
	return b.String()
}

// Mission 004-05, 004-22, 004-25, 004-27: one round is left alone. Above the threshold old messages become a record, the first and the
// newest stay, and the two lines of the seed stand on standard error word for word. The rubric is still known.
func TestTheSeedsScenario(t *testing.T) {
	w := newWorld(t, sandbox.Reader{})
	w.file("search-prompt.txt", "Score jobs by this rubric: stack 60%, pay 40%.\n")
	for round := 1; round <= 3; round++ {
		w.file(fmt.Sprintf("round%d.txt", round), postings(round, 12))
	}
	threshold, tail := 16_000, 4
	c := w.chat(chat.Options{Tools: []agent.Tool{reads(w.dir)}, Preset: loop(t, project.Settings{Threshold: &threshold, Tail: &tail})})
	say(t, c, "Execute the job search prompt from search-prompt.txt.")
	say(t, c, "Read round1.txt")
	if w.notices.Len() > 0 {
		t.Errorf("one round of %d tokens was poured: %s", c.Meter().Size, w.notices.String())
	}
	say(t, c, "Read round2.txt")
	say(t, c, "Read round3.txt")
	say(t, c, "What is the URL of job 301?")
	if c.Meter().Pours == 0 {
		t.Fatal("nothing was poured")
	}
	lines := regexp.MustCompile(`(?m)^  Compaction: estimated ~[\d,]+ tokens, threshold 16,000 — compacting \d+ messages
  Compaction: summarized \d+ messages into ~[\d,]+ tokens, freed ~[\d,]+ estimated tokens$`)
	if !lines.MatchString(w.notices.String()) {
		t.Errorf("standard error:\n%s", w.notices.String())
	}
	if got := say(t, c, "Score job 301 by the rubric."); !strings.Contains(got, "Job 301: ") {
		t.Errorf("the rubric is gone: %s", got)
	}
}

// Mission 004-26: where the model that writes records fails, the seed's warning says so, and the conversation goes on.
func TestTheSeedsWarning(t *testing.T) {
	w := newWorld(t, reader("https://jobs.example/3175519"))
	for round := 1; round <= 4; round++ {
		w.file(fmt.Sprintf("round%d.txt", round), postings(round, 6))
	}
	_, failing := stand(t, sandbox.MisbehaveHalf.Apply(sandbox.Options{}))
	threshold := 9000
	c := w.chat(chat.Options{Tools: []agent.Tool{reads(w.dir)}, Preset: loop(t, project.Settings{Threshold: &threshold}),
		Account: &provider.Account{Client: failing, Upstream: "http://sandbox", Model: "claude-haiku-4-5"}})
	for round := 1; round <= 4; round++ {
		say(t, c, fmt.Sprintf("Read round%d.txt", round))
	}
	warning := regexp.MustCompile(`(?m)^  Warning: Compaction failed: .+\. Falling back to history trimming\.$`)
	if !warning.MatchString(w.notices.String()) {
		t.Errorf("standard error:\n%s", w.notices.String())
	}
	if got := say(t, c, "What is the URL of job 401?"); got != "I see it." {
		t.Errorf("the conversation does not go on: %s", got)
	}
}

// Mission 004-28: without compaction old messages are trimmed, no model is asked, and what only the trimmed text said is gone. With
// it the same conversation still knows.
func TestTheKillSwitch(t *testing.T) {
	for _, on := range []bool{true, false} {
		w := newWorld(t, reader("RX-4711"))
		w.file("rules.txt", strings.Repeat("Filler that says nothing at all. ", 60)+"\nThe rubric code is RX-4711.\n"+strings.Repeat("Filler that says nothing at all. ", 60))
		threshold, tail := 9000, 2
		c := w.chat(chat.Options{Tools: []agent.Tool{reads(w.dir)}, Preset: loop(t, project.Settings{Threshold: &threshold, Tail: &tail, Compaction: &on})})
		say(t, c, "Start.")
		say(t, c, "Read rules.txt")
		for round := 1; round <= 4; round++ {
			w.file(fmt.Sprintf("round%d.txt", round), postings(round, 6))
			say(t, c, fmt.Sprintf("Read round%d.txt", round))
		}
		got := say(t, c, "What is the rubric code?")
		if known := got == "I see it."; known != on || c.Meter().Pours == 0 {
			t.Errorf("CompactionEnabled %v: %q after %d pours", on, got, c.Meter().Pours)
		}
	}
}

// What the project says stands in every request, also after pours, and word for word. The skill's body is not there until it is read.
func TestRulesSurviveEveryPour(t *testing.T) {
	const rule = "RULE-ONE: never write to prod. \"Quoted\" and ünïcode."
	w := newWorld(t, reader("nothing"))
	w.file("AGENTS.md", "Follow @rules.md.")
	w.file("rules.md", rule)
	w.file(".claude/skills/release/SKILL.md", "---\ndescription: How to release.\n---\nTag with SECRET-TAG.")
	threshold, tail := 9000, 2
	c := w.chat(chat.Options{Tools: []agent.Tool{reads(w.dir)}, Preset: loop(t, project.Settings{Threshold: &threshold, Tail: &tail})})
	for round := 1; round <= 6; round++ {
		w.file(fmt.Sprintf("round%d.txt", round), postings(round, 6))
		say(t, c, fmt.Sprintf("Read round%d.txt", round))
	}
	if c.Meter().Pours < 2 {
		t.Fatalf("%d pours, want some", c.Meter().Pours)
	}
	for _, e := range w.server.Log.Entries() {
		var r struct {
			System []struct {
				Text string `json:"text"`
			} `json:"system"`
		}
		if err := json.Unmarshal(e.Body, &r); err != nil {
			t.Fatal(err)
		}
		if len(r.System) == 0 || !strings.Contains(r.System[0].Text, rule) || !strings.Contains(r.System[0].Text, "- release: How to release.") {
			t.Fatalf("request %d lacks the rule: %v", e.Number, r.System)
		}
		if strings.Contains(string(e.Body), "SECRET-TAG") {
			t.Error("the body of a skill was sent before it was read")
		}
	}
}

func TestASkillIsReadOnDemand(t *testing.T) {
	w := newWorld(t, answers(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return use("skill", `{"name":"release"}`)
		}
		last := p.Messages[len(p.Messages)-1].Blocks
		return text(last[len(last)-1].Text)
	}))
	w.file(".claude/skills/release/SKILL.md", "---\ndescription: How to release.\n---\nTag it.")
	w.file(".claude/skills/release/tag.sh", "git tag")
	c := w.chat(chat.Options{Unattended: true, Permit: func(context.Context, *agent.Tool, *agent.Call) agent.Verdict { return agent.Verdict{} }})
	if got := say(t, c, "Release."); !strings.Contains(got, "Tag it.") || !strings.Contains(got, "tag.sh") {
		t.Errorf("%q", got)
	}
}

// What would ask is denied where nobody can be asked, and the result names it.
func TestUnattended(t *testing.T) {
	w := newWorld(t, answers(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return use("write", `{"text":"x"}`)
		}
		last := p.Messages[len(p.Messages)-1].Blocks
		return text(last[0].Text)
	}))
	var wrote []string
	c := w.chat(chat.Options{Tools: []agent.Tool{writes(&wrote)}, Unattended: true})
	out, r, err := once(t, c, chat.Question{Text: "Write.", Format: chat.FormatText})
	if err != nil || len(wrote) > 0 || !strings.Contains(out, "nobody can be asked") || len(r.Denied) != 1 || r.Denied[0].Tool != "write" {
		t.Errorf("%q, %+v, %v; wrote %q", out, r, err, wrote)
	}
}

func TestFormats(t *testing.T) {
	model := answers(func(p *sandbox.Prompt) sandbox.Answer { return text("It is Friday.") })
	w := newWorld(t, model)
	out, _, err := once(t, w.chat(chat.Options{}), chat.Question{Text: "When?", Format: chat.FormatText})
	if err != nil || out != "It is Friday.\n" {
		t.Errorf("text: %q, %v", out, err)
	}
	out, _, err = once(t, w.chat(chat.Options{}), chat.Question{Text: "When?", Format: "json"})
	var r chat.Result
	if err = errors.Join(err, json.Unmarshal([]byte(out), &r)); err != nil || r.Answer != "It is Friday." || r.Stop != agent.StopAnswered || r.Turns != 1 || r.USD == 0 || r.Session == "" {
		t.Errorf("json: %s, %v", out, err)
	}
	out, _, err = once(t, w.chat(chat.Options{}), chat.Question{Text: "When?", Format: "stream-json"})
	var kinds []string
	for line := range strings.Lines(out) {
		var e struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if n := len(kinds); n == 0 || kinds[n-1] != e.Kind {
			kinds = append(kinds, e.Kind)
		}
	}
	if got := strings.Join(kinds, " "); err != nil || got != "start user text message done result" {
		t.Errorf("stream: %s, %v", got, err)
	}
}

// An answer that does not have the form is asked for once more.
func TestSchema(t *testing.T) {
	schema, err := chat.ParseSchema([]byte(`{"type":"object","properties":{"day":{"enum":["Friday","Monday"]}},"required":["day"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		said []string
		want string
	}{
		"at once":    {[]string{`{"day":"Friday"}`}, `{"day":"Friday"}`},
		"in a fence": {[]string{"Of 3 days [sic]:\n```json\n{\"day\": \"Friday\"}\n```"}, `{"day": "Friday"}`},
		"the second": {[]string{`{"day":"Someday"}`, `{"day":"Monday"}`}, `{"day":"Monday"}`},
		"never":      {[]string{"Friday", `{"when":"Friday"}`, `{"day":"Friday"}`}, ""},
	} {
		w := newWorld(t, answers(func(p *sandbox.Prompt) sandbox.Answer { return text(tc.said[p.Answers()]) }))
		out, r, err := once(t, w.chat(chat.Options{}), chat.Question{Text: "When?", Schema: schema, Format: chat.FormatText})
		if tc.want == "" {
			if !errors.Is(err, chat.ErrForm) || r.Value != nil {
				t.Errorf("%s: %q, %v", name, out, err)
			}
			continue
		}
		if err != nil || out != tc.want+"\n" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
	for _, bad := range []string{`{"type":5}`, `[`, `{"$ref":"https://example.com/x.json"}`} {
		if _, err := chat.ParseSchema([]byte(bad)); err == nil {
			t.Errorf("%s is taken for a schema", bad)
		}
	}
}

// A limit ends in an answer, and all runs of a session share what it may cost.
func TestLimits(t *testing.T) {
	w := newWorld(t, answers(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Choice == "none" {
			return text("That is all.")
		}
		return use("read", `{"path":"a.txt"}`)
	}))
	w.file("a.txt", "a")
	c := w.chat(chat.Options{Tools: []agent.Tool{reads(w.dir)}, Turns: 3})
	_, r, err := once(t, c, chat.Question{Text: "Go.", Format: "json"})
	if err != nil || r.Stop != agent.StopTurns || !r.Forced || r.Answer != "That is all." || r.Turns != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	c = w.chat(chat.Options{Tools: []agent.Tool{reads(w.dir)}, USD: 0.5})
	_, r, err = once(t, c, chat.Question{Text: "Go.", Format: "json"})
	if err != nil || r.Stop != agent.StopBudget || !r.Forced || r.USD > 0.5 || r.USD < 0.01 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, r, err = once(t, c, chat.Question{Text: "And now?", Format: "json"}); r.USD > 0.5 {
		t.Errorf("the session costs $%.4f: %+v, %v", r.USD, r, err)
	}
}

// A pour on demand, what fills the window before and after it, and its undo. What it is about is asked for by a focus.
func TestCompactAndUndo(t *testing.T) {
	w := newWorld(t, reader("nothing"))
	w.file("round1.txt", postings(1, 12))
	c := w.chat(chat.Options{Tools: []agent.Tool{reads(w.dir)}})
	if _, err := c.Compact(t.Context(), ""); !errors.Is(err, decant.ErrNothing) {
		t.Errorf("a pour of nothing: %v", err)
	}
	for range 5 {
		say(t, c, "Read round1.txt")
	}
	before := fill(t, c)
	change, err := c.Compact(t.Context(), "the jobs")
	if err != nil {
		t.Fatal(err)
	}
	after := fill(t, c)
	if total(after) >= total(before)/2 || change.Plan.After.Messages >= change.Plan.Before.Messages {
		t.Errorf("from %+v to %+v", before, after)
	}
	if !hasPart(after, "record of what was poured") || hasPart(before, "record of what was poured") {
		t.Errorf("before: %+v\nafter: %+v", before, after)
	}
	say(t, c, "What is the URL of job 101?")
	if size := c.Meter().Size; size > total(before)/2 {
		t.Errorf("the next request had %d tokens", size)
	}
	if _, err := c.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	say(t, c, "What is the URL of job 102?")
	if size := c.Meter().Size; size < total(before)*8/10 {
		t.Errorf("after the undo the next request had %d tokens, before the pour %d", size, total(before))
	}
}

func fill(t *testing.T, c *chat.Chat) *chat.Fill {
	t.Helper()
	f, err := c.Fill(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func total(f *chat.Fill) (n int) {
	for _, p := range f.Parts {
		n += p.Tokens
	}
	return n
}

func hasPart(f *chat.Fill, name string) bool {
	for _, p := range f.Parts {
		if p.Name == name && p.Tokens > 0 {
			return true
		}
	}
	return false
}

// Going back, another model and a new conversation: each goes on legally, and from what it should know.
func TestRewindModelClear(t *testing.T) {
	w := newWorld(t, sandbox.Reader{})
	c := w.chat(chat.Options{})
	say(t, c, "The port is 8443.")
	say(t, c, "The port is 9000.")
	if text, _, err := c.Rewind(1, chat.Back{Talk: true}); err != nil || text != "The port is 9000." {
		t.Fatalf("%q, %v", text, err)
	}
	if _, err := c.Compact(t.Context(), ""); err == nil || errors.Is(err, decant.ErrNothing) {
		t.Errorf("a pour of what was taken back: %v", err)
	}
	if got := say(t, c, "What is the port?"); !strings.Contains(got, "8443") {
		t.Errorf("after going back: %s", got)
	}
	if err := c.SetModel(t.Context(), "claude-haiku-4-5"); err != nil {
		t.Fatal(err)
	}
	if got := say(t, c, "What is the port?"); !strings.Contains(got, "8443") || c.Meter().Model != "claude-haiku-4-5" {
		t.Errorf("with another model: %s", got)
	}
	if _, _, err := c.Rewind(9, chat.Back{Talk: true}); err == nil {
		t.Error("nine turns were taken back")
	}
	c.Clear()
	if got := say(t, c, "What is the port?"); strings.Contains(got, "8443") || c.Meter().Spent.Turns != 1 {
		t.Errorf("after clear: %s, %+v", got, c.Meter())
	}
}

// Another process goes on with the newest session of the project, or leaves it as it is and goes on beside it.
func TestOpen(t *testing.T) {
	w := newWorld(t, sandbox.Reader{})
	db := filepath.Join(t.TempDir(), "chat.db")
	first := w.chat(chat.Options{DB: db})
	if err := first.Open(t.Context(), chat.Last, false); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the newest of no sessions: %v", err)
	}
	say(t, first, "The port is 8443.")
	second := w.chat(chat.Options{DB: db})
	if err := second.Open(t.Context(), chat.Last, true); err != nil {
		t.Fatal(err)
	}
	if got := say(t, second, "What is the port?"); !strings.Contains(got, "8443") || second.Session().ID() == first.Session().ID() {
		t.Errorf("the fork: %s", got)
	}
	third := w.chat(chat.Options{DB: db})
	if err := third.Open(t.Context(), first.Session().ID(), false); err != nil {
		t.Fatal(err)
	}
	if n := len(third.Session().Messages()); n != 2 || third.Session().ID() != first.Session().ID() {
		t.Errorf("the first session has %d messages after the fork", n)
	}
}

// What somebody types may name commands and files; nothing else does.
func TestTyped(t *testing.T) {
	w := newWorld(t, sandbox.Reader{})
	w.file(".claude/commands/fix.md", "Fix #$ARGUMENTS, see @notes.txt.")
	w.file("notes.txt", "the notes")
	w.file("a b.txt", "with spaces")
	w.file("binary", "\xff\xfe")
	w.file("long.txt", strings.Repeat("long", 20_000))
	p, err := project.Load(project.Options{Dir: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"Hello @nobody, see me@example.com": "Hello @nobody, see me@example.com",
		"/fix 12":                           "Fix #12, see @notes.txt.\n\n<file name=\"notes.txt\">\nthe notes\n</file>",
		`See @"a b.txt" and @"a b.txt".`:    "See @\"a b.txt\" and @\"a b.txt\".\n\n<file name=\"a b.txt\">\nwith spaces\n</file>",
		"/nothing like it":                  "/nothing like it",
	} {
		if got, shown, err := chat.Typed(p, in); len(shown) > 0 || err != nil || got != want {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
	if _, _, err := chat.Typed(p, "@binary"); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("binary: %v", err)
	}
	const dot = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
	w.file("dot.gif", dot)
	got, shown, err := chat.Typed(p, "Look at @dot.gif")
	if err != nil || got != "Look at @dot.gif" || len(shown) != 1 || shown[0].MediaType != "image/gif" || string(shown[0].Data) != dot {
		t.Errorf("an image: %q, %+v, %v", got, shown, err)
	}
	if _, r, err := once(t, w.chat(chat.Options{}), chat.Question{Text: got, With: shown}); err != nil || r.Stop != agent.StopAnswered {
		t.Errorf("an image: %+v, %v", r, err)
	}
	if got, _, err := chat.Typed(p, "@long.txt"); err != nil || len(got) > 41_000 || !strings.Contains(got, "are left out here") {
		t.Errorf("long: %d bytes, %v", len(got), err)
	}
}
