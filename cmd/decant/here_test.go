package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
)

// here runs the commands of scripts within the process of the tests: most of the time of a short command is the start of a process.
type here struct {
	mu     sync.Mutex
	names  []string           // of the variables that scripts know
	filled map[filling][]byte // databases
	parsed map[string]*decant.Conversation
}

// variables returns the names of the variables that scripts begin with or set, themselves or by their commands.
func variables(scripts string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil {
		return nil, err
	}
	names := map[string]bool{"WORK": true, "HOME": true, "PATH": true, "TMPDIR": true, "XDG_CACHE_HOME": true, "SESSIONS": true, "LOGS": true}
	for _, name := range []string{"GITHUB_API_URL", "SLACK_API_URL"} { // set by services
		names[name] = true
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, m := range regexp.MustCompile(`\b([A-Z][A-Z0-9_]*)=`).FindAllSubmatch(src, -1) {
			names[string(m[1])] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// decant is the program: decant ARGUMENT... A script that needs a process of its own, or input, says exec decant.
func (h *here) decant(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) > 0 && args[0] == "serve" {
		ts.Fatalf("decant serve ends its process some seconds after its end: exec decant serve")
	}
	var environ []string
	for _, name := range h.names {
		if value := ts.Getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	perform(ts, neg, func(out, messages io.Writer) int {
		return run(&process.Process{Args: args, Environ: environ, Dir: ts.MkAbs("."), In: strings.NewReader(""), Out: out, Err: messages, Width: 80})
	})
}

// helper returns the command of a helper of scripts. It gets the arguments behind its flags; file returns the name of a file.
func helper(name string, do func(flags *flag.FlagSet, args []string, file func(string) string, messages io.Writer) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		perform(ts, neg, func(_, messages io.Writer) int {
			flags := flag.NewFlagSet(name, flag.ContinueOnError)
			flags.SetOutput(messages)
			if err := do(flags, args, ts.MkAbs, messages); err != nil {
				fmt.Fprintf(messages, "%s: %v\n", name, err)
				return exit.Failed
			}
			return exit.Done
		})
	}
}

// perform does what a script asks for, as a process would.
func perform(ts *testscript.TestScript, neg bool, do func(out, messages io.Writer) int) {
	out, messages := &pipe{to: ts.Stdout()}, &pipe{to: ts.Stderr()}
	defer out.close()
	defer messages.close()
	code := do(out, messages)
	if code != exit.Done {
		ts.Logf("[exit status %d]", code)
	}
	if (code != exit.Done) != neg {
		ts.Logf("[stdout]\n%s[stderr]\n%s", ts.Stdout(), ts.Stderr())
		ts.Fatalf("unexpected exit status")
	}
}

// pipe is where a command writes. What comes after its end is lost, as it is with a process.
type pipe struct {
	mu sync.Mutex
	to io.Writer
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.to == nil {
		return 0, os.ErrClosed
	}
	return p.to.Write(b)
}

func (p *pipe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = nil
}
