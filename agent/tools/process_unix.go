//go:build unix

package tools

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A process is a command that runs, in a session and a process group of its own.
type process struct {
	cmd   *exec.Cmd
	alive *os.File      // the supervisor's pipe; nil: there is no supervisor
	done  chan struct{} // closed when the process has ended
	err   error         // of Wait, once done is closed
	once  sync.Once
}

// start starts a command. A supervisor reads its order from a pipe, as others could see its arguments, and ends when the pipe is closed.
func start(cmd *exec.Cmd, order []byte) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if order != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		cmd.ExtraFiles, p.alive = []*os.File{r}, w
	}
	err := cmd.Start()
	for _, r := range cmd.ExtraFiles {
		r.Close()
	}
	if err != nil {
		if p.alive != nil {
			p.alive.Close()
		}
		return nil, err
	}
	if p.alive != nil {
		_, _ = p.alive.Write(append(order, '\n')) // it ends with an error where it gets none
	}
	go func() { p.err = cmd.Wait(); close(p.done) }()
	return p, nil
}

// end kills what is left of a process and of all that it has started, and waits for it.
func (p *process) end() {
	p.once.Do(func() {
		if p.alive != nil {
			p.alive.Close()
			select {
			case <-p.done:
			case <-time.After(2 * time.Second):
			}
		}
		// The group has the process's id as long as anybody is in it, and nobody else gets that id meanwhile.
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
	})
}

// how says how a process has ended; empty: well.
func (p *process) how() string {
	exit, ok := errors.AsType[*exec.ExitError](p.err)
	switch {
	case p.err == nil:
		return ""
	case !ok:
		return p.err.Error()
	}
	if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return "the command was killed: " + s.Signal().String()
	}
	return fmt.Sprintf("exit status %d", exit.ExitCode())
}
