package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/testing/sandbox"
)

// A session is compacted at once, by hand: a model that is configured writes the summary by the
// notebook's prompt, and what it lacks of ids and commits stays; without a model it is quoted.
func TestSessionNowIsSummedUp(t *testing.T) {
	home, repo := t.TempDir(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(repo, ".git"), 0o700))
	folder := filepath.Join(home, ".claude", "projects", strings.NewReplacer("/", "-", ".", "-", `\`, "-", ":", "-").Replace(repo))
	must(os.MkdirAll(folder, 0o700))
	lines := []string{
		`{"parentUuid":null,"isSidechain":false,"userType":"external","version":"2.0.1","type":"user","uuid":"u1","sessionId":"s1","cwd":"REPO","timestamp":"2026-03-02T09:00:00Z","message":{"role":"user","content":"Add a handler for codes. We must never log a code."}}`,
		`{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s1","cwd":"REPO","timestamp":"2026-03-02T09:01:00Z","message":{"id":"a1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"I added the handler and decided to keep codes in memory."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"git commit -m \"TASK-42: Add a handler for codes\""}}],"usage":{"input_tokens":900,"output_tokens":40}}}`,
		`{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"s1","cwd":"REPO","timestamp":"2026-03-02T09:02:00Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"[main 7b848b0] TASK-42: Add a handler for codes\n 3 files changed, 40 insertions(+)"}]}}`,
		`{"type":"assistant","uuid":"u4","parentUuid":"u3","sessionId":"s1","cwd":"REPO","timestamp":"2026-03-02T09:03:00Z","message":{"id":"a2","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Done. Next: the tests."}],"usage":{"input_tokens":1000,"output_tokens":20}}}`,
	}
	text := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "REPO", repo)
	must(os.WriteFile(filepath.Join(folder, "s1.jsonl"), []byte(text), 0o600))

	command := func(args ...string) string {
		t.Helper()
		out := &strings.Builder{}
		if code := run(&process.Process{Args: append([]string{"notebook"}, args...), Environ: []string{"HOME=" + home, "OUR_KEY=" + ourKey}, Dir: repo, In: strings.NewReader(""), Out: out, Err: out}); code != 0 {
			t.Fatalf("decant notebook %v: exit %d\n%s", args, code, out)
		}
		return out.String()
	}
	command("init")
	contexts := func() string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(repo, ".decant", "notebook", "CONTEXT_ARCHIVE.md"))
		must(err)
		return string(text)
	}
	if out := command("scan", "--session-now", "--observations", "--tasks"); !strings.Contains(out, "CONTEXT_ARCHIVE.md") {
		t.Errorf("it says %s", out)
	}
	if got := contexts(); !strings.Contains(got, "7b848b0") || !strings.Contains(got, "s1.jsonl") {
		t.Fatalf("without a model:\n%s", got)
	}

	model := sandbox.New(sandbox.Options{Model: sandbox.Summarizer{}, Keys: []string{ourKey}})
	upstream := httptest.NewServer(model)
	t.Cleanup(upstream.Close)
	config := filepath.Join(home, "decant.yaml")
	must(os.WriteFile(config, []byte("summary:\n  base_url: "+upstream.URL+"\n  api_key_env: OUR_KEY\n  model: claude-haiku-4-5\n"), 0o600))
	other := strings.ReplaceAll(text, `"s1"`, `"s2"`)
	must(os.WriteFile(filepath.Join(folder, "s2.jsonl"), []byte(other), 0o600))
	command("learn", "--checkpoint", "--config="+config, "--", filepath.Join(folder, "s2.jsonl"))
	got := contexts()
	if _, second, ok := strings.Cut(got, "s2.jsonl"); !ok && second == "" {
		t.Fatalf("the second session is not there:\n%s", got)
	}
	if !strings.Contains(got, "must never log a code") || strings.Count(got, "7b848b0") < 2 {
		t.Errorf("the model's summary is not there, or it has lost a commit:\n%s", got)
	}
}
