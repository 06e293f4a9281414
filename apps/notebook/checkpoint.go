package notebook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant/apps/notebook/internal/scan"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/memory"
)

// Checkpoint records the state of a session that is about to be compacted. Reading the session again
// afterwards adds no second entry.
func (b *Book) Checkpoint(ctx context.Context, s *scan.Session) error {
	err := b.change(ctx, false, func(l *ledger) error {
		l.rootless = true
		now := scan.Compaction{Message: s.Messages + 1, Time: s.End, Active: s.Active, Usage: s.Usage}
		_, err := l.context(s, now, len(s.Compactions)+1)
		return err
	})
	if errors.Is(err, ErrOff) {
		return nil
	}
	if err == nil {
		_, err = b.project(ctx)
	}
	return err
}

// Summarize replaces the quoted summary of a session's newest checkpoint by one that a model wrote, unless a
// person has edited it. Quoted lines with a task, a commit or a count that the model left out stay behind it.
func (b *Book) Summarize(ctx context.Context, s *scan.Session, text string) error {
	if m := tagged.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	text = strings.TrimSpace(publicText(withoutPrivate(text)))
	if text == "" {
		return errors.New("the model has written nothing")
	}
	quoted, _ := summarized(s, s.Messages+1)
	quoted = publicText(withoutPrivate(quoted))
	err := b.change(ctx, false, func(l *ledger) error {
		for _, r := range l.records {
			c := r.Context
			if c != nil && c.Session == s.ID && c.Part == len(s.Compactions)+1 && c.Summary == quoted {
				c.Summary = withLacking(text, quoted)
				return nil
			}
		}
		return nil
	})
	if err == nil {
		_, err = b.project(ctx)
	}
	return err
}

var (
	tagged  = lazyregexp.New(`(?s)<summary>(.*?)(?:</summary>|$)`)
	exactly = lazyregexp.New(`#?\b[A-Z][A-Z0-9]*-\d+\b|\b[0-9a-f]{7,40}\b|#\d+|\d+`)
)

// withLacking returns a text, and behind it the quoted lines with an id, a SHA or a count that it lacks.
func withLacking(text, quoted string) string {
	have := map[string]bool{}
	for _, x := range exactly.FindAllString(text, -1) {
		have[x] = true
	}
	for line := range strings.SplitSeq(quoted, "\n") {
		if slices.ContainsFunc(exactly.FindAllString(line, -1), func(x string) bool { return !have[x] }) {
			text += "\n" + line
		}
	}
	return strings.ReplaceAll(text, "</summary>", "")
}

// contexts records the compactions of a session.
func (p *learner) contexts(s *scan.Session) error {
	for i, c := range s.Compactions {
		made, err := p.l.context(s, c, i+1)
		if err != nil {
			return err
		}
		if made {
			p.Contexts++
		}
	}
	return nil
}

// context records one compaction of a session. It reports whether it was new.
func (l *ledger) context(s *scan.Session, c scan.Compaction, part int) (bool, error) {
	for _, r := range l.records {
		if r.Context != nil && r.Context.Session == s.ID && r.Context.Part == part {
			return false, nil
		}
	}
	summary, done := summarized(s, c.Message)
	text := fmt.Sprintf("Session %s was compacted, %d tasks completed", s.ID, done)
	r, err := l.add(memory.KindMemory, text, memory.Source{})
	if err != nil {
		return false, err
	}
	r.Type, r.Session, r.Message = contextType, s.ID, c.Message
	r.Context = &ContextEntry{
		Session: s.ID, Part: part, Time: l.seen(c.Time), Seconds: int(c.Active), Input: c.Usage.Prompt(), Output: c.Usage.Output,
		Tasks: done, Summary: publicText(withoutPrivate(summary)), Original: cmp.Or(s.File, s.ID),
	}
	return true, nil
}

// mostSummary is how many tasks a summary names.
const mostSummary = 40

// summarized returns the tasks of a session before a message, a line each, and how many of them were
// completed. The lines are quoted from calls and results.
func summarized(s *scan.Session, before int) (string, int) {
	var lines, next []string
	done := 0
	for i := range s.Tasks {
		k := &s.Tasks[i]
		switch {
		case k.Done && k.Last < before:
			if done++; done <= mostSummary {
				lines = append(lines, taskLine(k))
			}
		case k.First < before && len(next) < mostSummary:
			next = append(next, oneLine(k.Title))
		}
	}
	if done > mostSummary {
		lines = append(lines, fmt.Sprintf("- and %d more completed tasks", done-mostSummary))
	}
	if len(next) > 0 {
		lines = append(lines, "- Next: "+strings.Join(next, "; "))
	}
	if len(lines) == 0 {
		lines = append(lines, "- No task list and no commit was recorded; the transcript has all that was said.")
	}
	return strings.Join(lines, "\n"), done
}

// taskLine returns a completed task as a line of a summary.
func taskLine(k *scan.Task) string {
	line := "- "
	if k.ID != "" {
		line += "#" + k.ID + ": "
	}
	line += oneLine(k.Title) + " ✓"
	var about []string
	if k.Outcome != "" {
		about = append(about, oneLine(k.Outcome))
	}
	if len(k.Commits) > 0 {
		about = append(about, strings.Join(k.Commits, ", "))
	}
	if len(about) > 0 {
		line += " (" + strings.Join(about, "; ") + ")"
	}
	return line
}
