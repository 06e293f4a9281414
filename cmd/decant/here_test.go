package main

import (
	"errors"
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
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/decantdev/decant"
)

// here runs the commands of scripts within the process of the tests: most of the time of a short command is the start of a process.
// For that it takes the directory and the environment of a script, so only one script runs at a time.
type here struct {
	names  []string           // of the variables that scripts know
	filled map[filling][]byte // databases
	parsed map[string]*decant.Conversation
}

// variables returns the names of the variables that a script begins with or sets, itself or by its commands.
func variables(vars []string, scripts string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil {
		return nil, err
	}
	names := map[string]bool{"GITHUB_API_URL": true, "SLACK_API_URL": true} // set by services
	for _, v := range vars {
		name, _, _ := strings.Cut(v, "=")
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
	h.command(ts, neg, func(out, messages io.Writer) int {
		return run(args, &streams{in: strings.NewReader(""), out: out, err: messages, width: 80})
	})
}

// helper returns the command of a helper of scripts.
func (h *here) helper(name string, do func(flags *flag.FlagSet, args []string, messages io.Writer) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		h.command(ts, neg, func(_, messages io.Writer) int {
			flags := flag.NewFlagSet(name, flag.ContinueOnError)
			flags.SetOutput(messages)
			if err := do(flags, args, messages); err != nil {
				fmt.Fprintf(messages, "%s: %v\n", name, err)
				return exitOther
			}
			return exitDone
		})
	}
}

// command does what a script asks for, as a process would see it.
func (h *here) command(ts *testscript.TestScript, neg bool, do func(out, messages io.Writer) int) {
	out, messages := &pipe{to: ts.Stdout()}, &pipe{to: ts.Stderr()}
	defer out.close()
	defer messages.close()
	var environ []string
	for _, name := range h.names {
		if value := ts.Getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	code, err := asProcess(ts.MkAbs("."), environ, func() int { return do(out, messages) })
	ts.Check(err)
	if code != exitDone {
		ts.Logf("[exit status %d]", code)
	}
	if (code != exitDone) != neg {
		ts.Logf("[stdout]\n%s[stderr]\n%s", ts.Stdout(), ts.Stderr())
		ts.Fatalf("unexpected exit status")
	}
}

// asProcess does something in a directory and with an environment, as a process would that has both to itself. Of an environment the last
// value of a variable counts, as it does for processes. Tests that use it cannot run in parallel.
func asProcess(dir string, environ []string, do func() int) (code int, err error) {
	if !playing.TryLock() {
		return 0, errors.New("two tests play a process at once, and there is one directory and one environment")
	}
	defer playing.Unlock()
	was, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	before := os.Environ()
	defer func() { err = errors.Join(err, os.Chdir(was)) }()
	defer setenv(before)
	setenv(environ)
	if err := os.Chdir(dir); err != nil {
		return 0, err
	}
	return do(), nil
}

var playing sync.Mutex // held while a test plays a process

// setenv has the process know these variables, and no others.
func setenv(environ []string) {
	os.Clearenv()
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		os.Setenv(name, value)
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

// oneByOne are tests that run one after the other.
type oneByOne struct{ *testing.T }

func (oneByOne) Parallel() {}

func (oneByOne) Verbose() bool { return testing.Verbose() }

func (t oneByOne) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(oneByOne{t}) })
}
