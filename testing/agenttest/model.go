package agenttest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// ErrScript means that a script does not fit what the model was asked. The test has failed by then.
var ErrScript = errors.New("agenttest: the script does not fit")

// A Model is a provider.Speaker that plays a script. It is safe for concurrent use; turns are then played in the order in which
// requests come.
type Model struct {
	t       testing.TB
	catalog *token.Catalog
	script  []Turn

	mu       sync.Mutex
	played   int
	requests []*Request
}

var _ provider.Speaker = (*Model)(nil)

// New returns a model that plays a script once. At its end the test fails if there are turns that were not played.
func New(t testing.TB, script ...Turn) *Model {
	t.Helper()
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{t: t, catalog: catalog, script: slices.Clone(script)}
	t.Cleanup(m.end)
	return m
}

// Engine returns an engine on a database that lasts as long as the test.
func Engine(t testing.TB) *engine.Engine {
	t.Helper()
	db, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "agent.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db.Engine()
}

// Requests returns what the model was asked, oldest first.
func (m *Model) Requests() []*Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Speak implements provider.Speaker: it plays the next turn.
func (m *Model) Speak(ctx context.Context, t *provider.Turn, heard func(provider.Delta)) (*provider.Answer, error) {
	m.t.Helper()
	r, bad := m.read(t.Body)
	turn, n := m.next(r)
	if turn == nil {
		return nil, m.fail("the model is asked once more than the script has turns, which is %d. It is asked:\n%s", n, indented("+ ", r.New()))
	}
	if bad != nil {
		return nil, m.fail("turn %d: the API refuses the request: %v\nIt says:\n%s", n, bad, indented("  ", r.String()))
	}
	if err := turn.fits(r); err != nil {
		return nil, m.fail("turn %d: %v", n, err)
	}
	if err := wait(ctx, turn.Delay); err != nil {
		return nil, err
	}
	return turn.play(n, r, heard)
}

// next returns the next turn and its number, or no turn and how many there are.
func (m *Model) next(r *Request) (*Turn, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r)
	if m.played == len(m.script) {
		return nil, m.played
	}
	m.played++
	return &m.script[m.played-1], m.played
}

// fail fails the test, and returns the error that ends the run.
func (m *Model) fail(format string, args ...any) error {
	m.t.Helper()
	text := fmt.Sprintf(format, args...)
	m.t.Errorf("agenttest: %s", text)
	first, _, _ := strings.Cut(text, "\n")
	return fmt.Errorf("%w: %s", ErrScript, first)
}

// end fails the test if turns were not played.
func (m *Model) end() {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.played == len(m.script) {
		return
	}
	left := ""
	for i := m.played; i < len(m.script); i++ {
		left += fmt.Sprintf("- turn %d:\n%s", i+1, indented("    ", m.script[i].String()))
	}
	m.t.Errorf("agenttest: %d of %d turns were played. These were not:\n%s", m.played, len(m.script), left)
}

// fits says how a request differs from what the turn wants, or why the turn cannot be the answer to it.
func (t *Turn) fits(r *Request) error {
	if got := r.New(); t.Want != "" && strings.TrimSpace(t.Want) != got {
		return fmt.Errorf("the model is asked something else:\n%s", udiff.Unified("wanted", "asked", strings.TrimSpace(t.Want)+"\n", got+"\n"))
	}
	if len(t.Calls) > 0 && r.Choice == "none" {
		return errors.New("it calls a tool, and the request has them switched off: this is the final answer")
	}
	if t.Check == nil {
		return nil
	}
	if err := t.Check(r); err != nil {
		return fmt.Errorf("%w\nThe request says:\n%s", err, indented("  ", r.String()))
	}
	return nil
}

// wait waits, unless the context ends.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// indented returns a text with something before each of its lines.
func indented(before, text string) (out string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		out += before + line
	}
	return out
}
