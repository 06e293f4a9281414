package summary

import "strings"

// A plan is the newest task list that the agent wrote down as a whole.
type plan struct {
	number  int
	done    int
	doing   []string
	waiting []string
}

// takePlan takes in a task list and reports whether values are one. A list replaces the one before.
func (r *reader) takePlan(o origin, values []value) bool {
	p := plan{number: o.number}
	item, found := "", false
	for _, v := range values {
		switch v.name {
		case "content", "step", "title", "task", "text":
			item = v.text
		case "status", "state":
			if item == "" {
				continue
			}
			found = true
			p.add(item, v.text)
			item = ""
		}
	}
	if found {
		r.plan = &p
		r.mention(o, strings.Join(p.doing, " "))
		r.mention(o, strings.Join(p.waiting, " "))
	}
	return found
}

func (p *plan) add(item, status string) {
	item = clip(strings.Join(strings.Fields(item), " "), maxHead)
	switch status {
	case "completed", "done", "cancelled":
		p.done++
	case "in_progress", "doing", "active":
		p.doing = append(p.doing, item)
	default:
		p.waiting = append(p.waiting, item)
	}
}

// head says what is left of the plan in one line, empty when all is done.
func (p *plan) head(number string) string {
	if len(p.doing)+len(p.waiting) == 0 {
		return ""
	}
	s := number + " plan:"
	if len(p.doing) > 0 {
		s += " doing " + strings.Join(p.doing, "; ") + "."
	}
	if len(p.waiting) > 0 {
		s += " To do " + strings.Join(p.waiting, "; ") + "."
	}
	return clip(s, 4*maxHead)
}
