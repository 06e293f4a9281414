// Package walkthrough goes with an agent through what agents are for, against a model that knows nothing but what it is sent.
package walkthrough

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
)

// asReader is the variable that makes this program a model.
const asReader = "DECANT_TEST_READER"

func TestMain(m *testing.M) {
	if os.Getenv(asReader) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test closes it, or is gone
		cancel()
	}()
	told := func(a net.Addr) { fmt.Println(a) }
	if err := sandbox.ListenAndServe(ctx, "127.0.0.1:0", sandbox.Options{Model: sandbox.Reader{}}, told); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// newReader returns a client of a Reader in a process of its own. That process has an empty folder, no value of the test, and nothing
// but what it is sent.
func newReader(t *testing.T) provider.Speaker {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Dir, cmd.Env = t.TempDir(), []string{asReader + "=1"}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // the context of the test may have ended it
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the model does not say where it listens: %v", err)
	}
	c, err := anthropic.New(anthropic.Options{Base: "http://" + strings.TrimSpace(addr), Credential: provider.Key("x-api-key", "test")})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
