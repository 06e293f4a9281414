package summary

import "strings"

// A task is one item of a plan.
type task struct {
	id    string // by which the tools name it; empty where they name none
	text  string
	state string
}

// A plan is the newest list of tasks: one that the agent wrote down as a whole, or that it made item by
// item.
type plan struct {
	number int // of the message that touched it last
	tasks  []*task
}

// line says what is to do and how far it is.
func (t *task) line() string {
	s := "- "
	if t.id != "" {
		s += "#" + t.id + " "
	}
	return s + "[" + t.state + "] " + strings.Join(strings.Fields(t.text), " ")
}

// finished reports whether nothing is left to do.
func (t *task) finished() bool {
	switch t.state {
	case "completed", "done", "cancelled", "canceled", "deleted", "closed":
		return true
	}
	return false
}
