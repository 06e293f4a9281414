//go:build linux

package tools_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/testing/testkit"
)

// Programs of the machine run for commands that see little of it besides.
func TestProgramsRunApart(t *testing.T) {
	compile := "go env GOROOT"
	if testkit.Depth(false, true) {
		compile = `printf 'module m\n' >go.mod; printf 'package main\n\nfunc main() { println("x") }\n' >main.go; go build -o m . && ./m && rm -r $TMPDIR/cache`
	}
	lines := map[string]string{
		"/usr/bin/python3":     `python3 -c 'import ssl, socket, pwd, os, subprocess; pwd.getpwuid(os.getuid()); socket.gethostbyname("localhost"); ssl.create_default_context()'`,
		"/usr/bin/perl":        `perl -MPOSIX -MIO::Socket -e 'getpwuid($<) or die; gethostbyname("localhost") or die'`,
		"/usr/bin/git":         `git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git status -s`,
		"/usr/bin/node":        `node -e 'require("tls"); require("os").userInfo(); new Date().toString()'`,
		"/usr/bin/gcc":         `echo 'int main(void) { return 0; }' >a.c && gcc a.c && ./a.out`,
		"/usr/local/go/bin/go": "export GOFLAGS= GOTOOLCHAIN=local HOME=$TMPDIR; " + compile,
		"/bin/sh":              "date && id -un && getent hosts localhost",
	}
	for _, kind := range []string{"bubblewrap", "landlock"} {
		t.Run(kind, func(t *testing.T) {
			b := apartBench(t, kind)
			for program, line := range lines {
				if _, err := exec.LookPath(program); err != nil {
					t.Log("there is no", program)
					continue
				}
				got := b.try("bash", args{"command": "export PATH=/usr/local/go/bin:/usr/bin:/bin; " + line})
				if strings.HasPrefix(got, "error: ") || strings.Contains(got, "ermission denied") {
					t.Errorf("%s: %s", program, got)
				}
			}
		})
	}
}

// Services keep keys and passwords in /etc. A command that sees programs alone sees what programs need of it, and nothing else.
func TestSettingsOfTheMachineAreNotSeenApart(t *testing.T) {
	hidden := []string{"/etc/shadow", "/etc/ssl/private", "/etc/sudoers", "/etc/gitconfig", "/etc/npmrc", "/etc/environment", "/etc/fstab", "/etc/crontab", "/usr/local/etc"}
	all, err := filepath.Glob("/etc/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if slices.Contains([]string{"decant", "systemd", "init.d", "cron.d", "apt", "security", "pam.d"}, filepath.Base(name)) {
			hidden = append(hidden, name)
		}
	}
	for _, kind := range []string{"bubblewrap", "landlock"} {
		t.Run(kind, func(t *testing.T) {
			b := apartBench(t, kind)
			b.has(b.try("bash", args{"command": "cat /etc/passwd"}), "root:")
			var commands []string
			for _, name := range hidden {
				commands = append(commands, "if [ -d "+name+" ]; then find "+name+" -type f -exec cat {} + 2>/dev/null; else cat "+name+" 2>/dev/null; fi; :")
			}
			b.all(commands, func(command, got string) {
				if strings.TrimSpace(got) != "" {
					t.Errorf("%s: %.200s", command, got)
				}
			})
		})
	}
}

// What is to be hidden stays hidden, also where programs read otherwise: a file, a file in a folder, and a folder around one.
func TestHiddenFilesOfTheMachine(t *testing.T) {
	hide := []string{"/etc/hosts", "/etc/ssl/certs/ca-certificates.crt", "/etc/ld.so.conf.d", "/usr/share/zoneinfo/UTC"}
	for _, kind := range []string{"bubblewrap", "landlock"} {
		t.Run(kind, func(t *testing.T) {
			b := shellBench(t, kind, tools.Shell{Apart: true, Hide: hide})
			var commands []string
			for _, name := range hide {
				if _, err := os.Stat(name); err != nil {
					t.Log("there is no", name)
					continue
				}
				commands = append(commands, "cat "+name+" "+name+"/* 2>/dev/null; :")
			}
			b.all(commands, func(command, got string) {
				if strings.TrimSpace(got) != "" {
					t.Errorf("%s: %.200s", command, got)
				}
			})
			b.has(b.bash("cat /etc/nsswitch.conf /etc/passwd"), "root:")
		})
	}
}

// Neither a command nor where it runs is seen among the processes of the machine.
func TestCommandsAreNotSeenAmongProcesses(t *testing.T) {
	for _, kind := range []string{"bubblewrap", "landlock"} {
		t.Run(kind, func(t *testing.T) {
			b := apartBench(t, kind)
			got := b.try("bash", args{"command": `: hunter2; for f in /proc/[0-9]*/cmdline; do tr '\0' ' ' <$f; echo; done 2>/dev/null`})
			if strings.Contains(got, "hunter2") || kind == "landlock" && strings.Contains(got, b.dir) { // bubblewrap shows a command no processes but its own
				t.Error(got)
			}
			b.has(got, "bash")
		})
	}
}
