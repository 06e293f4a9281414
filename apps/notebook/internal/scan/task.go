package scan

import (
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/tool"
)

// Where a task was found.
const (
	fromList   = "list"   // a task tool or a plan of the client
	fromCommit = "commit" // a commit that belongs to no task of a list
)

// A Task is one thing that was done in a session.
type Task struct {
	ID      string   `json:"id,omitempty"` // the client's
	Title   string   `json:"title"`
	From    string   `json:"from"`
	Done    bool     `json:"done"`
	Outcome string   `json:"outcome,omitempty"` // what recorded results say: tests, what a commit changed
	Tests   string   `json:"tests,omitempty"`   // the newest results of tests, with their coverage, as the runner says
	Commits []string `json:"commits,omitempty"` // SHAs as git printed them
	Files   []string `json:"files,omitempty"`   // that were changed, in order

	First    int       `json:"first,omitempty"` // number of the message in which work began
	Last     int       `json:"last,omitempty"`  // number of the message that reports the end
	Start    time.Time `json:"start,omitzero"`
	End      time.Time `json:"end,omitzero"`
	Duration Seconds   `json:"duration_seconds"` // without pauses of more than half an hour
	Tokens   int       `json:"tokens"`           // new ones: read for the first time or written by the model
	Prompt   int       `json:"prompt_tokens"`    // of all requests, those read from the cache included
}

// tasks returns the tasks of a conversation in the order in which they ended, then the unfinished ones. Each
// answer counts for one task at most, so that the tasks never have more tokens than the session.
func tasks(ms []decant.Message, cs []call) []Task {
	t := tracker{at: map[string]int{}, current: -1}
	next := 0
	for i := range ms {
		t.spend(&ms[i])
		for ; next < len(cs) && cs[next].Message == ms[i].Number; next++ {
			t.call(&cs[next], &ms[i])
		}
	}
	return t.result()
}

// A tracker follows the tasks of one conversation.
type tracker struct {
	all     []Task
	at      map[string]int // key of a task → index in all
	current int            // index of the current task, -1: none
	loose   Task           // work since the last task ended, outside of any
	last    time.Time      // of the message before
}

// under returns the task that work counts for.
func (t *tracker) under() *Task {
	if t.current >= 0 {
		return &t.all[t.current]
	}
	return &t.loose
}

// spend counts the time and the tokens of a message.
func (t *tracker) spend(m *decant.Message) {
	k := t.under()
	if k.First == 0 {
		k.First, k.Start = m.Number, m.Time
	}
	if gap := m.Time.Sub(t.last); !t.last.IsZero() && gap > 0 && gap <= idle {
		k.Duration += Seconds(gap.Seconds())
	}
	if !m.Time.IsZero() {
		t.last = m.Time
	}
	if u := m.Usage; u != nil {
		k.Tokens += u.Input + u.CacheWrite + u.Output
		k.Prompt += u.Prompt()
	}
}

// call applies one call.
func (t *tracker) call(c *call, m *decant.Message) {
	if listed, ok := listedIn(c); ok {
		for _, l := range listed {
			t.list(l, m)
		}
		return
	}
	k := t.under()
	if c.Test && !c.Open {
		k.tested(c)
	}
	if c.Bad || c.Open {
		return
	}
	for _, f := range c.Files {
		if f.Class == tool.Edit || f.Class == tool.Write || f.Class == tool.Delete {
			k.Files = appendNew(k.Files, f.Path)
		}
	}
	for _, commit := range commitsIn(c) {
		t.commit(commit, m)
	}
}

// tested takes in what a run of tests came to.
func (k *Task) tested(c *call) {
	o := tool.OutcomeOf(c.Call, c.Result, c.Bad)
	if o.Passed+o.Failed == 0 {
		return
	}
	k.Outcome = testOutcome(o.Passed, o.Failed)
	k.Tests = secret.Mask(strings.Join(o.Telling, "; "))
}

// list applies the state of one listed task.
func (t *tracker) list(l listing, m *decant.Message) {
	i, known := t.at[l.key]
	if !known {
		if l.title == "" {
			return // an update of a task from another session
		}
		i = len(t.all)
		t.at[l.key] = i
		t.all = append(t.all, Task{ID: l.id, Title: secret.Mask(l.title), From: fromList})
	}
	k := &t.all[i]
	switch l.status {
	case underWay:
		if t.current != i && !k.Done {
			t.current = i
			k.First, k.Start = m.Number, m.Time
		}
	case completed:
		if !k.Done {
			k.Done, k.Last, k.End = true, m.Number, m.Time
		}
		if t.current == i {
			t.current, t.loose = -1, Task{}
		}
	}
}

// commit adds a commit to the current task, or makes a task of it.
func (t *tracker) commit(c gitCommit, m *decant.Message) {
	k := t.under()
	k.Commits = appendNew(k.Commits, c.SHA)
	if t.current >= 0 {
		return
	}
	k.Title, k.From, k.Done, k.Last, k.End = secret.Mask(c.Title), fromCommit, true, m.Number, m.Time
	k.Outcome = strings.TrimPrefix(k.Outcome+"; "+c.Changed, "; ")
	t.all = append(t.all, *k)
	t.loose = Task{}
}

// result returns the tasks that ended, in that order, then the others.
func (t *tracker) result() []Task {
	var done, open []Task
	for _, k := range t.all {
		if k.Done {
			done = append(done, k)
		} else {
			open = append(open, k)
		}
	}
	return append(done, open...)
}

func appendNew(list []string, s string) []string {
	for _, l := range list {
		if l == s {
			return list
		}
	}
	return append(list, s)
}
