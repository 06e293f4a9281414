package summary

import (
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/tool"
)

// A job is what a user had done until they went on to something else: they said something new when it was
// committed, pushed or merged, or its plan done, and nothing changed since. The last job is the one in hand,
// and people come back to the one before it; the others are finished, and a record has of them what was asked
// and what came of it. Pauses are no sign: a request does not say when its messages came.
type job struct {
	asked   *text // the user's words that it began with
	from    int   // index of the message that they are in
	changed int   // files were changed so often
	steps   []*act
	said    *text // the model's last words
	to      int   // number of its last message
}

// recentJobs are the newest, which are not taken for finished: the one in hand and the one before.
const recentJobs = 2

// ends reports whether a step of a call finishes a job.
func (a *act) ends() bool {
	return slices.ContainsFunc(a.Steps(), func(s tool.Step) bool {
		switch s.Kind {
		case "git commit", "git push", "git merge", "gh pr create", "gh pr merge", "gh issue close":
			return true
		}
		return false
	})
}

// jobs divides a source into jobs. What an earlier record has is of none: it says itself what came of those before it.
func (s *source) jobs() []*job {
	w := jobber{plan: plan{number: s.planned.number}}
	for _, t := range s.texts {
		if t.retold {
			continue
		}
		for w.act < len(s.acts) && s.acts[w.act].index < t.index {
			w.did(s.acts[w.act])
			w.act++
		}
		w.heard(t)
	}
	for ; w.act < len(s.acts); w.act++ {
		w.did(s.acts[w.act])
	}
	return w.jobs
}

// A jobber goes through a source from the first message to the last.
type jobber struct {
	jobs   []*job
	plan   plan
	act    int
	closed bool // nothing was done since the job was finished
}

// now returns the job in hand, nil before the user has said anything.
func (w *jobber) now() *job {
	if len(w.jobs) == 0 {
		return nil
	}
	return w.jobs[len(w.jobs)-1]
}

// heard takes in a text.
func (w *jobber) heard(t *text) {
	j := w.now()
	switch {
	case t.author == byUser && (j == nil || w.closed && !(&utterance{text: t}).nod()):
		w.begin(t)
	case j != nil:
		j.to = max(j.to, t.number)
		if t.author == byModel {
			j.said = t
		}
	}
}

// begin begins another job. One in which nothing was changed and that only brought something to its end
// belongs to the one before it.
func (w *jobber) begin(t *text) {
	if n := len(w.jobs); n > 1 && w.closed && w.jobs[n-1].changed == 0 {
		a, b := w.jobs[n-2], w.jobs[n-1]
		a.to, a.steps = b.to, append(a.steps, b.steps...)
		if b.said != nil {
			a.said = b.said
		}
		w.jobs = w.jobs[:n-1]
	}
	w.jobs = append(w.jobs, &job{asked: t, from: t.index, to: t.number})
	w.closed = false
}

// did takes in a call.
func (w *jobber) did(a *act) {
	j := w.now()
	if j == nil || !a.done || a.said != "" {
		return
	}
	j.to = max(j.to, a.number)
	if a.failed {
		return
	}
	switch {
	case a.Class == tool.Todo:
		w.closed = w.plan.take(a) && !slices.ContainsFunc(w.plan.tasks, func(t *task) bool { return !t.finished() })
	case a.ends():
		w.closed = true
		j.steps = append(j.steps, a)
	case slices.ContainsFunc(a.Files, func(t tool.Touch) bool { return t.Class != tool.Read }):
		w.closed = false
		j.changed++
	}
}

// takeJobs finds the jobs and has a book take in what came of those that are finished.
func takeJobs(b *book) {
	if b.talk || !b.src.model {
		return
	}
	for _, t := range b.src.texts {
		if t.author == byOutcome {
			b.add(entry{sec: secDone, group: -1, number: t.number, text: t.body, line: -1, must: mustDone})
		}
	}
	jobs := b.src.jobs()
	n := len(jobs) - recentJobs
	if n <= 0 {
		return
	}
	b.present = jobs[n].from
	for _, j := range jobs[:n] {
		b.add(entry{sec: secDone, group: -1, number: j.asked.number, text: j.outcome(&b.manner), line: -1, must: mustDone})
	}
}

// Sizes of what is said of a finished job, in bytes.
const (
	askedBytes  = 160
	closedBytes = 240
)

// outcome says what was asked and what came of it.
func (j *job) outcome(m *manner) string {
	out := m.say("asked: ", "要求：") + clip(firstSaying(j.asked.body), askedBytes)
	var came []string
	for _, a := range j.steps {
		if s := a.step(); s != "" && !slices.Contains(came, s) {
			came = append(came, s)
		}
	}
	if j.said != nil {
		if s := closing(j.said.body); s != "" {
			came = append(came, s)
		}
	}
	if len(came) == 0 && j.changed > 0 {
		came = append(came, itoa(j.changed)+m.say(" changes to files", " 处文件改动"))
	}
	if len(came) == 0 {
		return out
	}
	return out + "\n→ m" + itoa(j.to) + " " + strings.Join(came, "; ")
}

// step says what a step of git or its like has done.
func (a *act) step() string {
	for _, s := range a.Steps() {
		for _, ln := range lines(a.result) {
			ln = strings.TrimSpace(ln)
			switch {
			case s.Kind == "git commit" && strings.HasPrefix(ln, "[") && strings.Contains(ln, "] "):
				return "commit " + clip(ln, askedBytes)
			case strings.HasPrefix(s.Kind, "gh ") && strings.Contains(ln, "https://"):
				return s.Kind + " " + clip(ln, askedBytes)
			}
		}
	}
	return ""
}

// closing returns of the model's last words the line that says what was done, or else the first that says something.
func closing(body string) string {
	first := ""
	for s := range pieces(body) {
		switch {
		case empty(s) || strings.HasSuffix(s, "?") || strings.HasSuffix(s, ":"):
		case done(s):
			return clip(s, closedBytes)
		case first == "" && !narrates(s):
			first = s
		}
	}
	return clip(first, closedBytes)
}

// firstSaying returns the first line of a text that says something.
func firstSaying(body string) string {
	for _, ln := range lines(body) {
		if ln = strings.TrimSpace(ln); says(ln) {
			return ln
		}
	}
	return strings.TrimSpace(body)
}

// clip cuts a line at a word.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:wordBefore(s, most)] + " …"
}
