package summary

import (
	"strings"

	"github.com/decantdev/decant/internal/tool"
)

// takePlan takes in what is left of the plan, and returns its tasks.
func (b *book) takePlan() []*task {
	p := plan{number: b.src.planned.number}
	for _, t := range b.src.planned.tasks {
		was := *t
		p.tasks = append(p.tasks, &was)
	}
	for _, a := range b.src.acts {
		if a.Class == tool.Todo && !a.failed && p.take(a) {
			p.number, a.planned = a.number, true
		}
	}
	done, left := 0, 0
	var open []string
	for _, t := range p.tasks {
		switch {
		case t.finished():
			done++
		case t.state != "":
			open = append(open, t.line())
			left++
		}
	}
	if left == 0 {
		return p.tasks
	}
	g := b.heading("", 0)
	b.add(entry{
		sec: secPlan, group: g, number: p.number,
		text: itoa(done) + b.say(" of ", " / ") + itoa(done+left) + b.say(" done; left:", " 已完成；剩余："), line: -1,
		must: mustPlan,
	})
	for _, s := range open {
		b.add(entry{sec: secPlan, group: g, text: s, line: -1, must: mustPlan})
	}
	return p.tasks
}

// take takes in one call of a planning tool and reports whether it was about the plan.
func (p *plan) take(a *act) bool {
	if id := a.named("taskId", "task_id"); id != "" {
		return p.update(id, a)
	}
	if subject := a.named("subject"); subject != "" {
		p.tasks = append(p.tasks, &task{id: createdID(a.result, len(p.tasks)+1), text: subject, state: "pending"})
		return true
	}
	return p.replace(a)
}

// createdID reads the id of a new task from the tool's answer, "Task #3 created successfully: ..."; without
// one it counts.
func createdID(result string, n int) string {
	if _, rest, ok := strings.Cut(result, "#"); ok {
		if end := strings.IndexFunc(rest, func(r rune) bool { return r == ' ' || r == ':' }); end > 0 && end < 20 {
			return rest[:end]
		}
	}
	return itoa(n)
}

// update changes a task by its id. A client restarts its numbers in a new session, so the newest task counts.
func (p *plan) update(id string, a *act) bool {
	for i := len(p.tasks) - 1; i >= 0; i-- {
		if t := p.tasks[i]; t.id == id {
			if s := a.named("status", "state"); s != "" {
				t.state = s
			}
			if s := a.named("subject"); s != "" {
				t.text = s
			}
			return true
		}
	}
	return false
}

// replace takes in a list of tasks that stands for the whole plan. It reports false when the call has none.
func (p *plan) replace(a *act) bool {
	var out []*task
	item := ""
	for _, v := range a.values {
		switch v.name {
		case "content", "step", "title", "task", "text":
			item = v.text
		case "status", "state":
			if item != "" {
				out = append(out, &task{text: item, state: v.text})
			}
			item = ""
		}
	}
	if len(out) > 0 {
		p.tasks = out
	}
	return len(out) > 0
}
