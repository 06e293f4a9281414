package notebook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/notebook/folder"
)

// Where rules are written for agents that read files.
var (
	claudeRules = filepath.Join(".claude", "rules", "decant.md")
	agentsFile  = "AGENTS.md"
)

const (
	publishedHead = "<!-- Written by decant notebook from its rules: change them there. -->\n# Rules that were confirmed in this repository\n\n"
	agentsLine    = "Rules that were confirmed in this repository: read .claude/rules/decant.md"
)

// Publish writes the rules to .claude/rules/decant.md, which Claude Code reads, and keeps them there from now on; with agents
// it also adds a line to AGENTS.md that names the file. It returns what it has changed, or would.
func (b *Book) Publish(ctx context.Context, agents bool) ([]Change, error) {
	path := filepath.Join(b.repo.Root, claudeRules)
	was, err := folder.Read(path)
	if err != nil {
		return nil, err
	}
	if was != nil && !strings.HasPrefix(string(was), publishedHead) {
		return nil, fmt.Errorf("%s was written by somebody else: it stays as it is", path)
	}
	if err := b.change(ctx, false, func(l *ledger) error {
		if s := l.state(); !slices.Contains(s.Published, b.repo.Root) {
			s.Published = append(s.Published, b.repo.Root)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	out, err := b.published(ctx)
	if err != nil || !agents {
		return out, err
	}
	path = filepath.Join(b.repo.Root, agentsFile)
	text, err := folder.Read(path)
	if err != nil || strings.Contains(string(text), agentsLine) {
		return out, err
	}
	with := string(text)
	if with != "" {
		with = strings.TrimRight(with, "\n") + "\n\n"
	}
	return b.replace(out, agentsFile, text, with+agentsLine+"\n")
}

// Unpublish takes back what Publish has written, to the byte where nothing else was written behind it.
func (b *Book) Unpublish(ctx context.Context) (out []Change, err error) {
	if err := b.change(ctx, true, func(l *ledger) error {
		s := l.state()
		s.Published = slices.DeleteFunc(s.Published, func(root string) bool { return root == b.repo.Root })
		return nil
	}); err != nil {
		return nil, err
	}
	text, err := folder.Read(filepath.Join(b.repo.Root, claudeRules))
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(string(text), publishedHead) {
		out = append(out, Change{claudeRules, string(text), ""})
		if !b.o.DryRun {
			if err := os.Remove(filepath.Join(b.repo.Root, claudeRules)); err != nil {
				return nil, err
			}
		}
	}
	text, err = folder.Read(filepath.Join(b.repo.Root, agentsFile))
	if err != nil {
		return nil, err
	}
	before, after, found := strings.Cut(string(text), agentsLine+"\n")
	switch {
	case !found:
		return out, nil
	case before+after == "":
		out = append(out, Change{agentsFile, string(text), ""})
		if b.o.DryRun {
			return out, nil
		}
		return out, os.Remove(filepath.Join(b.repo.Root, agentsFile))
	}
	if strings.HasSuffix(before, "\n\n") {
		before = before[:len(before)-1]
	}
	return b.replace(out, agentsFile, text, before+after)
}

// published writes the rules where they are published in this working tree.
func (b *Book) published(ctx context.Context) ([]Change, error) {
	l, err := b.read(ctx)
	if err != nil || l.own == nil || !slices.Contains(l.own.Published, b.repo.Root) {
		return nil, err
	}
	text := publishedHead
	left := l.set.RuleTokens
	for _, r := range l.loaded() {
		line := "- " + r.Text + "\n"
		if n := b.count(line); n <= left && !l.own.Off && l.set.Enabled {
			text, left = text+line, left-n
		}
	}
	was, err := folder.Read(filepath.Join(b.repo.Root, claudeRules))
	if err != nil || was != nil && !strings.HasPrefix(string(was), publishedHead) {
		return nil, err
	}
	return b.replace(nil, claudeRules, was, text)
}

// replace writes a file of the working tree if it changes.
func (b *Book) replace(out []Change, name string, was []byte, text string) ([]Change, error) {
	if string(was) == text {
		return out, nil
	}
	path := filepath.Join(b.repo.Root, name)
	if !b.o.DryRun {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return out, err
		}
		if err := folder.Replace(path, was, []byte(text)); errors.Is(err, folder.ErrChanged) {
			return out, fmt.Errorf("%s has changed meanwhile: it stays as it is", path)
		} else if err != nil {
			return out, err
		}
	}
	return append(out, Change{name, string(was), text}), nil
}
