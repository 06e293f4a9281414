package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
)

// Options configures a Set. Dir is required.
type Options struct {
	Dir string // the project

	// Keep is a folder for what files were before they were changed, and which the model has read. Each session has its own. Empty: a
	// temporary one, which Close removes. What is kept is not encrypted. The folder is made when there is something to keep; KeepIn changes it.
	Keep     string
	MostKept int64 // bytes of what files were; 0: 256 MB. The oldest goes first, and cannot be had back by Rewind

	Hidden []string // patterns of files that are neither read nor found, such as **/.env
	Most   Amount   // that the project may hold, with what commands keep in $TMPDIR
	Shell  Shell
	Fetch  Fetch
}

// Shell configures the tool bash.
type Shell struct {
	Off      bool // there is no such tool
	Attended bool // somebody is there to be asked about a command, which then runs even where it cannot be confined
	Network  bool // commands may use the network
	Apart    bool // commands see the programs of the machine and the project, and no other files: home folders, /var, /srv and most of /etc are hidden

	Env     []string      // of commands, as NAME=VALUE; nil: that of the process without what looks like a secret
	Hide    []string      // further files and folders that confined commands cannot read, absolute
	Read    []string      // folders that they see although Apart hides what is around them, absolute
	Write   []string      // further folders that they may write to, absolute
	Timeout time.Duration // of a command that does not say; 0: two minutes

	Processes int   // that a command may have at a time; 0: 1,000. It is killed when it has more, on Linux
	Memory    int64 // bytes that they may have together, likewise; 0: half of the machine's
}

// Fetch configures the tool fetch.
type Fetch struct {
	Off     bool          // there is no such tool
	Private []string      // hosts that may have addresses that are not public, with or without a port: "localhost:8080"
	Most    int64         // bytes of an answer; 0: 5 MB
	Timeout time.Duration // 0: 30 seconds
}

// A Set is the tools for one project and one session. It is safe for concurrent use.
type Set struct {
	files  *files
	keep   *keep
	shell  *shell
	fetch  *fetcher
	opts   Options
	temp   string     // removed by Close
	change sync.Mutex // held while files are changed
}

// New returns the tools for a project. An error names the option that is wrong.
func New(o Options) (s *Set, err error) {
	s = &Set{opts: o}
	if s.files, err = openFiles(o.Dir, o.Hidden, o.Most); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
			s = nil
		}
	}()
	if s.temp, err = os.MkdirTemp("", "decant-"); err != nil {
		return s, fmt.Errorf("tools: no temporary folder: %w", err)
	}
	if o.Keep == "" {
		o.Keep = s.temp + "/keep"
	}
	if s.keep, err = openKeep(o.Keep, o.MostKept); err != nil {
		return s, fmt.Errorf("tools: Options.Keep: %w", err)
	}
	if !o.Shell.Off {
		if s.shell, err = newShell(s.files, o.Shell, s.temp); err != nil {
			return s, err
		}
	}
	if !o.Fetch.Off {
		s.fetch = newFetcher(o.Fetch)
	}
	return s, nil
}

// Tools returns the tools.
func (s *Set) Tools() []agent.Tool {
	out := []agent.Tool{s.readTool(), s.writeTool(), s.editTool(), s.globTool(), s.grepTool()}
	if s.shell != nil {
		out = append(out, s.shell.tool())
	}
	if s.fetch != nil {
		out = append(out, s.fetch.tool())
	}
	return out
}

// Confined returns what confines commands: "bubblewrap", "landlock", or nothing.
func (s *Set) Confined() string {
	if s.shell == nil {
		return ""
	}
	return s.shell.walls().name()
}

// Close removes what is temporary. Calls must not be under way.
func (s *Set) Close() error {
	err := s.files.root.Close()
	if s.keep != nil {
		err = errors.Join(err, s.keep.close())
	}
	if s.fetch != nil {
		s.fetch.close()
	}
	if s.temp != "" {
		err = errors.Join(err, os.RemoveAll(s.temp))
	}
	return err
}

// previewed returns a tool that asks, and shows with f what a call would change.
func previewed[T any](t agent.Tool, f func(args T) (string, error)) agent.Tool {
	t.Ask = true
	t.Preview = func(_ context.Context, c *agent.Call) (string, error) {
		var args T
		if err := json.Unmarshal(c.Arguments, &args); err != nil {
			return "", err
		}
		return f(args)
	}
	return t
}
