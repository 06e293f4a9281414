package walkthrough

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/decantdev/decant/agent"
)

// A search is a job search with values that are drawn anew for each run.
type search struct {
	weights [3]int
	jobs    []job
	round   int // searches made
}

// A job is found in a round.
type job struct {
	ratings   [3]int
	page, url string // where it is read, and its own address
}

var criteria = [3]string{"stack", "pay", "team"}

const (
	rounds  = 3
	perPage = 10_000 // characters
	found   = 9      // jobs in a round, for 25,000 to 30,000 tokens
)

func newSearch() *search {
	s := &search{}
	for i := range s.weights {
		s.weights[i] = 1 + rand.IntN(9)
	}
	for range rounds * found {
		j := job{page: fmt.Sprintf("https://board.example.com/%08x", rand.Uint32()), url: fmt.Sprintf("https://jobs.example.com/%08x", rand.Uint32())}
		for i := range j.ratings {
			j.ratings[i] = 1 + rand.IntN(10)
		}
		s.jobs = append(s.jobs, j)
	}
	return s
}

// tools are what the agent searches with.
func (s *search) tools() []agent.Tool {
	type file struct {
		Path string `json:"path"`
	}
	type query struct {
		Query string `json:"query"`
	}
	type address struct {
		URL string `json:"url"`
	}
	read := agent.Func("read_file", "Reads a file.", func(_ context.Context, _ *agent.Call, f file) (agent.Result, error) {
		if f.Path != "search-prompt.txt" {
			return agent.Result{}, errors.New("there is no such file")
		}
		return agent.Result{Text: s.prompt()}, nil
	})
	find := agent.Func("web_search", "Searches the web.", func(context.Context, *agent.Call, query) (agent.Result, error) {
		return agent.Result{Text: s.hits()}, nil
	})
	fetch := agent.Func("fetch", "Fetches a page.", func(_ context.Context, _ *agent.Call, a address) (agent.Result, error) {
		return s.open(a.URL)
	})
	read.ReadOnly, fetch.ReadOnly = true, true
	return []agent.Tool{read, find, fetch}
}

// prompt is what search-prompt.txt says.
func (s *search) prompt() string {
	return fmt.Sprintf("Search for remote Go jobs.\nScore each by this rubric: %s %d points, %s %d, %s %d.\nReport score and URL of each.\nNever list jobs at Acme Corp.\n",
		criteria[0], s.weights[0], criteria[1], s.weights[1], criteria[2], s.weights[2])
}

// hits is what the next search finds.
func (s *search) hits() string {
	out := ""
	for n := s.round*found + 1; n <= (s.round+1)*found; n++ {
		out += fmt.Sprintf("- %s\n", s.jobs[n-1].page)
	}
	s.round++
	return out
}

// open returns the page at an address. Nothing but its first line says how the job rates.
func (s *search) open(url string) (agent.Result, error) {
	for i, j := range s.jobs {
		if j.page != url {
			continue
		}
		head := fmt.Sprintf("Job %d: Gopher at Firm%d. %s %d/10, %s %d/10, %s %d/10. %s\n\n", i+1, i+1,
			criteria[0], j.ratings[0], criteria[1], j.ratings[1], criteria[2], j.ratings[2], j.url)
		return agent.Result{Text: head + prose(perPage-len(head))}, nil
	}
	return agent.Result{}, errors.New("404")
}

var words = strings.Fields("we are a growing company with friendly people and flat hierarchies who build what others use every day " +
	"our office is in the old harbour near the park you work from where you like and meet twice in spring for planning")

// prose returns about n characters that say nothing.
func prose(n int) string {
	var b strings.Builder
	for b.Len() < n {
		for range 9 {
			b.WriteString(words[rand.IntN(len(words))] + " ")
		}
		b.WriteString("so.\n")
	}
	return b.String()
}

// score is what the rubric says of a job.
func (s *search) score(n int) string {
	sum, all := 0, 0
	for i, w := range s.weights {
		sum, all = sum+w*s.jobs[n-1].ratings[i], all+w
	}
	return fmt.Sprintf("Job %d: %.2f %s", n, float64(sum)/float64(all), s.jobs[n-1].url)
}
