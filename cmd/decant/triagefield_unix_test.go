//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/trust"
	"github.com/decantdev/decant/testing/analyst"
	"github.com/decantdev/decant/testing/sample"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/standin"
	"github.com/decantdev/decant/testing/standin/github"
	"github.com/decantdev/decant/testing/standin/services"
	"github.com/decantdev/decant/testing/testkit"
)

// A field is what decant triage meets outside: services that count, and fail when they are told to. The program is a
// process of its own where how it ends is the subject.
type field struct {
	*testing.T
	*services.Server
	dir   string
	env   []string
	yeses trust.Book

	mu      sync.Mutex
	calls   int
	arrived func(n int, r *http.Request) // told of each call with mu held, the first is 1; nil: nobody is
	refused []string                     // with 429
}

// newField serves a sample; nil: the bundled one, whose repositories are shared with other tests.
func newField(t *testing.T, s *sample.Sample) *field { return newFieldOf(t, s, analyst.Analyst{}) }

func newFieldOf(t *testing.T, s *sample.Sample, m sandbox.Model) *field {
	t.Helper()
	repos := t.TempDir()
	if s == nil {
		var err error
		if s, err = sample.Bundled(); err != nil {
			t.Fatal(err)
		}
		repos = sampleDir
	}
	f := &field{T: t, dir: t.TempDir()}
	f.yeses.Dir = f.file("config/decant/trusted")
	var err error
	if f.Server, err = services.New(services.Options{Sample: s, Dir: repos, Model: m}); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	if err := os.MkdirAll(f.file(".decant"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.write(".decant/triage.yaml", services.Settings(s))
	f.env = append(os.Environ(), append(services.Environment(web.URL), "HOME="+f.dir, "XDG_CONFIG_HOME="+f.file("config"), "DECANT_DB="+f.file("t.db"), "OPENAI_API_KEY=")...)
	return f
}

func (f *field) file(name string) string { return filepath.Join(f.dir, name) }

// write writes a file, which its user trusts.
func (f *field) write(name, text string) {
	f.Helper()
	err := os.WriteFile(f.file(name), []byte(text), 0o600)
	if err == nil {
		var file *trust.File
		if file, err = trust.Read(f.file(name)); err == nil {
			err = f.yeses.Add(file)
		}
	}
	if err != nil {
		f.Fatal(err)
	}
}

// A watcher notes the status of an answer.
type watcher struct {
	http.ResponseWriter
	status int
}

func (w *watcher) WriteHeader(status int) { w.status = status; w.ResponseWriter.WriteHeader(status) }

func (w *watcher) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *watcher) Flush() { http.NewResponseController(w.ResponseWriter).Flush() }

// ServeHTTP counts a call, and has it answered.
func (f *field) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.calls++
	if f.arrived != nil {
		f.arrived(f.calls, r)
	}
	f.mu.Unlock()
	seen := &watcher{w, 0}
	f.Server.ServeHTTP(seen, r)
	if seen.status == http.StatusTooManyRequests {
		f.mu.Lock()
		f.refused = append(f.refused, r.Method+" "+r.URL.Path)
		f.mu.Unlock()
	}
}

// A ran is what came of a process.
type ran struct {
	out, errs string
	code      int // -1: it was killed
}

