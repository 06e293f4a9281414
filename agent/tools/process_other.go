//go:build !unix

package tools

import (
	"fmt"
	"os/exec"
	"sync"
)

// A process is a command that runs.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	err  error         // of Wait, once done is closed
	once sync.Once
}

// start starts a command.
func start(cmd *exec.Cmd, _ []byte) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.err = cmd.Wait(); close(p.done) }()
	return p, nil
}

// end kills a process and waits for it. What it has started cannot be found here.
func (p *process) end() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
}

// how says how a process has ended; empty: well.
func (p *process) how() string {
	if p.err == nil {
		return ""
	}
	return fmt.Sprint(p.err)
}
