package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A machine is where programs are measured: a folder, and in it the programs.
type machine struct {
	dir, self, decant, inside string
	databases                 int     // how many there are
	empty                     float64 // bytes of one that has nothing in it
}

func newMachine() (m *machine, err error) {
	m = &machine{}
	if m.dir, err = os.MkdirTemp("", "decant-cost"); err != nil {
		return m, err
	}
	if m.self, err = os.Executable(); err != nil {
		return m, err
	}
	if m.decant, err = m.build("./cmd/decant"); err != nil {
		return m, err
	}
	m.inside, err = m.build("./scripts/cost/inside")
	return m, err
}

func (m *machine) close() { os.RemoveAll(m.dir) }

// build builds a program as releases are built, and writes it anew page by page. The kernel then holds it in single pages, and
// a process has those in memory that it touches. Else it would have more or less of their neighbours, by the way in which the
// file was written or read.
func (m *machine) build(pkg string) (file string, err error) {
	file = filepath.Join(m.dir, filepath.Base(pkg))
	for _, args := range [][]string{
		{"go", "build", "-trimpath", "-ldflags=-s -w", "-o", file + ".built", pkg},
		{"dd", "bs=4096", "if=" + file + ".built", "of=" + file},
		{"chmod", "+x", file},
	} {
		c := exec.Command(args[0], args[1:]...)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return file, nil
}

// database names a new database.
func (m *machine) database() string {
	m.databases++
	return filepath.Join(m.dir, fmt.Sprint("database", m.databases))
}

// A spent is what a process has taken.
type spent struct {
	CPU            time.Duration
	Peak           int64   // bytes of memory
	Mallocs, Bytes float64 // what was allocated, of a process that says so
	Database       float64 // bytes of its file, of a process that says so
	Pours          int     // of a gateway
}

// middle returns the median of processor time, and the least of what others can only add to.
func middle(runs []spent) spent {
	slices.SortFunc(runs, func(a, b spent) int { return cmp.Compare(a.CPU, b.CPU) })
	out := runs[len(runs)/2]
	for _, s := range runs {
		out.Peak, out.Mallocs, out.Bytes = min(out.Peak, s.Peak), min(out.Mallocs, s.Mallocs), min(out.Bytes, s.Bytes)
		out.Database, out.Pours = min(out.Database, s.Database), min(out.Pours, s.Pours)
	}
	return out
}

// A process is one that is measured.
type process struct {
	program, role string // the role: of this program
	home          string
	args          []string
	input         string

	// serve talks with a process that serves at an address until its input ends. Nil: it ends by itself.
	serve func(address string) error
}

// run runs a process to its end. It returns what that has taken and printed.
func (m *machine) run(p process) (s spent, printed []byte, err error) {
	c := exec.Command(p.program, p.args...)
	c.Env = []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + m.dir, "GOMAXPROCS=1", roleVariable + "=" + p.role}
	var out, log bytes.Buffer
	c.Stderr = &log
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s %s: %w: %.500s", filepath.Base(p.program), strings.Join(p.args, " "), err, log.String())
		}
	}()
	if p.serve == nil {
		c.Stdin, c.Stdout = strings.NewReader(p.input), &out
		err = c.Run()
	} else {
		err = serve(c, &out, p.serve)
	}
	if err != nil {
		return s, nil, err
	}
	if p.program == m.inside {
		if err := json.Unmarshal(out.Bytes(), &s); err != nil {
			return s, nil, fmt.Errorf("what it says of itself: %w: %.200q", err, out.Bytes())
		}
	}
	used := c.ProcessState.SysUsage().(*syscall.Rusage)
	s.CPU, s.Peak = c.ProcessState.UserTime()+c.ProcessState.SystemTime(), used.Maxrss<<10
	s.Pours = strings.Count(log.String(), " pour=")
	return s, out.Bytes(), nil
}

// serve calls do when a process has printed its address, ends its input, and keeps what it prints then.
func serve(c *exec.Cmd, out io.Writer, do func(address string) error) error {
	input, err := c.StdinPipe()
	if err != nil {
		return err
	}
	output, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	var address string
	if _, err = fmt.Fscanln(output, &address); err == nil {
		err = do(address)
	}
	input.Close()
	_, copied := io.Copy(out, output)
	return errors.Join(err, copied, c.Wait())
}

// Long processes are run a few times, short ones more.
const (
	leastRuns, mostRuns = 5, 15
	enough              = 1500 * time.Millisecond // of processor time, for all runs of one process
)

// again reports whether what has run a number of times, and taken some time, should run again.
func again(runs int, taken time.Duration) bool {
	return runs < leastRuns || runs < mostRuns && taken < enough
}

// inTurn runs processes in turn, several times.
func (m *machine) inTurn(processes map[string]func() process) (map[string]spent, error) {
	all, taken := map[string][]spent{}, map[string]time.Duration{}
	for range mostRuns {
		for name, p := range processes {
			if !again(len(all[name]), taken[name]) {
				continue
			}
			s, _, err := m.run(p())
			if err != nil {
				return nil, err
			}
			all[name], taken[name] = append(all[name], s), taken[name]+s.CPU
		}
	}
	out := map[string]spent{}
	for name, runs := range all {
		out[name] = middle(runs)
	}
	return out, nil
}
