package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/figure"
	"github.com/decantdev/decant/internal/notebook/folder"
	"github.com/decantdev/decant/internal/notebook/scan"
	"github.com/decantdev/decant/internal/report"
)

type notebookCardCmd struct {
	Session string `arg:"" optional:"" default:"last" help:"A session file, the id of a session or the beginning of one, or last."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// Run prints what one recorded session took, and what the client's compactions of it brought.
func (c *notebookCardCmd) Run(s *streams) error {
	f, err := recordedSession(c.Session)
	if err != nil {
		return err
	}
	one, err := readSession(s, &f)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(s.out, one)
	}
	return s.say(card(&one))
}

// recordedSession returns a session by its file or its id.
func recordedSession(name string) (sessionFile, error) {
	if _, err := os.Stat(name); err == nil {
		return sessionFile{path: name}, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return sessionFile{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return sessionFile{}, err
	}
	f, err := findSession(sessionHomes(os.Getenv, home), name, "", dir)
	if err != nil {
		err = inputError{err}
	}
	return f, err
}

// card returns the measures of a session as a card.
func card(one *scan.Session) string {
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%-21s%s\n", name+":", value) }
	line("Session ID", cmp.Or(one.ID, filepath.Base(one.File)))
	b.WriteString(strings.Repeat("─", 29) + "\n")
	line("Start", one.Start.Local().Format("2006-01-02 15:04"))
	line("Time at work", (time.Duration(one.Active) * time.Second).String())
	line("Requests", figure.Thousands(one.Requests))
	line("Average tokens", figure.Thousands(one.Average))
	line("Peak tokens", figure.Thousands(one.Peak))
	done := 0
	for i := range one.Tasks {
		if one.Tasks[i].Done {
			done++
		}
	}
	line("Tasks completed", figure.Thousands(done))
	if len(one.Compactions) == 0 {
		line("Compaction trigger", "none")
	}
	for i, c := range one.Compactions {
		fmt.Fprintf(&b, "\nCompaction %d, before message %d, by the client\n", i+1, c.Message)
		if c.Before > 0 && c.After > 0 {
			line("Tokens recovered", fmt.Sprintf("%s (%s → %s)", figure.Thousands(c.Before-c.After), figure.Thousands(c.Before), figure.Thousands(c.After)))
			line("Compression ratio", fmt.Sprintf("%.0f%% reduction", 100*float64(c.Before-c.After)/float64(c.Before)))
		}
		if c.Took > 0 {
			line("Time to compact", fmt.Sprintf("%d s", c.Took))
		}
	}
	if one.File != "" {
		b.WriteString("\n")
		line("Original transcript", one.File)
	}
	return b.String()
}

type notebookSkillCmd struct {
	Name   string `arg:"" help:"Name of the skill: lower-case letters, digits and hyphens."`
	Number int    `default:"1" help:"Which of the procedures that \"decant notebook candidates\" lists."`
	Since  age    `default:"30d" placeholder:"AGE" help:"Only sessions that changed in the last 30d, 12h, ..."`
	Write  bool   `help:"Write it to .claude/skills/NAME/SKILL.md, which must not exist."`
}

// Run offers a procedure that repeats as a skill.
func (c *notebookSkillCmd) Run(s *streams) error {
	if c.Name != skillName(c.Name) {
		return usageError{fmt.Errorf("%q is no name of a skill: write lower-case letters, digits and hyphens", c.Name)}
	}
	ss, err := sessionChoice{since: c.Since.since(time.Now())}.read(s)
	if err != nil {
		return err
	}
	found := scan.Patterns(ss)
	if c.Number < 1 || c.Number > len(found) {
		return inputError{fmt.Errorf("there is no procedure %d: %s in %s repeat", c.Number, report.Count(len(found), "procedure"), report.Count(len(ss), "session"))}
	}
	text := found[c.Number-1].Skill(c.Name)
	if !c.Write {
		return s.say(text)
	}
	name := filepath.Join(".claude", "skills", c.Name, "SKILL.md")
	if err := writeSkill(name, text); err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, name)
	return err
}

// writeSkill writes a file of the current directory that must not be there yet.
func writeSkill(name, text string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	err = folder.Tree(here).Mkdir(filepath.Dir(name), 0o755)
	if err == nil {
		err = folder.Tree(here).Replace(name, nil, []byte(text))
	}
	switch {
	case errors.Is(err, folder.ErrChanged):
		return inputError{fmt.Errorf("%s is there already: choose another name", name)}
	case errors.Is(err, folder.ErrLink):
		return inputError{err}
	}
	return err
}

// skillName returns a name as a skill may have it.
func skillName(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, name), "-")
}
