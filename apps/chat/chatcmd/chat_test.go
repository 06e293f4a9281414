package chatcmd

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/decantdev/decant/internal/process"
)

// Input that does not come in time is not waited for, and that is said: who pipes in what a slow command prints must know.
func TestInputThatDoesNotComeIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, late := io.Pipe()
		var messages bytes.Buffer
		text, err := new(Command).piped(&process.Process{In: in, Err: &messages}, true)
		if text != "" || err != nil || !strings.Contains(messages.String(), "no input on stdin") {
			t.Errorf("%q, %v, said is %q", text, err, messages.String())
		}
		late.Close()
	})
}