// command returns the program as a process.
func (f *field) command(args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	cmd := exec.Command("decant", append([]string{"triage"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = f.dir, f.env, &out, &errs
	return cmd, &out, &errs
}

// triage runs the program within the process of the test.
func (f *field) triage(args ...string) ran {
	f.Helper()
	f.mu.Lock()
	f.calls, f.arrived = 0, nil
	f.mu.Unlock()
	var out, errs bytes.Buffer
	to, messages := &pipe{to: &out}, &pipe{to: &errs}
	defer to.close()
	defer messages.close()
	code := run(&process.Process{Args: append([]string{"triage"}, args...), Environ: f.env, Dir: f.dir, In: strings.NewReader(""), Out: to, Err: messages, Width: 80})
	return ran{out.String(), errs.String(), code}
}

// signalled runs the program as a process, which is sent a signal when the n-th call arrives.
func (f *field) signalled(at int, signal os.Signal, args ...string) ran {
	f.Helper()
	return f.process(args, func(process *os.Process, n int, _ *http.Request) {
		if n == at {
			process.Signal(signal)
		}
	})
}

// apart runs the program as a process that is left alone.
func (f *field) apart(args ...string) ran {
	f.Helper()
	return f.process(args, func(*os.Process, int, *http.Request) {})
}

// process runs the program as a process. Of each of its calls arrived is told before it is answered, of one after the other.
func (f *field) process(args []string, arrived func(process *os.Process, n int, r *http.Request)) ran {
	f.Helper()
	cmd, out, errs := f.command(args...)
	f.mu.Lock() // so that no call is answered before there is a process to tell of
	f.calls, f.arrived = 0, func(n int, r *http.Request) { arrived(cmd.Process, n, r) }
	err := cmd.Start()
	f.mu.Unlock()
	if err != nil {
		f.Fatal(err)
	}
	cmd.Wait() // how it ended is in its code
	return ran{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// A fieldReport is what a test wants to know of a report.
type fieldReport struct {
	Run    string `json:"run"`
	Errors []struct {
		Key     string `json:"key"`
		Number  int    `json:"number"`
		Finding *struct {
			Cause string `json:"cause"`
			State string `json:"state"`
		} `json:"finding"`
	} `json:"errors"`
	Totals struct {
		Investigated int `json:"investigated"`
		Code         struct{ Hits, Misses int }
	} `json:"totals"`
}

// findings returns what a report says of each error, by which two reports are compared.
func (r *fieldReport) findings() string {
	var b strings.Builder
	for _, e := range r.Errors {
		fmt.Fprintf(&b, "%d %s", e.Number, e.Key)
		if e.Finding != nil {
			fmt.Fprintf(&b, " %s %s", e.Finding.State, e.Finding.Cause)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// report reads what a process has printed.
func (f *field) report(r ran) *fieldReport {
	f.Helper()
	var out fieldReport
	if err := json.Unmarshal([]byte(r.out), &out); err != nil {
		f.Fatalf("exit %d: %v\n%s\n%s", r.code, err, r.out, r.errs)
	}
	return &out
}

// answered returns how often the model was asked, and how often the same once more.
func (f *field) answered() (all, twice int) {
	seen := map[[32]byte]bool{}
	for _, e := range f.Model.Log.Entries() {
		if e.Status != http.StatusOK || !strings.HasPrefix(e.Path, "/v1/messages") {
			continue
		}
		key := sha256.Sum256(e.Body)
		if all++; seen[key] {
			twice++
		}
		seen[key] = true
	}
	return all, twice
}

// fieldRun investigates so many errors, two at once.
func fieldRun(errors int) []string {
	return []string{"run", "--since", "2026-10-21", "--max-errors", strconv.Itoa(errors), "--parallel", "2", "--json"}
}

// Kill -9 in any phase of a real process, then --resume: the same errors, the same findings, and no answer of the
// model that was kept is asked for again. Two investigations go on at once, so that a kill can lose two answers at most.
func TestKilledAnywhereARunGoesOn(t *testing.T) {
	f := newField(t, nil)
	whole := f.triage(fieldRun(4)...)
	want, total := f.report(whole), f.calls
	asked, _ := f.answered()
	if whole.code != 0 || want.Totals.Investigated != 4 || asked < 8 || total < asked+10 {
		t.Fatalf("exit %d, %d calls, %d of them to the model: %s", whole.code, total, asked, whole.errs)
	}
	planned := total - asked // about: calls for code go on during investigations
	for _, at := range testkit.Depth([]int{planned + asked/3}, []int{1, planned / 2, planned, planned + asked/3, planned + 2*asked/3, total}) {
		t.Run(fmt.Sprintf("call %d of %d", at, total), func(t *testing.T) {
			f := newField(t, nil)
			killed := f.signalled(at, syscall.SIGKILL, fieldRun(4)...)
			if killed.code != -1 {
				t.Fatalf("exit %d: %s", killed.code, killed.errs)
			}
			again := f.triage(append(fieldRun(4), "--resume")...)
			if strings.Contains(again.errs, "there is no such run") && again.code == exit.BadInput {
				again = f.triage(fieldRun(4)...) // nothing was planned yet
			}
			if got := f.report(again); again.code != 0 || got.findings() != want.findings() {
				t.Errorf("exit %d: %s\ngot\n%swant\n%s", again.code, again.errs, got.findings(), want.findings())
			}
			if all, twice := f.answered(); all > asked+2 || twice > 2 {
				t.Errorf("the model was asked %d times, %d of them for the second time; without a kill %d times", all, twice, asked)
			}
		})
	}
}

// Killed while it writes the report: what was found is there.
func TestKilledWhileItPrints(t *testing.T) {
	f := newField(t, nil)
	cmd, _, _ := f.command(fieldRun(2)...)
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	asked, _ := f.answered()
	again := f.triage(append(fieldRun(2), "--resume")...)
	if got := f.report(again); got.Totals.Investigated != 2 {
		t.Errorf("%+v", got)
	}
	if all, _ := f.answered(); all != asked {
		t.Errorf("%d answers, then %d", asked, all)
	}
}

// Exit codes as cron reads them: 130 with the state saved, 0 after it went on; 3 while nothing is there to go on with.
func TestInterrupted(t *testing.T) {
	for _, at := range []int{1, 30} {
		f := newField(t, nil)
		r := f.signalled(at, os.Interrupt, fieldRun(2)...)
		if r.code != 130 || !strings.Contains(r.errs, "interrupted") {
			t.Errorf("interrupted at call %d: exit %d: %s", at, r.code, r.errs)
		}
		again := f.triage(append(fieldRun(2), "--resume")...)
		if want := map[bool]int{true: exit.BadInput, false: 0}[at == 1]; again.code != want {
			t.Errorf("interrupted at call %d, then exit %d, want %d: %s", at, again.code, want, again.errs)
		}
	}
}

// One draft of a pull request, from the error to the branch at GitHub: the patch of the one error for which the model writes one is built and tested for real, and is
// proposed once, however often it is delivered.
func TestADraftOfAPullRequest(t *testing.T) {
	testkit.NeedFull(t, "the patch of a draft is built and tested for real, with a standard library compiled for it")
	s, err := sample.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	f := newField(t, s) // with repositories of its own, which get a branch
	settings, err := os.ReadFile(f.file(".decant/triage.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("# issues:", "issues:", "# pull_request:", "pull_request:", "- name: acme/orders\n", "- name: acme/orders\n  confined: false\n", "- ./...", "- ./internal/price").Replace(string(settings))
	f.write(".decant/triage.yaml", text)
	r := f.triage(fieldRun(4)...)
	id := f.report(r).Run
	const pull = "sent: pull request to acme/orders"
	if r.code != 0 || strings.Count(r.errs, pull) != 1 || strings.Count(r.errs, "trying the patch of error ") != 1 {
		t.Fatalf("exit %d: %s", r.code, r.errs)
	}
	if told := f.triage("runs", id); !strings.Contains(told.out, "The patch. It was tried: it applies, builds") {
		t.Errorf("the report does not say what came of the patch: %s", told.out)
	}
	again := f.triage("deliver", id)
	if again.code != 0 || strings.Contains(again.errs, "sent: ") || !strings.Contains(again.errs, "sent before: ") {
		t.Errorf("delivered again: exit %d: %s", again.code, again.errs)
	}
	if r = f.triage(fieldRun(4)...); r.code != 0 || strings.Contains(r.errs, pull) {
		t.Errorf("another run: exit %d: %s", r.code, r.errs)
	}
}

// What goes wrong with the services: what a run does about each, and that another run or --resume has everything.
func TestFaultsOfServices(t *testing.T) {
	errors := testkit.Depth(2, 4)
	all := fieldRun(errors)
	for _, tt := range []struct {
		name    string
		inject  func(*field)
		waits   bool     // before it tries again
		code    int      // of the run
		says    []string // on standard error or in the report
		allowed int      // answers 429 that were injected
	}{
		{"429 of each", func(f *field) {
			f.NewRelic.Inject(standin.Fault{Operation: "nrql", Status: 429, RetryAfter: 1e9})
			f.Sentry.Inject(standin.Fault{Operation: "events", Status: 429, RetryAfter: 1e9})
			f.GitHub.Inject(github.Fault{After: 9, Status: 429, RetryAfter: 1e9})
			f.Model.Inject(sandbox.Fault{}, sandbox.Fault{Kind: sandbox.FaultRateLimit})
		}, true, 0, nil, 4},
		{"5xx of each", func(f *field) {
			f.NewRelic.Inject(standin.Fault{Operation: "nrql", Status: 503})
			f.Sentry.Inject(standin.Fault{Status: 500})
			f.GitHub.Inject(github.Fault{After: 4, Status: 502})
			f.Model.Inject(sandbox.Fault{Kind: sandbox.FaultOverloaded})
		}, true, 0, nil, 0},
		{"connections closed", func(f *field) {
			f.NewRelic.Inject(standin.Fault{})
			f.Sentry.Inject(standin.Fault{})
			f.GitHub.Inject(github.Fault{After: 3})
			f.Model.Inject(sandbox.Fault{Kind: sandbox.FaultReset})
		}, true, 0, nil, 0},
		{"half an answer of the model", func(f *field) { f.Model.Inject(sandbox.Fault{Kind: sandbox.FaultHalf}) }, false, exit.Failed, []string{"--resume"}, 0},
		{"expired key of New Relic", func(f *field) { f.NewRelic.Inject(standin.Fault{Status: 401, Times: 99}) }, false, 0, []string{"newrelic 1234567 could not be read", "NEW_RELIC_API_KEY"}, 0},
		{"expired token of Sentry", func(f *field) { f.Sentry.Inject(standin.Fault{Status: 401, Times: 99}) }, false, 0, []string{"sentry acme could not be read", "SENTRY_AUTH_TOKEN"}, 0},
		{"expired token of GitHub", func(f *field) { f.GitHub.Inject(github.Fault{Status: 401, Times: 999}) }, false, 0, []string{"GitHub refuses the token: it is wrong or has expired"}, 0},
		{"both sources expired", func(f *field) {
			f.NewRelic.Inject(standin.Fault{Status: 401, Times: 99})
			f.Sentry.Inject(standin.Fault{Status: 401, Times: 99})
		}, false, exit.BadInput, []string{"NEW_RELIC_API_KEY"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := (*field).triage
			if tt.waits { // all that wait do so at the same time
				t.Parallel()
				run = (*field).apart
			}
			f := newField(t, nil)
			tt.inject(f)
			r := run(f, all...)
			if r.code != tt.code {
				t.Errorf("exit %d, want %d: %s", r.code, tt.code, r.errs)
			}
			for _, want := range tt.says {
				if !strings.Contains(r.out+r.errs, want) {
					t.Errorf("nothing says %q:\n%s", want, r.errs)
				}
			}
			if len(f.refused) != tt.allowed {
				t.Errorf("refused: %q", f.refused)
			}
			if tt.code == exit.Failed {
				r = run(f, append(slices.Clone(all), "--resume")...)
			}
			if tt.code != exit.BadInput {
				if got := f.report(r); r.code != 0 || got.Totals.Investigated != errors {
					t.Errorf("exit %d: %+v\n%s", r.code, got, r.errs)
				}
			}
		})
	}
}

// The doctor examines each credential, and says of each wrong one which it is and what to do.
func TestDoctorOfWrongCredentials(t *testing.T) {
	f := newField(t, nil)
	if r := f.triage("doctor"); r.code != 0 || strings.Contains(r.out, "FAIL") || !strings.Contains(r.out, "(its key is accepted)") {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.errs)
	}
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`)
	}))
	defer refuses.Close()
	all := f.env
	for variable, says := range map[string]string{
		"NEW_RELIC_API_KEY=wrong-value": "FAIL  newrelic 1234567: .*NEW_RELIC_API_KEY", "SENTRY_AUTH_TOKEN=wrong-value": "FAIL  sentry acme: .*SENTRY_AUTH_TOKEN",
		"GITHUB_TOKEN=wrong-value": "FAIL  repository acme/orders : .*the token: it is wrong or has expired", "SLACK_BOT_TOKEN=wrong-value": "FAIL  Slack #errors: .*SLACK_BOT_TOKEN is wrong",
		"ANTHROPIC_BASE_URL=" + refuses.URL: "FAIL  model claude-sonnet-5-5: .*401.*ANTHROPIC_API_KEY",
	} {
		f.env = append(slices.Clone(all), variable)
		r := f.triage("doctor")
		if r.code != exit.Failed || !regexp.MustCompile("(?m)^"+says).MatchString(r.out) || strings.Contains(r.out+r.errs, "wrong-value") {
			t.Errorf("%s: exit %d\n%s%s", variable, r.code, r.out, r.errs)
		}
	}
}

// Five investigations at once provoke no 429, and the code cache has most of what they read.
func TestFiveAtOnceProvokeNo429(t *testing.T) {
	errors := testkit.Depth(7, 12)
	f := newField(t, nil)
	r := f.triage("run", "--since", "2026-10-21", "--max-errors", strconv.Itoa(errors), "--parallel", "5", "--run-tokens", "900000", "--json")
	got := f.report(r)
	if r.code != 0 || got.Totals.Investigated != errors || len(f.refused) > 0 {
		t.Errorf("exit %d, refused %q: %s", r.code, f.refused, r.errs)
	}
	if c := got.Totals.Code; c.Hits < c.Misses {
		t.Errorf("the cache had %d of %d", c.Hits, c.Hits+c.Misses)
	}
	t.Logf("GitHub was called %d times, the cache had %d of %d", f.GitHub.Total(), got.Totals.Code.Hits, got.Totals.Code.Hits+got.Totals.Code.Misses)
}
