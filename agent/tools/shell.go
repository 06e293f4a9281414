package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/git"
)

const (
	defaultCommand = 2 * time.Minute
	longestCommand = 10 * time.Minute
	lookEvery      = time.Second / 2 // at what a command does

	defaultProcesses = 1000     // of a command
	mostOpen         = 8192     // files that a process has open
	mostWritten      = 16 << 30 // bytes of a file that a command writes, where the project may hold any amount
)

// A shell runs commands, one after the other, in the folder that the one before has left.
type shell struct {
	opts  Shell
	plan  plan   // what a confined command may do
	files *files // the project
	path  string // of the shell; empty: there is none
	cwds  string // file in which a command says where it has left the shell

	walls func() walls // what confines commands, found out once

	mu   sync.Mutex // held while a command runs
	cwd  string
	told bool // what Landlock does not do
	made aside
}

// newShell returns a shell with a temporary folder.
func newShell(f *files, o Shell, temp string) (*shell, error) {
	s := &shell{opts: o, files: f, cwd: f.real, made: aside{top: f.real}, cwds: filepath.Join(temp, "tmp", ".cwd")}
	if o.Env == nil {
		s.opts.Env = withoutSecrets(os.Environ())
	}
	for _, name := range []string{"cache", "tmp", "shm"} {
		if err := os.MkdirAll(filepath.Join(temp, "tmp", name), 0o700); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"bash", "sh"} {
		if p, err := exec.LookPath(name); err == nil {
			s.path = p
			break
		}
	}
	var err error
	if s.plan, err = newPlan(f.real, filepath.Join(temp, "tmp"), o); err != nil {
		return nil, err
	}
	s.walls = sync.OnceValue(func() walls { return findWalls(&s.plan) })
	return s, nil
}

type bashArgs struct {
	Command     string `json:"command" jsonschema:"what the shell is to run"`
	Timeout     int    `json:"timeout,omitzero" jsonschema:"longest time in milliseconds; at most 600000"`
	Description string `json:"description,omitzero" jsonschema:"what it does in a few words"`
}

