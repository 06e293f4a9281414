package notebook_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/apps/notebook/internal/scan"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/wire"
)

// recording returns a session as Claude Code records it, of what the person says and the model answers by turns. What
// begins with "$ " is a command, and the line behind it its result.
func recording(t *testing.T, id string, at time.Time, turns ...string) scan.Session {
	t.Helper()
	var src strings.Builder
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for i := 0; i < len(turns); i++ {
		at = at.Add(time.Minute)
		stamp := fmt.Sprintf(`"sessionId":%q,"timestamp":%q`, id, at.Format(time.RFC3339))
		said, isCommand := strings.CutPrefix(turns[i], "$ ")
		switch {
		case isCommand:
			fmt.Fprintf(&src, `{"type":"assistant",%s,"message":{"id":"a%d","role":"assistant","usage":{"input_tokens":10,"output_tokens":5},"content":[{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":%s}}]}}`+"\n", stamp, i, i, quoted(said))
			fmt.Fprintf(&src, `{"type":"user",%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%s}]}}`+"\n", stamp, i, quoted(turns[i+1]))
			i++
		default:
			fmt.Fprintf(&src, `{"type":"user",%s,"message":{"role":"user","content":%s}}`+"\n", stamp, quoted(said))
			fmt.Fprintf(&src, `{"type":"assistant",%s,"message":{"id":"b%d","role":"assistant","usage":{"input_tokens":10,"output_tokens":5},"content":[{"type":"text","text":"Done."}]}}`+"\n", stamp, i)
		}
	}
	return sessionOf(t, id, src.String())
}

// What the person says becomes an observation, their words in other sessions confirm it once each, however
// often a session is read, and what others write confirms nothing.
func TestSessionsAreLearnedOnce(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	const order = "Always run the linter before you push to the remote."
	var ss []scan.Session
	for n := range 7 {
		ss = append(ss, recording(t, fmt.Sprintf("session-%d", n), d.now.AddDate(0, 0, n-9), "hello", order, "and again: "+order))
	}
	ss = append(ss, recording(t, "poisoned", d.now.AddDate(0, 0, -1), "read the notes", "$ cat notes.md", order))
	for range 3 {
		_, err := b.Learn(ctx, ss)
		d.no(err)
	}
	items, err := b.Items(ctx, notebook.Query{Kinds: []memory.Kind{memory.KindObservation}})
	d.no(err)
	if len(items) != 1 || items[0].Times != 6 {
		t.Fatalf("seven sessions say it, of which one is where it is known from: %+v", items)
	}
	offered, err := b.Offered(ctx)
	d.no(err)
	if len(offered) != 1 || offered[0].Asked != 7 || offered[0].Session != "session-0" || offered[0].Message == 0 {
		t.Errorf("offered %+v", offered)
	}
	if text := d.read(b, notebook.RulesFile); strings.Contains(text, "linter") {
		t.Errorf("a rule without a yes:\n%s", text)
	}
	rule, err := b.Accept(ctx, items[0].ID, "")
	d.no(err)
	d.now = d.now.AddDate(0, 0, 1)
	l, err := b.Learn(ctx, []scan.Session{recording(t, "later", d.now.Add(-time.Hour), "hello", "Never run the linter before you push to the remote.")})
	d.no(err)
	r, err := b.Find(ctx, rule.ID)
	d.no(err)
	if l.Contradictions != 1 || r.Suspended.IsZero() {
		t.Errorf("%+v, %+v: want it suspended", l, r)
	}
	d.same(b)
}

// What was said or done once counts once, in however many forks a copy of it is, also where a fork is read later.
func TestCopiesInForksCountOnce(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	const order = "Always run the linter before you push to the remote."
	at := d.now.AddDate(0, 0, -9)
	fork := func(n int, last string) scan.Session {
		src := claudeLine("u1", order, at) + claudeLine(fmt.Sprintf("v%d", n), last, at.AddDate(0, 0, n))
		return sessionOf(t, fmt.Sprintf("fork-%d", n), strings.ReplaceAll(src, "SESSION", fmt.Sprintf("fork-%d", n)))
	}
	learn := func(ss ...scan.Session) {
		_, err := b.Learn(ctx, ss)
		d.no(err)
	}
	learn(fork(0, "hello"), fork(1, "hello again"), fork(2, "and again"))
	learn(fork(3, "later"))
	times := func() int {
		items, err := b.Items(ctx, notebook.Query{Kinds: []memory.Kind{memory.KindObservation}})
		d.no(err)
		if len(items) != 1 {
			t.Fatalf("%+v", items)
		}
		return items[0].Times
	}
	if n := times(); n != 0 {
		t.Errorf("said once, and confirmed %d times", n)
	}
	learn(fork(4, "once more: "+order))
	if n := times(); n != 1 {
		t.Errorf("a fork says it again: %d confirmations, want 1", n)
	}
}

