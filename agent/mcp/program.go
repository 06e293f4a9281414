package mcp

import (
	"context"
	"io"
	"os/exec"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/decantdev/decant/internal/rpcline"
)

// endWithin is how long a server may take to end when its input does, and again after it was asked to.
const endWithin = 2 * time.Second

// A program is a transport to a server that this program starts. Lines that are not messages, which servers print by
// mistake, count as something that it said.
type program struct {
	cmd   *exec.Cmd
	said  io.Writer
	stdin io.WriteCloser
}

// Connect implements sdk.Transport.
func (p *program) Connect(ctx context.Context) (sdk.Connection, error) {
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := rpcline.NewReader(stdout)
	lines.Bad = func(line []byte, _ error) { _, _ = p.said.Write(append(line, '\n')) }
	return (&sdk.IOTransport{Reader: io.NopCloser(lines), Writer: p}).Connect(ctx)
}

// Write implements io.Writer.
func (p *program) Write(b []byte) (int, error) { return p.stdin.Write(b) }

// Close ends the program: it ends its input, asks it to end, and kills it.
func (p *program) Close() error {
	err := p.stdin.Close()
	for at, end := range []func(){
		func() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }, // where that is impossible it is killed later
		func() { _ = p.cmd.Process.Kill() },                  // or it has ended
	} {
		defer time.AfterFunc(time.Duration(at+1)*endWithin, end).Stop()
	}
	if ended := p.cmd.Wait(); ended != nil {
		return ended
	}
	return err
}
