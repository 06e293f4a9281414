package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// Long chats that are compacted and pruned as they grow.

// A session that grows beyond its window is compacted before, goes on, and the checkpoint is stored.
func TestLongSessionTriggersCompaction(t *testing.T) {
	p := *policyOf(t, "chat")
	p.Trigger.Window, p.Trigger.Reserve = dialogueWindow, dialogueWindow/10
	k := newDialogue(t, engine.Options{Preset: &p})
	compacted := 0
	for n := 1; n <= testkit.Depth(10, 30); n++ {
		k.user(fmt.Sprintf("Question %d: which orders are open?", n))
		k.round(n, output(fmt.Sprintf("call_%d", n), 80))
		k.mustSend()
		if r := k.last.Report; r.Reason == policy.Necessary {
			compacted++
			if r.Before <= dialogueWindow*9/10 {
				t.Errorf("request %d was compacted at %d tokens", n, r.Before)
			}
		}
		k.says(output(fmt.Sprintf("answer_%d", n), 60)) // words of the model are never pruned
	}
	if compacted == 0 {
		t.Fatal("never compacted")
	}
	if cp := decant.CheckpointIn(k.state().Decisions); cp == nil || cp.Summary == "" {
		t.Errorf("the store has the checkpoint %+v", cp)
	}
}

// A follower answers the newest question with the line of its prompt that has the name asked for.
type follower struct{}

func (follower) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	last := p.Messages[len(p.Messages)-1]
	question := last.Blocks[len(last.Blocks)-1].Text
	_, name, asks := strings.Cut(question, "What is the state of ")
	answer := "Go on."
	for _, m := range p.Messages[:len(p.Messages)-1] {
		for _, b := range m.Blocks {
			for line := range strings.Lines(b.Text) {
				if asks && strings.HasPrefix(line, strings.TrimSuffix(name, "?")+" is ") {
					answer = strings.TrimSpace(line)
				}
			}
		}
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: answer}}}, nil
}

// What stands at either end of results that were trimmed is still there to be asked for.
func TestPrunedSessionStillProducesCoherentResponses(t *testing.T) {
	k := newDialogue(t, engine.Options{Preset: everyRequest(t), Window: 200_000})
	k.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: follower{}})
	k.user("Look at the orders.")
	for n := 1; n <= 9; n++ {
		filler := strings.Repeat("nothing of interest here\n", 300)
		k.round(n, fmt.Sprintf("order-%d-first is paid\n%sorder-%d-last is late", n, filler, n))
		k.mustSend()
	}
	k.says("Seen.")
	for n := 1; n <= 9; n++ {
		for end, state := range map[string]string{"first": "paid", "last": "late"} {
			k.user(fmt.Sprintf("What is the state of order-%d-%s?", n, end))
			_, answer := k.send()
			if want := fmt.Sprintf("order-%d-%s is %s", n, end, state); !strings.Contains(answer, want) {
				t.Errorf("want %q, got %.200s", want, answer)
			}
			k.ms = k.ms[:len(k.ms)-1]
		}
	}
	if sent, said := len(k.last.Body), len(k.body()); sent > said*3/4 {
		t.Errorf("%d of %d bytes were sent: nothing was trimmed", sent, said)
	}
}
