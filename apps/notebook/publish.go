package notebook

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// claudeRules is where rules are written for agents that read files.
var claudeRules = filepath.Join(".claude", "rules", "decant.md")

const publishedHead = "<!-- Written by decant notebook from its rules: change them there. -->\n" +
	"# Rules that were confirmed in this repository\n\n"

// Publish writes the rules to .claude/rules/decant.md, which Claude Code reads, and keeps them current from
// now on. It returns what it changed, or would change.
func (b *Book) Publish(ctx context.Context) ([]Change, error) {
	was, err := b.tree().Read(claudeRules)
	if err != nil {
		return nil, err
	}
	if was != nil && !strings.HasPrefix(string(was), publishedHead) {
		return nil, fmt.Errorf("%s was not written by Decant: move it away first", filepath.Join(b.repo.Root, claudeRules))
	}
	if err := b.change(ctx, false, func(l *ledger) error {
		if s := l.state(); !slices.Contains(s.Published, b.repo.Root) {
			s.Published = append(s.Published, b.repo.Root)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return b.published(ctx)
}

// Unpublish deletes what Publish has written.
func (b *Book) Unpublish(ctx context.Context) ([]Change, error) {
	if err := b.change(ctx, true, func(l *ledger) error {
		s := l.state()
		s.Published = slices.DeleteFunc(s.Published, func(root string) bool { return root == b.repo.Root })
		return nil
	}); err != nil {
		return nil, err
	}
	text, err := b.tree().Read(claudeRules)
	if err != nil || !strings.HasPrefix(string(text), publishedHead) {
		return nil, err
	}
	if !b.o.DryRun {
		err = b.tree().Remove(claudeRules)
	}
	return []Change{{claudeRules, string(text), ""}}, err
}

// published writes the rules if they are published in this working tree.
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
		if err := b.tree().Replace(name, was, []byte(text)); errors.Is(err, errChanged) {
			return out, fmt.Errorf("%s has changed meanwhile: it stays as it is", filepath.Join(b.repo.Root, name))
		} else if err != nil {
			return out, err
		}
	}
	return append(out, Change{name, string(was), text}), nil
}
