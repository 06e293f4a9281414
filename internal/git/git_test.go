package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/git"
)

// hostile makes a repository whose settings, attributes and hooks all name a program that leaves a mark. It returns the folder and the mark.
func hostile(t *testing.T) (dir, mark string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, mark = t.TempDir(), filepath.Join(t.TempDir(), "mark")
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	plain := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	plain("init", "-q")
	write("a.txt", "one\n", 0o644)
	write(".gitattributes", "* diff=evil filter=evil merge=evil\n", 0o644)
	plain("add", ".")
	plain("commit", "-qm", "x")
	write("a.txt", "two\n", 0o644)
	evil := filepath.Join(dir, "evil.sh")
	write("evil.sh", "#!/bin/sh\n: >"+mark+"\ncat\n", 0o755)
	for _, hook := range []string{"pre-commit", "post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc", "prepare-commit-msg", "commit-msg"} {
		write(".git/hooks/"+hook, "#!/bin/sh\n: >"+mark+"\n", 0o755)
	}
	write(".git/more", "[alias]\n\tincluded = !"+evil+"\n[pager]\n\tlog = "+evil+"\n", 0o644)
	for _, key := range []string{"core.fsmonitor", "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.clean", "filter.evil.smudge",
		"filter.evil.process", "merge.evil.driver", "core.pager", "pager.diff", "core.editor", "sequence.editor", "core.sshCommand", "credential.helper",
		"credential.https://example.com.helper", "gpg.program", "interactive.diffFilter", "core.askPass", "alias.st"} {
		value := evil
		if strings.HasPrefix(key, "alias.") {
			value = "!" + evil
		}
		plain("config", key, value)
	}
	for key, value := range map[string]string{"core.hooksPath": ".git/hooks", "filter.evil.required": "true", "include.path": "more", "commit.gpgSign": "false"} {
		plain("config", key, value)
	}
	os.Remove(mark) // the last commands may have run it
	return dir, mark
}

// Nothing that a repository names is run, whether we read it or the user's git works in it.
func TestNothingThatARepositoryNamesIsRun(t *testing.T) {
	dir, mark := hostile(t)
	ran := func(name string, c *exec.Cmd) string {
		t.Helper()
		out, err := c.CombinedOutput()
		if os.Remove(mark) == nil {
			t.Errorf("%s runs what the repository names: %v: %s", name, err, out)
		}
		return string(out)
	}
	if out := ran("plain git", exec.Command("true")); out != "" {
		t.Error(out)
	}
	plain := exec.Command("git", "-C", dir, "status")
	plain.Run()
	if os.Remove(mark) != nil {
		t.Fatal("the repository is not hostile")
	}
	for _, args := range []string{"log -p --no-ext-diff --no-textconv", "blame --no-textconv HEAD a.txt", "show --no-ext-diff --no-textconv", "ls-files",
		"diff-tree -p --no-ext-diff --no-textconv HEAD", "rev-parse --show-toplevel", "cat-file -p HEAD", "grep --no-textconv one HEAD"} {
		ran("Command "+args, git.Command(t.Context(), dir, strings.Fields(args)...))
	}
	env, err := git.Environment(t.Context(), dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=A B", "GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=a@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"diff", "-p diff", "status", "st", "included", "log -p", "show", "blame a.txt", "branch --edit-description", "commit -a --amend", "commit -q --allow-empty -m y",
		"checkout -q -b n", "stash", "stash pop", "show --ext-diff HEAD", "fetch https://example.invalid/x", "rebase -i --root", "gc --auto", "diff --ext-diff HEAD~1", "tag -a -m x t"} {
		c := exec.Command("git", strings.Fields(args)...)
		c.Dir, c.Env = dir, env
		ran(args, c)
	}
	c := exec.Command("git", "log", "-1", "--format=%an")
	c.Dir, c.Env = dir, env
	if out := ran("log", c); out != "A B\n" {
		t.Errorf("the settings that were in the environment are lost, or nothing was committed: %q", out)
	}
}

// In a folder without a repository, and where git is not installed, the environment is usable.
func TestEnvironmentWithoutARepository(t *testing.T) {
	for _, path := range []string{os.Getenv("PATH"), ""} {
		t.Setenv("PATH", path)
		env, err := git.Environment(t.Context(), t.TempDir(), []string{"A=b"})
		if err != nil || env[0] != "A=b" {
			t.Errorf("with PATH %q: %q, %v", path, env, err)
		}
	}
}
