//go:build unix

package notebook_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/internal/plainfile"
	"github.com/decantdev/decant/memory"
)

// everything does what a notebook reads and writes files for, and returns what went wrong.
func (d *desk) everything() error {
	b, err := notebook.Open(notebook.Options{Memories: d.db, Root: d.root, Now: func() time.Time { return d.now }})
	if err != nil {
		return err
	}
	_, initErr := b.Init(d.Context())
	_, addErr := b.AddRule(d.Context(), "Never push to main", "", memory.Source{})
	_, doneErr := b.Done(d.Context(), "TASK-1: Add a handler", notebook.Task{Outcome: "it works"}, memory.Source{})
	_, shareErr := b.Share(d.Context(), []string{"#1"})
	_, publishErr := b.Publish(d.Context())
	_, unpublishErr := b.Unpublish(d.Context())
	return errors.Join(initErr, addErr, doneErr, shareErr, publishErr, unpublishErr)
}

// contents returns what a folder holds.
func (d *desk) contents(dir string) string {
	var b strings.Builder
	d.no(filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		fmt.Fprintf(&b, "%s %x\n", name, sha256.Sum256(text))
		return err
	}))
	return b.String()
}

// foreign are the files and folders of a repository that a notebook reads or writes: folders end with a slash.
func foreign() []string {
	out := []string{".decant/", ".decant/notebook/", ".decant/notebook/.gitignore", ".decant/notebook/.lock", ".decant/notebook.json", ".decant/shared.jsonl",
		".decant/.gitattributes", ".claude/", ".claude/rules/", ".claude/rules/decant.md"}
	for _, name := range notebook.FileNames {
		out = append(out, ".decant/notebook/"+name)
	}
	return out
}

// A commit may hold links. What they lead to stays as it is, outside of the repository and within, and the user reads which link is in the way.
func TestNothingIsWrittenThroughLinks(t *testing.T) {
	for i, link := range foreign() {
		d := newDesk(t)
		outside := d.TempDir()
		target, folderOf := filepath.Join(outside, "file"), filepath.Join(outside, "folder")
		d.no(errors.Join(os.WriteFile(target, []byte("# mine\n"), 0o600), os.Mkdir(folderOf, 0o700)))
		git := filepath.Join(d.root, ".git")
		if i%2 == 0 {
			target, folderOf = filepath.Join(git, "config"), filepath.Join(git, "hooks")
		}
		name, isFolder := strings.CutSuffix(link, "/")
		if isFolder {
			target = folderOf
		}
		at := filepath.Join(d.root, name)
		d.no(errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(target, at)))
		before := d.contents(outside) + d.contents(git)
		err := d.everything()
		if after := d.contents(outside) + d.contents(git); after != before {
			t.Errorf("%s leads to %s: there was\n%s\nand is\n%s", link, target, before, after)
		}
		if !errors.Is(err, notebook.ErrLink) || !strings.Contains(err.Error(), name+": "+notebook.ErrLink.Error()) {
			t.Errorf("%s leads to %s: %v", link, target, err)
		}
	}
}

// A link that leads nowhere makes no file where it leads.
func TestNothingIsMadeThroughLinks(t *testing.T) {
	for _, link := range []string{".decant/notebook/.lock", ".decant/notebook/DONE.md", ".decant/shared.jsonl"} {
		d := newDesk(t)
		outside := d.TempDir()
		at := filepath.Join(d.root, link)
		d.no(errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(filepath.Join(outside, "new"), at)))
		if err := d.everything(); !errors.Is(err, notebook.ErrLink) {
			t.Errorf("%s: %v", link, err)
		}
		if made := d.contents(outside); made != "" {
			t.Errorf("%s: made %s", link, made)
		}
	}
}

// Neither a pipe, which would be waited for, nor a file that takes all memory stops a notebook for long.
func TestPipesAndHugeFilesAreRefused(t *testing.T) {
	for _, name := range foreign() {
		if strings.HasSuffix(name, "/") || name == ".decant/notebook/.gitignore" || name == ".decant/notebook/.lock" {
			continue // nothing is read of it
		}
		d := newDesk(t)
		at := filepath.Join(d.root, name)
		d.no(errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), unix.Mkfifo(at, 0o600)))
		if err := d.everything(); !errors.Is(err, plainfile.ErrKind) || !strings.Contains(err.Error(), name) {
			t.Errorf("a pipe at %s: %v", name, err)
		}
		d.no(errors.Join(os.Remove(at), os.WriteFile(at, nil, 0o600), os.Truncate(at, 3<<30)))
		if err := d.everything(); err == nil || !strings.Contains(err.Error(), name+": it is larger than") {
			t.Errorf("3 GB at %s: %v", name, err)
		}
	}
}

// Anybody who may commit may write into the file that is shared, and its records are compared with each other.
func TestASharedFileIsBounded(t *testing.T) {
	d := newDesk(t)
	b := d.book()
	line := `{"id":"m:b0e09ca7f308","kind":"memory","text":"Use tabs","created":"2026-11-26T17:16:11Z"}` + "\n"
	d.no(os.WriteFile(filepath.Join(d.root, ".decant", "shared.jsonl"), []byte(strings.Repeat(line, 1+(1<<20)/len(line))), 0o600))
	if _, err := b.Sync(d.Context()); err == nil || !strings.Contains(err.Error(), "shared.jsonl: it is larger than 1 MB") {
		t.Error(err)
	}
}

// The user's own settings for all projects may be a link.
func TestLinksOfOtherSettingsAreLeftAlone(t *testing.T) {
	d := newDesk(t)
	home := d.TempDir()
	d.no(os.WriteFile(filepath.Join(home, "settings.json"), []byte(`{"compaction": {"dir": "elsewhere"}}`), 0o600))
	d.no(errors.Join(os.Symlink(home, filepath.Join(d.root, ".claude")), unix.Mkfifo(filepath.Join(d.root, "settings.json"), 0o600)))
	if b := d.book(); b.Dir() != filepath.Join(d.root, ".decant", "notebook") {
		t.Error(b.Dir())
	}
}
