package code

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/decantdev/decant/internal/git"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// mostOutput is how many bytes one git command may print, where what it prints is held.
const mostOutput = 64 << 20

// A gitDir is a folder with a repository in which git is run to read.
type gitDir struct{ dir string }

// command returns a git command. Who calls it makes sure that no argument from outside is taken for an option.
func (g gitDir) command(ctx context.Context, args ...string) *exec.Cmd {
	return git.Command(ctx, g.dir, append([]string{"--literal-pathspecs"}, args...)...)
}

// output runs a git command and returns what it prints.
func (g gitDir) output(ctx context.Context, args ...string) ([]byte, error) {
	c := g.command(ctx, args...)
	var out, errs bounded
	out.most, errs.most = mostOutput, 4<<10
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return nil, gitError(ctx, args[0], err, errs.String())
	}
	if out.over {
		return nil, fmt.Errorf("git %s printed more than %d bytes", args[0], mostOutput)
	}
	return out.Bytes(), nil
}

// A gitFailure is a git command that has failed.
type gitFailure struct {
	code int
	text string
}

func (e *gitFailure) Error() string { return e.text }

// gitError returns why a git command has failed.
func gitError(ctx context.Context, name string, err error, said string) error {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("git %s: %w", name, ctx.Err())
	case errors.As(err, &exit):
		said, _, _ = strings.Cut(strings.TrimSpace(said), "\n")
		return &gitFailure{code: exit.ExitCode(), text: fmt.Sprintf("git %s: %s", name, said)}
	}
	return fmt.Errorf("git %s: %w", name, err)
}

// exited reports whether an error is that of a git command with an exit status.
func exited(err error, code int) bool {
	var f *gitFailure
	return errors.As(err, &f) && f.code == code
}

// A bounded holds the first bytes that are written to it.
type bounded struct {
	bytes.Buffer
	most int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.most-b.Len())
	b.Buffer.Write(p[:n])
	b.over = b.over || n < len(p)
	return len(p), nil
}

// ReadFrom keeps what is copied within the limit: that of bytes.Buffer would not.
func (b *bounded) ReadFrom(from io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, from)
}

// fullSHA matches the name of a commit that may stand among the arguments of git.
var fullSHA = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// checkSHA returns an error for what is no full SHA.
func checkSHA(sha string) error {
	if !fullSHA.MatchString(sha) {
		return fmt.Errorf("%q is not the full SHA of a commit", sha)
	}
	return nil
}
