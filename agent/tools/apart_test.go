//go:build linux

package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/agent/tools"
)

// apartBench returns tools whose commands see nothing but programs, the project, which may hold a megabyte, and the folder chain but for what is private in it.
func apartBench(t *testing.T, kind string) *bench {
	t.Helper()
	dir := seenDir(t)
	for name, text := range map[string]string{"in/.made": "", "other/secret": "of somebody else", "chain/bin/tool": "echo shown", "chain/private/secret": "of somebody else"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kind != "bubblewrap" {
		withoutBubblewrap(t)
	}
	b := newBench(t, tools.Options{Dir: filepath.Join(dir, "in"), Most: tools.Amount{Bytes: 1 << 20, Files: 100},
		Shell: tools.Shell{Apart: true, Env: env(), Read: []string{filepath.Join(dir, "chain")}, Hide: []string{filepath.Join(dir, "chain", "private")}}, Fetch: tools.Fetch{Off: true}})
	if got := b.set.Confined(); got != kind {
		t.Skipf("this machine confines by %q, not by %q", got, kind)
	}
	return b
}

// What lies beside a project of its own is not there for its commands, by whatever way they try, and neither is what they make of it for the
// tools of files.
func TestCommandsApart(t *testing.T) {
	for _, kind := range []string{"bubblewrap", "landlock"} {
		t.Run(kind, func(t *testing.T) {
			b := apartBench(t, kind)
			t.Setenv("DECANT_TEST_TOKEN", "a-token")
			b.all([]string{
				"cat ../other/secret",
				"cat " + filepath.Dir(b.dir) + "/other/secret",
				"ln -s ../other/secret l; cat l",
				"ln ../other/secret h; cat h",
				"cat /proc/self/root" + filepath.Dir(b.dir) + "/other/secret; cat /proc/1/root" + filepath.Dir(b.dir) + "/other/secret",
				"ls -R " + filepath.Dir(b.dir) + "/other",
				"ls /home /root /var/lib /srv /opt",
				"cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep DECANT_TEST_TOKEN",
				"echo x >../other/mine",
				"cat ../chain/private/secret; ls ../chain/private",
				"echo x >../chain/mine && echo kept; ls ../chain/mine && echo kept",
				"ln /etc/passwd p && cat p",
				"mknod d b 8 0 && head -c 1 d",
				"echo x >/dev/shm/x && echo kept; echo x >/tmp/x && echo kept; echo x >/home/x && echo kept",
				"exec 3<>/dev/tcp/127.0.0.1/1 && echo connected",
				"cat /proc/self/mountinfo >/dev/null; umount /home && ls /home",
			}, func(command, got string) {
				for _, bad := range []string{"of somebody else", "secret\n", "a-token", "root:x:0", "kept\n", "connected"} {
					if strings.Contains(got, bad) {
						t.Errorf("%s: %s", command, got)
					}
				}
			})
			b.has(b.try("bash", args{"command": "sh ../chain/bin/tool"}), "shown")
			if _, err := os.Stat(filepath.Join(filepath.Dir(b.dir), "other", "mine")); err == nil {
				t.Error("a file was written beside the project")
			}
			for _, path := range []string{"l", "../other/secret", filepath.Dir(b.dir) + "/other/secret", "/proc/self/environ"} {
				if got := b.try("read", args{"file_path": path}); !strings.HasPrefix(got, "error: ") {
					t.Errorf("read %s: %s", path, got)
				}
			}
		})
	}
}

// What a project may hold is a limit for files and for commands, and what is too much can be removed.
func TestMost(t *testing.T) {
	for _, kind := range []string{"bubblewrap", "landlock"} {
		t.Run(kind, func(t *testing.T) {
			b := apartBench(t, kind)
			b.has(b.try("write", args{"file_path": "a", "content": strings.Repeat("x", 1<<20)}), "is made")
			b.has(b.try("write", args{"file_path": "b", "content": "x"}), "error: ", "no more room", "1048576 bytes")
			b.has(b.try("edit", args{"file_path": "a", "old_string": strings.Repeat("x", 1<<20), "new_string": "y"}), "Changed")
			b.has(b.try("bash", args{"command": "truncate -s 100G sparse"}), "error: ")
			b.has(b.try("bash", args{"command": "for i in 1 2 3; do head -c 600000 /dev/zero >f$i; done"}), "error: ", "no more room")
			b.has(b.try("write", args{"file_path": "c", "content": "x"}), "error: ", "no more room")
			if got := b.try("bash", args{"command": "rm -f f1 f2 f3 sparse"}); strings.HasPrefix(got, "error: ") {
				t.Errorf("to remove files: %s", got)
			}
			b.has(b.try("bash", args{"command": "mkdir hidden && cd hidden && i=0; while [ $i -lt 200 ]; do : >$i; i=$((i+1)); done; chmod 0 ../hidden; sleep 100"}), "error: ", "100 files")
			b.has(b.try("bash", args{"command": "chmod 700 hidden; rm -rf hidden; p=d; i=0; while [ $i -lt 99 ]; do p=$p/d; i=$((i+1)); done; mkdir -p $p/e/f"}), "error: ", "there is no more room")
			if got := b.try("bash", args{"command": "rm -rf hidden d"}); strings.HasPrefix(got, "error: ") {
				t.Errorf("to remove folders: %s", got)
			}
			b.has(b.try("write", args{"file_path": "c", "content": "x"}), "is made")
		})
	}
}
