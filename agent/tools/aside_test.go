//go:build linux

package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/agent/tools"
)

// What git, editors and agents would run or obey is put aside where a command has made it, whatever it does to the times of folders, and what
// was there before stays.
func TestWhatCommandsMakeIsPutAside(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := shellBench(t, kind, tools.Shell{})
		b.put("old/.git/HEAD", "x")
		b.put("bare/HEAD", "x")
		b.put("bare/refs/x", "x")
		b.put("objects/x", "x")
		b.put("CLAUDE.md", "x")
		for command, want := range map[string]string{
			"mkdir -p a/b/.git/x":                                        "a/b/.git",
			"mkdir -p c d; mkdir -p c/.git/x; mv c/.git d":               "d/.git",
			"mkdir e; echo gitdir: x >e/.git; touch -d 2001-1-1 e":       "e/.git",
			"echo x >AGENTS.md; echo {} >.mcp.json":                      ".mcp.json, AGENTS.md",
			"mkdir -p f/refs f/objects; touch f/HEAD":                    "f/HEAD",
			"mkdir -p h/.GIT/x":                                          "h/.GIT",
			"mkdir -p i/.git/x; ln -s i/.git .envrc":                     ".envrc, i/.git",
			"echo x >old/.git/HEAD; echo y >bare/HEAD; mkdir -p ok/.git": "",
			"mkdir -p ok/.git/x":                                         "ok/.git",
		} {
			got := b.bash(command)
			if said := "the command has made " + want + ", which git"; want != "" && !strings.Contains(got, said) || want == "" && got != "" {
				t.Errorf("%q: %q", command, got)
			}
			for name := range strings.SplitSeq(want, ", ") {
				if want == "" {
					break
				}
				if _, err := os.Lstat(filepath.Join(b.dir, name)); err == nil {
					t.Errorf("%q: %s is there", command, name)
				}
				if _, err := os.Lstat(filepath.Join(b.dir, name+".new")); err != nil {
					t.Errorf("%q: %v", command, err)
				}
			}
		}
		b.has(b.bash("mkdir -p a/b/.git/x; ls -d a/b/.git"), "a/b/.git\n", "put behind its name")
		for _, name := range []string{"a/b/.git.new", "a/b/.git.new2", "old/.git/HEAD", "bare/HEAD", "CLAUDE.md"} {
			if _, err := os.Lstat(filepath.Join(b.dir, name)); err != nil {
				t.Error(err)
			}
		}
	})
}

// Where a command finds a placeholder it cannot make what programs run or obey, and nothing of it is left, also when commands overlap.
func TestPlaceholders(t *testing.T) {
	b := shellBench(t, "bubblewrap", tools.Shell{})
	other := newBench(t, tools.Options{Dir: b.dir, Shell: tools.Shell{Env: env()}, Fetch: tools.Fetch{Off: true}})
	b.put("CLAUDE.md", "x")
	b.put(".git/HEAD", "ref: refs/heads/main\n")
	b.put(".git/config", "")
	before := everything(t, b.dir)
	ended := make(chan string)
	go func() {
		ended <- other.bash("until [ -e go ]; do :; done 2>/dev/null; mkdir .claude/x; echo x >.claude/y; echo late")
	}()
	for _, command := range []string{"mkdir .claude/x", "echo x >.vscode/tasks.json", "rmdir .claude", "mv .claude x", "echo x >CLAUDE.md", "rm CLAUDE.md", "mkdir .git/modules/x", "echo x >.git/commondir", "echo x >.git/config.worktree", "mkdir .git/hooks/x"} {
		if got := b.bash(command); !strings.HasPrefix(got, "error: ") {
			t.Errorf("%q: %q", command, got)
		}
	}
	b.bash("touch go")
	b.has(<-ended, "late")
	b.bash("rm go")
	if got := everything(t, b.dir); got != before {
		t.Errorf("there is\n%s\nbefore it was\n%s", got, before)
	}
	for _, name := range []string{".claude", ".vscode", ".git/modules", ".git/hooks"} {
		if _, err := os.Lstat(filepath.Join(b.dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

// A command that has too many processes, or too much memory, is killed.
func TestLoadsOfCommandsAreLimited(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := shellBench(t, kind, tools.Shell{Processes: 30, Memory: 100 << 20})
		b.has(b.bash("for i in $(seq 60); do sleep 600 & done; wait"), "error: ", "processes, which is more than 30", "was killed")
		b.has(b.bash("x=$(head -c 400000000 /dev/zero | tr '\\0' x); sleep 600"), "error: ", "MB of memory, which is more than 100", "was killed")
		b.has(b.bash("for i in 1 2 3; do sleep 0 & done; wait; ulimit -c; ulimit -n"), "0\n", "8192\n")
	})
}
