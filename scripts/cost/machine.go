package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

func newMachine() (*machine, error) {
	dir, err := os.MkdirTemp("", "decant-cost")
	if err != nil {
		return nil, err
	}
	m := &machine{dir: dir, decant: filepath.Join(dir, "decant"), inside: filepath.Join(dir, "inside")}
	if m.self, err = os.Executable(); err != nil {
		return m, err
	}
	for file, pkg := range map[string]string{m.decant: "./cmd/decant", m.inside: "./scripts/cost/inside"} {
		c := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, pkg)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return m, fmt.Errorf("build %s: %w: %s", pkg, err, out)
		}
	}
	return m, nil
}

func (m *machine) close() { os.RemoveAll(m.dir) }

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

// least keeps what is less of each.
func (s *spent) least(o spent) {
	if s.CPU == 0 {
		*s = o
		return
	}
	s.CPU, s.Peak = min(s.CPU, o.CPU), min(s.Peak, o.Peak)
	s.Mallocs, s.Bytes = min(s.Mallocs, o.Mallocs), min(s.Bytes, o.Bytes)
	s.Database, s.Pours = min(s.Database, o.Database), min(s.Pours, o.Pours)
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

// serve calls do with the address that a process prints first, ends its input, and keeps what it prints then.
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

// runs is how often everything is measured.
const runs = 5

// inTurn runs processes in turn, several times, and returns the least of each.
func (m *machine) inTurn(processes map[string]func() process) (map[string]spent, error) {
	least := map[string]spent{}
	for range runs {
		for name, p := range processes {
			s, _, err := m.run(p())
			if err != nil {
				return nil, err
			}
			l := least[name]
			l.least(s)
			least[name] = l
		}
	}
	return least, nil
}
