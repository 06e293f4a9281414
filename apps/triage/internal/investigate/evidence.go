package investigate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/decantdev/decant/apps/triage/code"
)

// Checked is an analysis as far as it stands.
type Checked struct {
	Analysis
	Struck []Struck   `json:"struck,omitempty"`  // evidence and suspects that nothing has shown
	Said   Confidence `json:"claimed,omitempty"` // the agent's own confidence, where less is left of it
}

// Struck is something that an agent has said and nothing has shown.
type Struck struct {
	Evidence *Evidence `json:"evidence,omitzero"`
	Suspect  *Suspect  `json:"suspect,omitzero"`
	Why      string    `json:"why"`
}

// Check returns what of an analysis stands: evidence is kept where the investigation was shown its lines, with repository, full commit and
// the whole lines; a suspect is kept where its change was shown. Where an answer leaves repository or commit out, those of versions are meant.
// An analysis without evidence is inconclusive. One that has lost some is at most of medium confidence.
func Check(a Analysis, seen *code.Seen, versions []code.Version) Checked {
	c := Checked{Analysis: a}
	c.Evidence = nil
	for _, e := range a.Evidence {
		kept, err := standing(e, seen, versions)
		if err != nil {
			c.Struck = append(c.Struck, Struck{Evidence: &e, Why: err.Error()})
			continue
		}
		if !slices.Contains(c.Evidence, kept) {
			c.Evidence = append(c.Evidence, kept)
		}
	}
	c.suspect(seen, versions)
	if len(c.Evidence) == 0 {
		c.State = Inconclusive
		c.limit(Low)
	}
	if len(c.Struck) > 0 {
		c.limit(Medium)
	}
	return c
}

// suspect strikes a suspect whose change was not shown.
func (c *Checked) suspect(seen *code.Seen, versions []code.Version) {
	s := c.Suspect
	if s == nil {
		return
	}
	for _, v := range versions {
		if s.Repo != "" && s.Repo != v.Repo {
			continue
		}
		if found, ok := seen.Suspect(v.Repo, strings.ToLower(s.SHA)); ok {
			change := found.Change()
			c.Suspect = &Suspect{Repo: change.Repo, SHA: change.SHA, Why: s.Why}
			return
		}
	}
	c.Suspect = nil
	c.Struck = append(c.Struck, Struck{Suspect: s, Why: "no tool has shown what this commit changes"})
}

// limit takes confidence back to a degree.
func (c *Checked) limit(most Confidence) {
	degrees := []Confidence{High, Medium, Low}
	if slices.Index(degrees, c.Confidence) >= slices.Index(degrees, most) {
		return
	}
	if c.Said == "" {
		c.Said = c.Confidence
	}
	c.Confidence = most
}

// standing returns evidence as it was shown, or why it was not.
func standing(e Evidence, seen *code.Seen, versions []code.Version) (Evidence, error) {
	if !strings.ContainsFunc(e.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return e, errors.New("it quotes nothing")
	}
	err := fmt.Errorf("there is no repository %q", e.Repo)
	for _, v := range versions {
		if e.Repo != "" && e.Repo != v.Repo {
			continue
		}
		q := code.Quote{Repo: v.Repo, SHA: strings.ToLower(e.SHA), Path: strings.TrimPrefix(e.Path, "./"), Line: e.Line, Text: e.Text}
		if q.SHA == "" {
			q.SHA = v.SHA
		}
		if err = seen.Check(q); err == nil {
			return whole(e, &q, seen), nil
		}
	}
	return e, err
}

// whole returns evidence with the lines that it quotes in full, and the full name of their commit.
func whole(e Evidence, q *code.Quote, seen *code.Seen) Evidence {
	n := strings.Count(strings.Trim(q.Text, "\r\n"), "\n") + 1
	for _, s := range seen.Shown() {
		if s.Repo != q.Repo || s.Path != q.Path || !strings.HasPrefix(s.SHA, q.SHA) || q.Line < s.FromLine || q.Line+n-1 > s.ToLine {
			continue
		}
		lines := strings.Split(s.Text, "\n")
		e.Repo, e.SHA, e.Path, e.Text = s.Repo, s.SHA, s.Path, strings.Join(lines[q.Line-s.FromLine:q.Line-s.FromLine+n], "\n")
	}
	return e
}

// Said returns what was said.
func (s *Struck) Said() string {
	if s.Suspect != nil {
		return "commit " + s.Suspect.SHA
	}
	return fmt.Sprintf("%s:%d %s", s.Evidence.Path, s.Evidence.Line, strings.TrimSpace(s.Evidence.Text))
}
