package engine_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
)

// answers finishes the newest request with an answer of the provider's.
func (k *dialogue) answers(content, stop string, usage, extra decant.Usage) {
	k.engine.Finish(k.last, engine.Response{Status: http.StatusOK, Content: []byte(content), Stop: stop, Usage: usage, Extra: extra})
	k.ms = append(k.ms, `{"role":"assistant","content":`+content+`}`)
}

const compacting = `"context_management":{"edits":[{"type":"compact_20260112"}]},`

// What stands before the newest summary of the provider takes no room: the request is metered by what is left, also
// where the answer held nothing but the summary, and after a restart. Nothing is dropped from what is sent or stored.
func TestMeterBehindACompaction(t *testing.T) {
	const summary = `{"type":"compaction","content":"The work is half done in /srv/app/main.go."}`
	for _, tt := range []struct {
		name, answer, stop string
		usage              decant.Usage
	}{
		{"with an answer", `[` + summary + `,{"type":"text","text":"On it goes."}]`, "end_turn", decant.Usage{Input: 60, Output: 20}},
		{"alone", `[` + summary + `]`, "compaction", decant.Usage{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newDialogue(t, engine.Options{Window: 200_000, ArchiveDelay: -1})
			k.model, k.extra = "claude-opus-4-6", compacting
			k.user("Do the work. " + strings.Repeat("It is long and hard. ", 4_000))
			k.prepare()
			k.answers(`[{"type":"text","text":"Begun."}]`, "end_turn", decant.Usage{Input: 20_100, Output: 5}, decant.Usage{})
			k.user("Go on.")
			if p := k.prepare(); p.Report.Before < 20_000 {
				t.Fatalf("%d tokens before the compaction", p.Report.Before)
			}
			k.answers(tt.answer, tt.stop, tt.usage, decant.Usage{Input: 20_200, Output: 30})
			k.user("Go on.")
			if got := k.prepare().Report.Before; got < 40 || got > 400 {
				t.Errorf("%d tokens behind the compaction", got)
			}
			if !slices.Equal(k.last.Body, k.body()) {
				t.Error("the request is not sent as it came")
			}
			k.start(engine.Options{Window: 200_000, ArchiveDelay: -1})
			if got := k.prepare().Report.Before; got < 40 || got > 400 {
				t.Errorf("%d tokens behind the compaction after a restart", got)
			}
		})
	}
}

// An answer is booked with all passes that are billed for it, and so is one that is nothing but a summary.
func TestPassesAreBooked(t *testing.T) {
	k := newDialogue(t, engine.Options{ArchiveDelay: -1})
	k.model, k.extra = "claude-opus-4-6", compacting
	booked := func() (total decant.Usage, cost, bare store.Money) {
		k.engine.Close()
		totals, err := k.store.Spending(t.Context(), store.SpendQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range totals {
			total, cost, bare = total.Add(s.Usage), cost+s.Cost, bare+s.Bare
		}
		return total, cost, bare
	}
	k.user("Do the work.")
	k.prepare()
	k.answers(`[{"type":"compaction","content":"x"},{"type":"text","text":"y"}]`, "end_turn", decant.Usage{Input: 1000, Output: 100}, decant.Usage{Input: 4000, Output: 400})
	u, cost, bare := booked()
	if u != (decant.Usage{Input: 5000, Output: 500}) || cost != bare || cost != 5000*5000+500*25_000 { // 5 and 25 dollars a million
		t.Errorf("booked: %+v, %d and %d", u, cost, bare)
	}
	k.user("Go on.")
	k.prepare()
	k.answers(`[{"type":"compaction","content":"x"}]`, "compaction", decant.Usage{}, decant.Usage{Input: 2000, Output: 200})
	if u, _, _ := booked(); u != (decant.Usage{Input: 7000, Output: 700}) {
		t.Errorf("booked with one that is only a summary: %+v", u)
	}
}

// A pour behind a summary of the provider's covers what that stands for, too, and its record is made of the originals:
// nothing that the provider ignored until then comes back. Where it needs no checkpoint, the summary stays.
func TestPourBehindACompaction(t *testing.T) {
	for _, same := range []bool{true, false} {
		k := newDialogue(t, engine.Options{ArchiveDelay: -1})
		k.model, k.extra = "claude-opus-4-6", compacting
		k.user("Do the work. The password of the vault is in /etc/vault.conf.")
		for n := range 12 {
			k.round(n, strings.Repeat(fmt.Sprintf("Line %d of the first part.\n", n), 100))
		}
		k.ms = append(k.ms, `{"role":"assistant","content":[{"type":"compaction","content":"Half of it is done."},{"type":"text","text":"On it goes."}]}`)
		k.user("Go on.")
		if p := k.prepare(); p.Report.Reason != "" || p.Report.Before > 5_000 {
			t.Fatalf("poured (%s) at %d tokens", p.Report.Reason, p.Report.Before)
		}
		for n := range 15 {
			number := n
			if same {
				number = 0
			}
			k.round(100+n, strings.Repeat(fmt.Sprintf("Line %d of the second part.\n", number), 100))
		}
		p := k.prepare()
		if p.Fault != nil || p.Report.Reason == "" || p.Report.After > p.Report.Before/2 {
			t.Fatalf("%d tokens became %d: %v", p.Report.Before, p.Report.After, p.Fault)
		}
		body, cp := string(p.Body), decant.CheckpointIn(k.state().Decisions)
		if stays := strings.Contains(body, `"type":"compaction"`); stays != same || same != (cp == nil) {
			t.Errorf("the same lines: %t; the summary stays: %t; checkpoint %+v", same, stays, cp)
		}
		if !same && (p.Report.After > dialogueWindow*5/6 || cp.From > 2 || cp.To < 26 || !strings.Contains(body, "/etc/vault.conf")) {
			t.Errorf("what was ignored comes back, or is lost:\n%.1000s", body)
		}
	}
}
