package notebook

import (
	"context"
	"errors"
	"fmt"
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
	was, err := b.tree().Read(claudeRules)
	if err != nil {
		return nil, err
	}
	if was != nil && !strings.HasPrefix(string(was), publishedHead) {
		return nil, fmt.Errorf("%s was written by somebody else: it stays as it is", filepath.Join(b.repo.Root, claudeRules))
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
	text, err := b.tree().Read(agentsFile)
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
	text, err := b.tree().Read(claudeRules)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(string(text), publishedHead) {
		out = append(out, Change{claudeRules, string(text), ""})
		if !b.o.DryRun {
			if err := b.tree().Remove(claudeRules); err != nil {
				return nil, err
			}
		}
	}
	text, err = b.tree().Read(agentsFile)
	if errors.Is(err, folder.ErrLink) {
		return out, nil // nothing was written through it
	}
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
		return out, b.tree().Remove(agentsFile)
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
	was, err := b.tree().Read(claudeRules)
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
	if !b.o.DryRun {
		if err := b.tree().Mkdir(filepath.Dir(name), 0o755); err != nil {
			return out, err
		}
		if err := b.tree().Replace(name, was, []byte(text)); errors.Is(err, folder.ErrChanged) {
			return out, fmt.Errorf("%s has changed meanwhile: it stays as it is", filepath.Join(b.repo.Root, name))
		} else if err != nil {
			return out, err
		}
	}
	return append(out, Change{name, string(was), text}), nil
}
