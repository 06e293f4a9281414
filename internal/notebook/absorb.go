package notebook

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/memory"
)

// added makes a record of what a person has added to a file, and returns its id; empty if nothing could be made of it.
func (a *absorber) added(name string, f *foundRecord) string {
	var r *Record
	var err error
	text := f.Fields["text"]
	switch name {
	case RulesFile:
		r, err = a.l.addRule(text, f.Fields["why"], memory.Source{})
	case ObservationsFile:
		if r = a.l.saying(memory.KindObservation, text); r == nil {
			r, err = a.l.add(memory.KindObservation, text, memory.Source{})
		}
	case DecisionsFile:
		if r, err = a.l.add(memory.KindMemory, text, memory.Source{}); err == nil {
			r.Type = DecisionType
			a.set(r, f.Fields, nil)
		}
	default:
		if ref := f.Fields["ref"]; ref != "" {
			text = ref + ": " + text
		}
		if r, err = a.l.task(text, memory.Source{}); err == nil && name == DoneFile && r.Task.Done.IsZero() {
			r.Task.Done, r.Task.Sessions = a.l.now, a.l.state().Sessions
			a.set(r, f.Fields, nil)
		}
	}
	if err != nil {
		a.read = append(a.read, fmt.Sprintf("%s:%d: not read: %v", name, f.Line, err))
		return ""
	}
	a.read = append(a.read, fmt.Sprintf("%s:%d: added %s %s", name, f.Line, r.ID, r.Text))
	return r.ID
}

// edited takes over what a person has changed of a record.
func (a *absorber) edited(name string, f *foundRecord, have map[string]string) {
	r := a.l.byID(f.ID)
	if r == nil || maps.Equal(have, f.Fields) {
		return
	}
	if text := f.Fields["text"]; text != "" && text != have["text"] {
		if err := a.l.rewrite(r, text); err != nil {
			a.read = append(a.read, fmt.Sprintf("%s:%d: not read: %v", name, f.Line, err))
		}
	}
	a.set(r, f.Fields, have)
	a.read = append(a.read, fmt.Sprintf("%s:%d: changed %s %s", name, f.Line, r.ID, r.Text))
}

// set takes over the fields besides the text that differ from those that there are.
func (a *absorber) set(r *Record, f, have map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(union(f, have))) {
		v := oneLine(f[k])
		if f[k] == have[k] {
			continue
		}
		switch k {
		case "why":
			r.Why, r.Changed = v, a.l.now
		case "revisit":
			r.Revisit, r.Changed = v, a.l.now
		case "summary":
			r.Context.Summary = publicText(f[k])
		default:
			if r.Task != nil {
				a.task(r.Task, k, v)
			}
		}
	}
}

func union(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	for k := range b {
		if _, ok := out[k]; !ok {
			out[k] = ""
		}
	}
	return out
}

var (
	filesLine = lazyregexp.New(`^(\d+)(?: \((.*)\))?$`)
	amount    = lazyregexp.New(`([\d.]+)(K?) (estimated|actual)`)
)

// task takes over one field of a task.
func (a *absorber) task(t *Task, k, v string) {
	switch k {
	case "ref":
		if v != "" {
			t.Ref = v
		}
	case "completed":
		if at, err := time.ParseInLocation("2006-01-02", v, a.zone); err == nil {
			t.Done = at
		}
	case "outcome":
		t.Outcome = v
	case "files":
		t.Files, t.Which = 0, v
		if m := filesLine.FindStringSubmatch(v); m != nil {
			t.Files, _ = strconv.Atoi(m[1])
			t.Which = m[2]
		}
	case "tests":
		t.Tests = v
	case "tokens":
		t.Estimate, t.Tokens = 0, 0
		for _, m := range amount.FindAllStringSubmatch(v, -1) {
			n, _ := strconv.ParseFloat(m[1], 64)
			if m[2] == "K" {
				n *= 1000
			}
			if m[3] == "actual" {
				t.Tokens = int(n)
			} else {
				t.Estimate = int(n)
			}
		}
	case "commits":
		t.Commits = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
	case "issues":
		t.Issues = v
	case "pattern":
		t.Pattern = v
	}
}
