//go:build unix

package killtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/decantdev/decant/store"
)

// The environment of a process that is there to be killed.
const (
	folderVariable = "DECANT_TEST_VICTIM" // folder of its files; empty: this is no such process
	pointVariable  = "DECANT_TEST_POINT"  // which of the points that it comes by is its last; 0: none is
)

// A Victim is a process that kills itself at one of the points that it comes by: before and after each step is written, and
// before and after each effect.
type Victim struct {
	Folder  string // of its files
	Journal store.Journals
	last    int64
	at      atomic.Int64
}

// point kills the process if it is time.
func (v *Victim) point() {
	if v.at.Add(1) == v.last {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal has come
	}
}

// Points returns how many points the process has come by.
func (v *Victim) Points() int64 { return v.at.Load() }

// Journals returns what writes steps to the victim's Journal.
func (v *Victim) Journals() store.Journals { return steps{v.Journal, v} }

// steps are journals with a point before and after what they write.
type steps struct {
	journals
	v *Victim
}

// journals are a store's, under a name that leaves room for their method of the same name.
type journals interface{ store.Journals }

// AddSteps writes steps.
func (s steps) AddSteps(ctx context.Context, a *store.Addition) error {
	s.v.point()
	defer s.v.point()
	return s.journals.AddSteps(ctx, a)
}

// Do has the effect of a tool, which is a line with the id of its call in a file, and returns what the tool says.
func (v *Victim) Do(tool, id string) (string, error) {
	v.point()
	defer v.point()
	f, err := os.OpenFile(filepath.Join(v.Folder, tool), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, id)
		err = errors.Join(err, f.Close())
	}
	return "did " + id, err
}

// Main does the work of a victim and ends the process, if it is one. A test calls it before anything else, such as in init.
func Main(work func(context.Context, *Victim) error) {
	folder := os.Getenv(folderVariable)
	if folder == "" {
		return
	}
	last, err := strconv.ParseInt(os.Getenv(pointVariable), 10, 64)
	if err == nil {
		err = work(context.Background(), &Victim{Folder: folder, last: last})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Spawn runs a victim that dies at a point, or at none where that is 0, and reports whether it was killed.
func Spawn(t *testing.T, folder string, point int) (killed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), folderVariable+"="+folder, pointVariable+"="+strconv.Itoa(point))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("killed at point %d: %v\n%s", point, err, out)
	}
	return false
}

// Done returns how often tools had the effects of calls, by the ids of these.
func Done(t *testing.T, folder string, tools ...string) map[string]int {
	t.Helper()
	done := map[string]int{}
	for _, tool := range tools {
		data, err := os.ReadFile(filepath.Join(folder, tool))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, id := range strings.Fields(string(data)) {
			done[id]++
		}
	}
	return done
}

// Judge compares what the model was told of a call with how many times it was made. It reports whether it is unknown what came
// of it, which may be so only of a call that must not be made twice.
func Judge(t *testing.T, id, told string, times int, twice bool) (unknown bool) {
	t.Helper()
	did := told == "did "+id
	switch {
	case !twice && times > 1:
		t.Errorf("%s was made %d times", id, times)
	case did && times == 0 || !did && twice:
		t.Errorf("%s was made %d times, and the model is told %q", id, times, told)
	case !did && !strings.Contains(told, "It is not known whether"):
		t.Errorf("the model is told of %s: %q", id, told)
	}
	return !did
}
