package agent

import (
	stdjson "encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// The request that was poured ends with the reminder, and no other one has a new one.
func TestTheModelIsRemindedAfterAPour(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if len(sandboxtest.Results(p)) > 0 {
			return says(text("Read."))
		}
		return says(use(fmt.Sprintf("toolu_%d", len(p.Messages)), "read", `{}`))
	}))
	n := 0
	o := Options{Tools: []Tool{readsMuch(40_000)}, Preset: narrow(t), Journals: w.db.Store(), Remind: func(ms []stdjson.RawMessage) string {
		n++
		return fmt.Sprintf("REMINDER %d of %d messages.", n, len(ms))
	}}
	s := w.agent(o).Session("one")
	pours := 0
	for i := range 24 {
		all, o, err := finished(t, s.Run(t.Context(), fmt.Sprintf("Read file %d.", i)))
		if err != nil || o.Stop != StopAnswered {
			t.Fatalf("turn %d: %+v, %v", i, o, err)
		}
		pours += count(all, EventPour)
	}
	if pours < 2 || n != pours {
		t.Fatalf("%d pours, %d reminders", pours, n)
	}
	seen := 0
	for _, e := range w.server.Log.Entries() {
		ms := received(t, e.Body)
		want := fmt.Sprintf("REMINDER %d", seen+1)
		switch in := strings.Contains(string(e.Body), want); {
		case in && !strings.Contains(ms[len(ms)-1], want):
			t.Errorf("%s does not stand at the end", want)
		case in:
			seen++
		}
		if seen > 0 && !strings.Contains(string(e.Body), fmt.Sprintf("REMINDER %d", seen)) {
			t.Errorf("request %d lacks reminder %d", e.Number, seen)
		}
	}
	if seen != n {
		t.Errorf("%d of %d reminders were sent", seen, n)
	}
	w.legal()
}

// narrow is a preset with a window that is soon full.
func narrow(t *testing.T) *preset.Preset {
	t.Helper()
	p, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	p.Trigger.Window = 80_000
	return p
}
