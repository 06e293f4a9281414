package scan

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/tool"
)

// The states of a task in a list that matter here.
const (
	underWay  = "in_progress"
	completed = "completed"
)

// A listing is the state of one task in a call of a task tool.
type listing struct{ key, id, title, status string }

// taskArgs are the arguments of the task tools: TodoWrite of Claude Code, update_plan of Codex, todowrite of
// opencode, TaskCreate and TaskUpdate of Claude Code.
type taskArgs struct {
	Todos   []taskStep `json:"todos"`
	Plan    []taskStep `json:"plan"`
	Subject string     `json:"subject"`
	ID      string     `json:"taskId"`
	Status  string     `json:"status"`
}

type taskStep struct {
	Content string `json:"content"`
	Step    string `json:"step"`
	Status  string `json:"status"`
}

var created = lazyregexp.New(`^Task #(\S+) created`)

// listedIn returns the tasks in a call of a task tool; ok reports whether it is one.
func listedIn(c *call) (out []listing, ok bool) {
	if c.Class != tool.Todo || c.Bad {
		return nil, c.Class == tool.Todo
	}
	var a taskArgs
	if json.Unmarshal([]byte(c.Args), &a) != nil { // arguments that cannot be read tell nothing
		return nil, true
	}
	for _, s := range append(a.Todos, a.Plan...) {
		title := s.Content + s.Step
		out = append(out, listing{"title:" + title, "", title, s.Status})
	}
	if m := created.FindStringSubmatch(c.Result); m != nil && a.Subject != "" {
		out = append(out, listing{"id:" + m[1], m[1], a.Subject, "pending"})
	} else if a.ID != "" {
		out = append(out, listing{"id:" + a.ID, a.ID, a.Subject, a.Status})
	}
	return out, true
}

// A gitCommit is one that git reported.
type gitCommit struct {
	SHA     string
	Title   string
	Changed string // "3 files changed, 93 insertions(+), 1 deletion(-)", empty when git did not say
}

var (
	committing = lazyregexp.New(`\bgit\b[^;&|\n]*\bcommit\b`)
	commitLine = lazyregexp.New(`(?m)^\[[^\]\n]*?([0-9a-f]{7,40})\] (.+)$`)
	changed    = lazyregexp.New(`(?m)^ ?(\d+ files? changed.*)$`)
)

// commitsIn returns the commits that a shell call made, as its result names them.
func commitsIn(c *call) (out []gitCommit) {
	if c.Bad || !committing.MatchString(c.Command) {
		return nil
	}
	at := commitLine.FindAllStringSubmatchIndex(c.Result, -1)
	for i, m := range at {
		end := len(c.Result)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		commit := gitCommit{SHA: c.Result[m[2]:m[3]], Title: c.Result[m[4]:m[5]]}
		if ch := changed.FindStringSubmatch(c.Result[m[1]:end]); ch != nil {
			commit.Changed = ch[1]
		}
		out = append(out, commit)
	}
	return out
}

// testOutcome returns the outcome of tests in words.
func testOutcome(passed, failed int) string {
	if passed == 1 && failed == 0 {
		return "1 test passed"
	}
	if failed == 0 {
		return fmt.Sprintf("%d tests passed", passed)
	}
	return fmt.Sprintf("%d of %d tests passed", passed, passed+failed)
}
