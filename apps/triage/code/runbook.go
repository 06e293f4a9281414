package code

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant/internal/plainfile"
	"github.com/decantdev/decant/internal/yamltext"
)

// A Runbook is what people have written down about a kind of error.
type Runbook struct {
	Name     string   `yaml:"-"`        // of its file
	Title    string   `yaml:"title"`    // empty: its name
	Classes  []string `yaml:"classes"`  // of errors; "*" stands for any characters: "PG::*"
	Services []string `yaml:"services"` // none: all
	Text     string   `yaml:"-"`
}

// mostRunbook is how many bytes a file may have.
const mostRunbook = 1 << 20

// Runbooks reads the runbooks of a folder: files *.md that begin with front matter, which names the classes of errors that each is about.
//
//	---
//	title: When the payment provider is slow
//	classes: [TimeoutError, "Net::*"]
//	---
//	Look at ...
//
// An error names the file that is wrong.
func Runbooks(dir fs.FS) (out []Runbook, err error) {
	names, err := fs.Glob(dir, "*.md")
	if err != nil {
		return nil, fmt.Errorf("list the runbooks: %w", err)
	}
	for _, name := range names {
		data, err := plainfile.ReadFS(dir, name, mostRunbook)
		if err != nil {
			return nil, fmt.Errorf("read the runbook: %w", err)
		}
		b, err := parseRunbook(name, string(data))
		if err != nil {
			return nil, fmt.Errorf("runbook %s: %w", name, err)
		}
		out = append(out, b)
	}
	return out, nil
}

// parseRunbook reads a runbook.
func parseRunbook(name, text string) (Runbook, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	head, body, closed := strings.Cut(rest, "\n---\n")
	if !ok || !closed {
		return Runbook{}, errors.New("it must begin with front matter between two lines ---")
	}
	b := Runbook{Name: name, Text: strings.TrimSpace(body)}
	if err := yamltext.Unmarshal([]byte(head), &b, yaml.Strict()); err != nil {
		return Runbook{}, fmt.Errorf("front matter: %w", err)
	}
	if len(b.Classes) == 0 {
		return Runbook{}, errors.New("classes names the errors that it is about, such as [TimeoutError]")
	}
	for _, c := range b.Classes {
		if _, err := path.Match(c, ""); err != nil {
			return Runbook{}, fmt.Errorf("classes: %q: %w", c, err)
		}
	}
	if b.Title == "" {
		b.Title = strings.TrimSuffix(name, ".md")
	}
	return b, nil
}

// For reports whether a runbook is about a class of errors of a service. Upper and lower case are the same.
func (b *Runbook) For(class, service string) bool {
	if len(b.Services) > 0 && !matches(b.Services, service) {
		return false
	}
	return matches(b.Classes, class)
}

// matches reports whether one of some patterns matches a name.
func matches(patterns []string, name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "/", "\\")
	for _, p := range patterns {
		if ok, _ := path.Match(strings.ReplaceAll(strings.ToLower(p), "/", `\\`), name); ok {
			return true
		}
	}
	return false
}

// mostInstructions is the most characters of the instructions of a repository.
const mostInstructions = 8000

// Instructions returns what AGENTS.md says at a version about a file: that of the top directory, and those of the directories that lead to the
// file, which come later. Empty: there is none.
func (r *Reader) Instructions(ctx context.Context, at Version, name string) (string, error) {
	t, err := r.tree(ctx, at)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, dir := range dirsOf(path.Clean(name)) {
		file := path.Join(dir, "AGENTS.md")
		if _, ok := t.file(file); !ok {
			continue
		}
		lines, err := r.lines(ctx, at, file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %s:\n%s\n", at.short(), file, strings.Join(lines, "\n"))
	}
	return Cut(b.String(), mostInstructions, "To read it: read_file of AGENTS.md."), nil
}

// dirsOf returns the directories that lead to a file, "" first.
func dirsOf(name string) (out []string) {
	out = []string{""}
	for i, c := range name {
		if c == '/' {
			out = append(out, name[:i])
		}
	}
	return out
}
