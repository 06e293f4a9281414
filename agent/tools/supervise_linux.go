//go:build linux && (amd64 || arm64)

package tools

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// supervise runs a command by the plan that the pipe at 3 begins with, and when it has ended, or the pipe is closed, kills all that it has
// started: whoever loses its parent becomes a child of the supervisor, also in a session of its own. It returns the exit status.
func supervise(args []string) int {
	syscall.CloseOnExec(3)
	alive := bufio.NewReader(os.NewFile(3, "alive"))
	cmd, err := confined(args, alive)
	if err != nil {
		fmt.Fprintln(os.Stderr, "decant: the command was not run:", err)
		return 126
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	gone := make(chan struct{})
	go func() {
		alive.ReadByte()
		close(gone)
	}()
	select {
	case err := <-ended:
		killChildren()
		return status(err)
	case <-gone:
		_ = cmd.Process.Kill()
		<-ended
		killChildren()
		return 128 + int(syscall.SIGKILL)
	}
}

// confined starts a command in a process that makes a plan hold for itself. What is only watched over needs no such process.
func confined(args []string, from *bufio.Reader) (*exec.Cmd, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	order, err := from.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var p plan
	if err := json.Unmarshal(order, &p); err != nil {
		return nil, err
	}
	if p.Free {
		cmd := &exec.Cmd{Path: args[0], Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
		return cmd, cmd.Start()
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: append([]string{asConfined}, args...), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, ExtraFiles: []*os.File{r}}
	err = cmd.Start()
	r.Close()
	if err == nil {
		_, err = w.Write(order)
	}
	return cmd, err
}

// status returns the exit status that a shell would give.
func status(err error) int {
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0
	case !ok:
		return 126
	}
	if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal())
	}
	return exit.ExitCode()
}

// killChildren kills children until there are none: those of one that dies become children of this process. It gives up after a
// while, when they come faster than they go.
func killChildren() {
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until); {
		for _, pid := range children() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if err == syscall.ECHILD {
				return
			}
			if pid <= 0 {
				break
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// children returns the processes whose parent this one is.
func children() (out []int) {
	for pid, parent := range parents() {
		if parent == os.Getpid() {
			out = append(out, pid)
		}
	}
	return out
}
