// Plugin shows with the real Claude Code, without an account, that its plugin (plugins/claude-code) works. It judges by the
// requests that reach a scripted model behind "decant serve":
//
//	install    Claude Code's own commands install the plugin; its hooks run, and its tools are there
//	rules      a rule of the notebook is in the first request, and in the first one after /clear, at a terminal
//	recall     the tool recall returns a fact of a tool result that a pour removed from the prompt
//	uninstall  Claude Code's own commands remove the plugin; requests and the user's folder have no trace of it
//
// Where Linux lets it, everything runs in a network namespace that has only loopback. It prints one line for each case,
// with FAIL and why if one fails; the exit status is 1 then. Needs Go, npm, node, git and a terminal's device. Installs Claude
// Code on first use, which is 380 MB; without npm it says so and ends with 0.
//
//	CLAUDE_CODE=FILE   run this Claude Code instead of installing one
//	KEEP=1             keep the folder with all requests and what was printed
//
// usage: go run ./scripts/plugin
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

const version = "2.1.330" // of Claude Code

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "plugin:", err)
		os.Exit(1)
	}
}

// run prepares what needs a network, and then starts this program again without one.
func run() error {
	if work := os.Getenv("PLUGIN_WORK"); work != "" {
		return show(work)
	}
	claude := os.Getenv("CLAUDE_CODE")
	if claude == "" {
		if _, err := exec.LookPath("npm"); err != nil {
			fmt.Println("SKIP  there is no npm to install Claude Code with")
			return nil
		}
		var err error
		if claude, err = install(); err != nil {
			return err
		}
	}
	work, err := os.MkdirTemp("", "decant-plugin-")
	if err != nil {
		return err
	}
	if os.Getenv("KEEP") == "" {
		defer os.RemoveAll(work)
	} else {
		defer fmt.Println("kept:", work)
	}
	if err := command("go", "build", "-o", filepath.Join(work, "bin", "decant"), "./cmd/decant").Run(); err != nil {
		return fmt.Errorf("build decant: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{self}
	if exec.Command("unshare", "-rn", "ip", "link", "set", "lo", "up").Run() == nil {
		args = []string{"unshare", "-rn", "sh", "-c", `ip link set lo up && exec "$@"`, "sh", self}
	}
	again := command(args[0], args[1:]...)
	again.Env = append(os.Environ(), "PLUGIN_WORK="+work, "CLAUDE_CODE="+claude)
	return again.Run()
}

// install installs Claude Code and returns the program.
func install() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	dir := filepath.Join(cache, "decant-resume", version) // scripts/resume uses the same
	file := filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch, "claude")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return file, command("npm", "install", "--no-audit", "--no-fund", "--silent", "--ignore-scripts", "--prefix", dir, "@anthropic-ai/claude-code@"+version).Run()
}

// command returns a command that prints where this program prints.
func command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c
}