func (s *shell) tool() agent.Tool {
	t := agent.Func("bash", s.describe(), func(ctx context.Context, c *agent.Call, a bashArgs) (agent.Result, error) { return s.run(ctx, c, a) })
	t.Timeout = -1 // it keeps its own, so that what came until then is not lost
	return previewed(t, func(a bashArgs) (string, error) {
		text := a.Command + "\n"
		if s.walls().name() == "" {
			text += "(It is not confined: it can do what you can do.)\n"
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return text + joined("", s.notDone()), nil
	})
}

// describe tells the model what commands can do.
func (s *shell) describe() string {
	text := "Runs a command in a shell. The folder in which a command leaves the shell is the one in which the next begins; variables and background processes " +
		"do not stay. There is no terminal and no input. Use read, edit, glob and grep for files. "
	if s.opts.Network {
		return text + "Commands write in the project and in $TMPDIR only."
	}
	return text + "Commands write in the project and in $TMPDIR only, and reach no network."
}

// run runs a command.
func (s *shell) run(ctx context.Context, c *agent.Call, a bashArgs) (r agent.Result, err error) {
	switch {
	case a.Command == "" || strings.ContainsRune(a.Command, 0):
		return r, errors.New("command is empty, or holds a NUL")
	case a.Timeout < 0:
		return r, errors.New("timeout is a number of milliseconds")
	case s.path == "":
		return r, errors.New("there is no shell on this machine")
	case s.walls().name() == "" && !s.opts.Attended:
		return r, errors.New("commands cannot be confined on this machine and nobody is there to be asked, so none are run; whoever runs the agent can install bubblewrap")
	}
	limit := time.Duration(min(a.Timeout, math.MaxInt32)) * time.Millisecond
	limit = min(cmp.Or(limit, s.opts.Timeout, defaultCommand), max(longestCommand, s.opts.Timeout))
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &capture{dir: s.plan.Temp}
	defer out.close()
	if !s.plan.Apart { // else nobody works in the project
		s.made.before()
	}
	ended := s.execute(ctx, limit, a.Command, out, c.Progress)
	moved, made := s.moved(), ""
	if !s.plan.Apart {
		made = s.made.after()
	}
	r.Text, r.Rest = out.text()
	r.Text = joined(r.Text, ended, moved, made, s.notDone())
	s.told = true
	r.Error = ended != ""
	return r, nil
}

// notDone says with the first command what walls by Landlock let through; empty: nothing, or it was said.
func (s *shell) notDone() string {
	if s.told || s.walls().name() != "landlock" {
		return ""
	}
	return "Landlock confines commands here. It lets them change the mode and the times of any file of this user, and .git, .claude and the like in the project, " +
		"which run or say things outside later. They also see the arguments of other processes. Install bubblewrap to prevent that."
}

// joined puts notes behind an output.
func joined(text string, notes ...string) string {
	for _, n := range notes {
		if n == "" {
			continue
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += "(" + n + ")"
	}
	return text
}

// script reads a command, runs it, and says where it has left the shell. Nothing in a command is taken for the script, and nobody sees it among
// the arguments or the environments of processes.
const script = `__cwd=$TMPDIR/.cwd; if [ -n "$BASH_VERSION" ]; then IFS= read -r -d '' __command; else __command=$(cat); fi; exec </dev/null; ` +
	`trap 'pwd -P >"$__cwd" 2>/dev/null' EXIT; eval "$__command"`

// execute runs a command to its end and says how it has ended; empty: well.
func (s *shell) execute(ctx context.Context, limit time.Duration, command string, out *capture, progress func(string)) string {
	os.Remove(s.cwds)
	if info, err := os.Stat(s.cwd); err != nil || !info.IsDir() {
		s.cwd = s.files.real
	}
	env, err := git.Environment(ctx, s.cwd, s.env())
	if err != nil {
		return err.Error()
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	if s.walls().name() == "bubblewrap" && !s.plan.Apart {
		defer placehold(s.files.real)()
	}
	before, _ := s.holds(Amount{}) // what cannot be measured ends the command
	p, err := s.walls().start(s.cwd, []string{s.path, "-c", s.ulimit() + script, filepath.Base(s.path)}, env, command, w)
	w.Close()
	if err != nil {
		return "the command could not be started: " + err.Error()
	}
	copied := make(chan struct{})
	go func() { defer close(copied); io.Copy(out, r) }()
	how := watch(ctx, limit, p, func() string {
		if progress != nil {
			if line := out.last(); line != "" {
				progress(line)
			}
		}
		return cmp.Or(s.overloads(p), s.over(before))
	})
	select {
	case <-copied:
	case <-time.After(time.Second): // something that has got away holds the output open
		r.Close()
		<-copied
	}
	return cmp.Or(how, s.over(before))
}

// overloads says that a command has more processes or memory than it may; empty: it has not.
func (s *shell) overloads(p *process) string {
	processes, memory := load(p.cmd.Process.Pid)
	switch most := cmp.Or(s.opts.Memory, defaultMemory()); {
	case processes > cmp.Or(s.opts.Processes, defaultProcesses):
		return fmt.Sprintf("the command had %d processes, which is more than %d", processes, cmp.Or(s.opts.Processes, defaultProcesses))
	case most > 0 && memory > most:
		return fmt.Sprintf("the command had %d MB of memory, which is more than %d", memory>>20, most>>20)
	}
	return ""
}

// watch waits for a process and ends it when its time is over, or when look, which is called again and again, says why. It says how it has
// ended; empty: well.
func watch(ctx context.Context, limit time.Duration, p *process, look func() string) string {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			p.end()
			return p.how()
		case <-ctx.Done():
			p.end()
			return "the command was interrupted, and all that it has started was killed"
		case <-timer.C:
			p.end()
			return fmt.Sprintf("the command took longer than %v and was killed with all that it has started; it can be given up to %v", limit, longestCommand)
		case <-tick.C:
			if why := look(); why != "" {
				p.end()
				return why + "; the command was killed with all that it has started"
			}
		}
	}
}

// env returns the environment of commands.
func (s *shell) env() []string {
	env := append([]string(nil), s.opts.Env...)
	env = append(env, "TMPDIR="+s.plan.Temp, "PAGER=cat", "TERM=dumb", "PWD="+s.cwd)
	if s.walls().name() != "" {
		cache := filepath.Join(s.plan.Temp, "cache") // the user's own cannot be written
		env = append(env, "XDG_CACHE_HOME="+cache, "GOCACHE="+filepath.Join(cache, "go-build"))
	}
	if s.plan.Apart {
		env = append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1") // git ends where it may not read the machine's settings, which may hold passwords
	}
	return env
}

// moved takes over the folder in which a command has left the shell. One that is not in the project is not taken, and that is said.
func (s *shell) moved() string {
	info, err := os.Lstat(s.cwds)
	if err != nil || !info.Mode().IsRegular() {
		return "" // a command that replaces the shell does not say, and one may put anything there
	}
	f, err := os.OpenFile(s.cwds, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 8192))
	if err != nil {
		return ""
	}
	dir, err := filepath.EvalSymlinks(strings.TrimSuffix(string(b), "\n"))
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	for _, in := range append([]string{s.files.real, s.plan.Temp}, s.plan.Write...) {
		if rel, err := filepath.Rel(in, dir); err == nil && filepath.IsLocal(rel) {
			s.cwd = dir
			return ""
		}
	}
	s.cwd = s.files.real
	return "the shell is in the project's folder again: " + dir + " is not in it"
}
