package notebook

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Subfolders, worktrees and clones with the same remote share a key; a clone without one does not.
func TestOneKey(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	find := func(name string) repository {
		t.Helper()
		r, err := findRepository(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	key := func(name string) string { t.Helper(); return find(name).Key }
	git("init", "-q", "one")
	git("-C", "one", "commit", "-q", "--allow-empty", "-m", "first")
	git("-C", "one", "worktree", "add", "-q", "../two")
	git("clone", "-q", "one", "three")
	git("init", "-q", "four")
	if err := os.MkdirAll(filepath.Join(dir, "two", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if key("one") != key("two/sub") {
		t.Error("a subfolder of a worktree has another notebook")
	}
	git("clone", "-q", "--bare", "one", "bare.git")
	git("-C", "bare.git", "worktree", "add", "-q", "../five", "-b", "five")
	for at, want := range map[string]string{"one": "one", "two/sub": "one", "four": "four", "five": "bare", ".": filepath.Base(dir)} {
		if got := find(at).Name; got != want {
			t.Errorf("%s is called %q, want %q", at, got, want)
		}
	}
	if key("one") == key("four") || key("one") == key("three") {
		t.Error("other repositories have the same notebook")
	}
	git("-C", "three", "remote", "set-url", "origin", "git@example.com:o/n.git")
	git("-C", "four", "remote", "add", "origin", "https://user:pw@example.com/o/n")
	if key("three") != key("four") {
		t.Error("two clones of one remote have different notebooks")
	}
}
