package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/decantdev/decant/internal/exit"
)

// A gateway that is stuck ends after a signal all the same. Here nobody reads its log, and the pipe is full: the
// first line that it wants to write holds it up for ever.
func TestStopsWhateverItIsDoing(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	cmd := exec.Command("decant", "serve", "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "DECANT_DRAIN=0s", "DECANT_DB="+filepath.Join(t.TempDir(), "d.db"))
	cmd.Stderr = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if line, err := bufio.NewReaderSize(r, 4096).ReadString('\n'); err != nil || !strings.Contains(line, "msg=serving") {
		t.Fatalf("%q, %v", line, err)
	}
	stuff(t, w)
	cmd.Process.Signal(syscall.SIGTERM)
	var failed *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &failed) || failed.ExitCode() != exit.Failed {
		t.Errorf("ended with %v, want exit code %d of its own", err, exit.Failed)
	}
}

// stuff writes to a pipe until it takes no more.
func stuff(t *testing.T, w *os.File) {
	t.Helper()
	// Not through w: whether it waits is the other process's business, too.
	own, err := syscall.Open(fmt.Sprintf("/proc/self/fd/%d", w.Fd()), syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(own)
	for size := 4096; size > 0; size /= 2 {
		for n := size; n == size && err == nil; {
			n, err = syscall.Write(own, make([]byte, size))
		}
		err = nil
	}
}
