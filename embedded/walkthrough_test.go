package embedded_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// A search is a job search with values of its own: a prompt in a file, jobs with ratings and addresses.
type search struct {
	weights [3]int
	jobs    []job
}

type job struct {
	ratings [3]int
	url     string
}

var criteria = [3]string{"stack", "pay", "team"}

func newSearch(jobs int) *search {
	s := &search{}
	for i := range s.weights {
		s.weights[i] = 1 + rand.IntN(9)
	}
	for range jobs {
		j := job{url: fmt.Sprintf("https://jobs.example.com/%08x", rand.Uint32())}
		for i := range j.ratings {
			j.ratings[i] = 1 + rand.IntN(10)
		}
		s.jobs = append(s.jobs, j)
	}
	return s
}

// prompt is what search-prompt.txt says.
func (s *search) prompt() string {
	return fmt.Sprintf("Search for remote Go jobs.\nScore each by this rubric: %s %d points, %s %d, %s %d.\nReport score and URL of each.\nNever list jobs at Acme Corp.\n",
		criteria[0], s.weights[0], criteria[1], s.weights[1], criteria[2], s.weights[2])
}

// page is the advertisement of a job, of about 10,000 characters. Nothing but its first line says how it rates.
func (s *search) page(n int) string {
	j := &s.jobs[n-1]
	head := fmt.Sprintf("Job %d: Gopher at Firm%d. %s %d/10, %s %d/10, %s %d/10. %s\n\n", n, n,
		criteria[0], j.ratings[0], criteria[1], j.ratings[1], criteria[2], j.ratings[2], j.url)
	return head + strings.Repeat("We are a growing company with a friendly culture and flat hierarchies. ", 140)
}

// score is what the rubric says of a job.
func (s *search) score(n int) string {
	sum, all := 0, 0
	for i, w := range s.weights {
		sum, all = sum+w*s.jobs[n-1].ratings[i], all+w
	}
	return fmt.Sprintf("Job %d: %.2f %s", n, float64(sum)/float64(all), s.jobs[n-1].url)
}

// A seeker is an agent with two tools that talks to a model which knows what it is sent and nothing else.
type seeker struct {
	t      *testing.T
	client *http.Client
	url    string
	search *search
	ms     []any
	trim   int // bytes of history that are sent, as agents without compaction do; 0: all
}

// ask says something and returns what the model answers when it has made its calls.
func (a *seeker) ask(text string) string {
	a.t.Helper()
	a.ms = append(a.ms, map[string]any{"role": "user", "content": text})
	for range 10 {
		content, said, calls := a.turn()
		a.ms = append(a.ms, map[string]any{"role": "assistant", "content": content})
		if len(calls) == 0 {
			return said
		}
		a.ms = append(a.ms, map[string]any{"role": "user", "content": calls})
	}
	a.t.Fatal("the model does not stop calling")
	return ""
}

// turn sends the conversation and returns the answer, what it says, and the results of its calls.
func (a *seeker) turn() (content json.RawMessage, said string, results []any) {
	a.t.Helper()
	body, err := json.Marshal(map[string]any{"model": "claude-sonnet-4-6", "max_tokens": 4000, "messages": a.sent(), "tools": []any{
		map[string]any{"name": "read_file", "input_schema": map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}}},
		map[string]any{"name": "fetch", "input_schema": map[string]any{"type": "object", "properties": map[string]any{"url": map[string]any{"type": "string"}}}},
	}})
	if err != nil {
		a.t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, a.url+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "X-Api-Key": {"key"}, "Anthropic-Version": {"2023-06-01"}}
	res, err := a.client.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		a.t.Fatalf("status %d, %v: %.500s", res.StatusCode, err, answer)
	}
	var out struct{ Content json.RawMessage }
	var blocks []struct {
		Type, Text, ID, Name string
		Input                map[string]string
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		a.t.Fatal(err)
	}
	if err := json.Unmarshal(out.Content, &blocks); err != nil {
		a.t.Fatal(err)
	}
	for _, b := range blocks {
		said += b.Text
		if b.Type == "tool_use" {
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": b.ID, "content": a.result(b.Input)})
		}
	}
	return out.Content, said, results
}