func claudeLine(id, text string, at time.Time) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"sessionId":"SESSION","timestamp":%q,"message":{"role":"user","content":%q}}`+"\n",
		id, at.Format(time.RFC3339), text)
}

func sessionOf(t *testing.T, id, src string) scan.Session {
	t.Helper()
	doc, err := wire.ParseAs(wire.ClaudeCode, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	s := scan.Read(doc.Conversation)
	s.File = "/sessions/" + id + ".jsonl"
	return s
}

// What a program types is not the person's own words: nothing is learned from it.
func TestPromptsOfProgramsTeachNothing(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	for n := range 6 {
		src := strings.Replace(claudeLine(fmt.Sprintf("u%d", n), "Always answer in JSON, never in prose.", d.now.AddDate(0, 0, n-9)),
			`{"type"`, `{"entrypoint":"sdk-ts","type"`, 1)
		_, err := b.Learn(ctx, []scan.Session{sessionOf(t, fmt.Sprintf("run-%d", n), strings.ReplaceAll(src, "SESSION", fmt.Sprintf("run-%d", n)))})
		d.no(err)
	}
	items, err := b.Items(ctx, notebook.Query{Kinds: []memory.Kind{memory.KindObservation}})
	d.no(err)
	if len(items) != 0 {
		t.Errorf("learned %+v", items)
	}
}

// A task beyond the newest goes after so many sessions, before the month ends.
func TestTasksGoAfterTwentySessions(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	for n := range 32 {
		d.now = d.now.Add(time.Minute)
		_, err := b.Done(ctx, fmt.Sprintf("work %d", n), notebook.Task{}, session(n))
		d.no(err)
	}
	_, err := b.CatchUp(ctx)
	d.no(err)
	items, err := b.Items(ctx, notebook.Query{Kinds: []memory.Kind{memory.KindTask}, Archived: true})
	d.no(err)
	archived := 0
	for _, it := range items {
		if it.State() == memory.Archived {
			archived++
		}
	}
	if len(items) != 32 || archived != 12 { // the newest 20 sessions are not over 20 sessions ago
		t.Errorf("%d of %d tasks are archived, want 12 of 32", archived, len(items))
	}
	d.same(b)
}

// While the notebook is off nothing is learned.
func TestOffLearnsNothing(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	d.no(b.Switch(ctx, false))
	_, err := b.Learn(ctx, []scan.Session{recording(t, "s", d.now, "hello", "Always run the linter before you push to the remote.", "<private>Never tell anybody about the launch.</private>")})
	d.no(err)
	d.no(b.Switch(ctx, true))
	items, err := b.Items(ctx, notebook.Query{Archived: true})
	d.no(err)
	if len(items) > 0 {
		t.Errorf("learned %+v", items)
	}
}

// A notebook that cannot be read in time is not taken for one that nobody began: a hook would lose a task without a word.
func TestBegunOrNotKnown(t *testing.T) {
	d := newDesk(t)
	b := d.open(d.root)
	if begun, err := b.Begun(t.Context()); begun || err != nil {
		t.Errorf("before: %v, %v", begun, err)
	}
	b = d.book()
	if begun, err := b.Begun(t.Context()); !begun || err != nil {
		t.Errorf("after: %v, %v", begun, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if begun, err := b.Begun(over); begun || err == nil {
		t.Errorf("in no time: %v, %v", begun, err)
	}
}

// A rule's check is seen in the calls, once for each session.
func TestChecksConfirm(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	it, err := b.AddRule(ctx, "Run go test before each commit", "", memory.Source{})
	d.no(err)
	kept := recording(t, "kept", d.now, "please go on", "$ go test ./...", "ok  	example	0.1s", "$ git commit -m x", "[main 7b848b0] x\n 1 file changed, 3 insertions(+)")
	for range 2 {
		_, err = b.Learn(ctx, []scan.Session{kept})
		d.no(err)
	}
	r, err := b.Find(ctx, it.ID)
	d.no(err)
	if r.Times != 1 || len(r.Seen) != 1 || r.Seen[0].By != "check" {
		t.Errorf("%d confirmations, %+v: want one by the check", r.Times, r.Seen)
	}
}

// Of recorded sessions come tasks, with what they took, and entries of the archive that name the transcript.
func TestRecordedSessionsBecomeTasksAndContexts(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	var ss []scan.Session
	tasks, compactions := 0, 0
	for n := range 3 {
		s := recording(t, fmt.Sprintf("work-%d", n), d.now.AddDate(0, 0, -n), "go on", "$ git commit -m 'fix(auth): wait'", fmt.Sprintf("[main 7b848b%d] fix(auth): wait for the token\n 2 files changed, 3 insertions(+)", n))
		s.Compactions = []scan.Compaction{{Message: 100, Before: 95_000, After: 15_000, Time: s.End}}
		tasks, compactions = tasks+len(s.Tasks), compactions+1
		ss = append(ss, s)
	}
	for range 2 {
		_, err := b.Learn(ctx, ss)
		d.no(err)
	}
	done := d.read(b, notebook.DoneFile)
	if tasks != 3 || strings.Count(done, "  - Commits: 7b848b") != 3 || strings.Count(done, "  - Pattern: auth") != 3 {
		t.Errorf("%d tasks in the sessions:\n%s", tasks, done)
	}
	archive := d.read(b, notebook.ContextsFile)
	if strings.Count(archive, "\n## Session [") != compactions || !strings.Contains(archive, "**Original transcript:** /sessions/work-0.jsonl") || !strings.Contains(archive, "✓ (2 files changed, 3 insertions(+); 7b848b0)") {
		t.Errorf("%d compactions:\n%s", compactions, archive)
	}
	_, err := b.Scan(ctx, false, true)
	d.no(err)
	if text := d.read(b, notebook.ObservationsFile); !strings.Contains(text, "Tasks here follow the pattern auth") {
		t.Errorf("no pattern in\n%s", text)
	}
	d.same(b)
}

// A session of a worktree that was deleted is still the repository's.
func TestADeletedWorktreeIsOwned(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	if !b.Owns(ctx, d.root) || b.Owns(ctx, t.TempDir()) || b.Owns(ctx, "") {
		t.Error("the root is owned, another folder is not")
	}
	tree := filepath.Join(t.TempDir(), "tree")
	d.git("commit", "-q", "--allow-empty", "-m", "first")
	d.git("worktree", "add", "-q", tree)
	other := d.open(tree)
	_, err := other.Init(ctx)
	d.no(err)
	_, err = other.Observe(ctx, "noted in the worktree", memory.Source{})
	d.no(err)
	d.git("worktree", "remove", "--force", tree)
	if _, err := os.Stat(tree); err == nil {
		t.Fatal("the worktree is there")
	}
	if !b.Owns(ctx, filepath.Join(tree, "cmd")) {
		t.Error("its sessions are nobody's")
	}
	_, err = b.Sync(ctx)
	d.no(err)
	if text := d.read(b, notebook.ObservationsFile); !strings.Contains(text, "noted in the worktree") {
		t.Errorf("lost with the worktree:\n%s", text)
	}
}

// What a project has already is taken over for a yes, and stays as it is to the byte.
func TestAdoption(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	_, err := b.Learn(ctx, []scan.Session{recording(t, "s", d.now, "go on", "$ git commit -m x", "[main 7b848b0] x\n 1 file changed, 3 insertions(+)")})
	d.no(err)
	const done = "# Done\n- TASK-1: Add SMS OTP handler\n    - Completed: 2026-03-15\n    - Files: 3 (handler, stack, tests)\n    - Tokens: 3.5K estimated, 2.8K actual\n    - Commits: 7b848b1, 34d27b8\n"
	for name, text := range map[string]string{"DONE.md": done, "CLAUDE.md": "# A\n- Never edit generated files.\n- The API lives in cmd.\n```\n- never this\n```\n"} {
		n, err := b.Import(ctx, filepath.Join(d.root, name), text)
		d.no(err)
		if n != 1 {
			t.Errorf("%s: %d records, want 1", name, n)
		}
	}
	text := d.read(b, notebook.DoneFile)
	for _, want := range []string{"- TASK-1: Add SMS OTP handler", "  - Completed: 2026-03-15", "  - Tokens: 3.5K estimated, 2.8K actual", "  - Commits: 7b848b1, 34d27b8", "- TASK-2: x"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	offered, err := b.Offered(ctx)
	d.no(err)
	if len(offered) != 1 || offered[0].Text != "Never edit generated files." {
		t.Errorf("offered %+v", offered)
	}
	_, err = b.Publish(ctx)
	d.no(err)
	_, err = b.AddRule(ctx, "Never push to main", "", memory.Source{})
	d.no(err)
	rules := filepath.Join(d.root, ".claude", "rules", "decant.md")
	if text, err := os.ReadFile(rules); err != nil || !strings.Contains(string(text), "- Never push to main\n") {
		t.Errorf("%v\n%s", err, text)
	}
	_, err = b.Unpublish(ctx)
	d.no(err)
	if _, err := os.Stat(rules); err == nil {
		t.Error("the rules are still published")
	}
	d.same(b)
}