// result is what a tool returns.
func (a *seeker) result(input map[string]string) string {
	var n int
	for _, v := range input {
		if _, err := fmt.Sscanf(v, "https://board.example.com/%d", &n); err == nil {
			return a.search.page(n)
		}
	}
	return a.search.prompt()
}

// sent is the history, or as much of its end as an agent keeps that trims it. It begins where the user speaks.
func (a *seeker) sent() []any {
	if a.trim == 0 {
		return a.ms
	}
	from, size := len(a.ms), 0
	for i := len(a.ms) - 1; i >= 0; i-- {
		b, err := json.Marshal(a.ms[i])
		if err != nil {
			a.t.Fatal(err)
		}
		if size += len(b); size > a.trim {
			break
		}
		if m := a.ms[i].(map[string]any); m["role"] == "user" {
			if _, text := m["content"].(string); text {
				from = i
			}
		}
	}
	return a.ms[min(from, len(a.ms)-1):]
}

// searchJobs goes through the walkthrough: the prompt is read from a file that the user names, rounds of jobs are
// fetched and scored, until the context has outgrown 80,000 tokens; then two more jobs come. It returns how the last are
// scored, and what the model says of the address of the second job.
func (a *seeker) searchJobs(jobs int) (scores, address string) {
	a.ask("Execute the job search prompt from search-prompt.txt")
	for n := 1; n <= jobs; n++ {
		a.ask(fmt.Sprintf("Fetch https://board.example.com/%d", n))
		if n%7 == 0 {
			a.ask("Score these jobs by the rubric.")
		}
	}
	for n := jobs + 1; n <= jobs+2; n++ {
		a.ask(fmt.Sprintf("Fetch https://board.example.com/%d", n))
	}
	return a.ask("Score these jobs by the rubric."), a.ask("What is the URL of job 2?")
}

// The walkthrough: 85,000 tokens become about 10,000, and a model that knows only what
// it is sent still scores by the rubric and knows an address of the first round. An agent that trims to the same size does neither.
func TestWalkthrough(t *testing.T) {
	const jobs = 42
	s := newSearch(jobs + 2)
	api := sandbox.New(sandbox.Options{Model: sandbox.Reader{}})
	srv := httptest.NewServer(api)
	defer srv.Close()
	set, err := preset.Load("agent-loop")
	if err != nil {
		t.Fatal(err)
	}
	db, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "d.db"), &embedded.Options{Engine: engine.Options{Preset: set, Timeouts: sandboxtest.Patient}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	a := &seeker{t: t, client: db.Client(), url: srv.URL, search: s}
	scores, address := a.searchJobs(jobs)
	most, least := 0, 0
	for i, e := range api.Log.Entries() {
		if e.Prompt > most {
			most = e.Prompt
		}
		if i > 0 && e.Prompt < api.Log.Entries()[i-1].Prompt/2 {
			least = e.Prompt
		}
	}
	t.Logf("from at most %d tokens to %d", most, least)
	if most < 70_000 || least == 0 || least > 16_000 {
		t.Errorf("poured from at most %d tokens to %d", most, least)
	}
	for n := jobs + 1; n <= jobs+2; n++ {
		if !strings.Contains(scores, s.score(n)) {
			t.Errorf("no %q in %q", s.score(n), scores)
		}
	}
	if !strings.Contains(address, s.jobs[1].url) {
		t.Errorf("the address of job 2 is %s, not %q", s.jobs[1].url, address)
	}
	control := &seeker{t: t, client: http.DefaultClient, url: srv.URL, search: s, trim: 4 * max(least, 10_000)}
	scores, address = control.searchJobs(jobs)
	if strings.Contains(scores, s.score(jobs+1)) || strings.Contains(address, s.jobs[1].url) {
		t.Errorf("a trimmed context knows what it should not: %q, %q", scores, address)
	}
}
