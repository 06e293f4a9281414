package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
)

// How a request stands to what is known (docs/INTERNALS.md, "Whose conversation a request is").
func TestRelations(t *testing.T) {
	start := func(t *testing.T) *dialogue {
		k := newDialogue(t, engine.Options{})
		k.user("Do the work.")
		for n := 1; n <= 3; n++ {
			k.round(n, fmt.Sprintf("result %d", n))
		}
		k.mustSend()
		k.engine.Close()
		return k
	}
	for _, c := range []struct {
		name, want string
		same       bool // conversation
		change     func(k *dialogue)
	}{
		{"IdenticalRequest", "continues", true, func(k *dialogue) {}},
		{"OneRoundMore", "continues", true, func(k *dialogue) { k.round(4, "result 4") }},
		{"OtherSpacingAndEscapes", "continues", true, func(k *dialogue) {
			k.ms[2] = strings.NewReplacer(`"content":[{"type":"text","text":"result 1"}]`, `"content" : "\u0072esult 1"`, `{"type"`, `{ "type"`).Replace(k.ms[2])
		}},
		{"NeighboursMerged", "continues", true, func(k *dialogue) {
			k.ms[6] = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_3","content":"result 3"}]},{"role":"user","content":[{"type":"text","text":"And now?"}]}`
		}},
		{"EditedTail", "forks", false, func(k *dialogue) { k.ms[6] = strings.Replace(k.ms[6], "result 3", "another result", 1) }},
		{"WentBack", "returns", true, func(k *dialogue) { k.ms = k.ms[:3] }},
		{"WentBackAndOn", "forks", false, func(k *dialogue) { k.ms = k.ms[:3]; k.round(9, "another way") }},
		{"EditedHistory", "forks", false, func(k *dialogue) { k.ms[2] = strings.Replace(k.ms[2], "result 1", "other", 1) }},
		{"FrontTruncated", "amends", true, func(k *dialogue) {
			k.ms = append(k.ms[:0:0], k.ms[3:]...)
			k.ms[0] = `{"role":"user","content":"Do the work."},` + k.ms[0]
			k.round(4, "result 4")
		}},
		{"FirstMessageGone", "amends", true, func(k *dialogue) { k.ms = k.ms[1:]; k.round(4, "result 4") }},
		{"AnotherConversation", "begins", false, func(k *dialogue) { k.ms = nil; k.user("Something else.") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := start(t)
			id := k.last.Conversation
			c.change(k)
			p := k.prepare()
			if p.Report.Relation != c.want || (p.Conversation == id) != c.same || p.Fault != nil {
				t.Errorf("the request %s (fault %v), conversation the same: %t; want %s, %t", p.Report.Relation, p.Fault, p.Conversation == id, c.want, c.same)
			}
		})
	}
}

// A client that keeps only the newest messages sends another beginning each time. It stays one
// conversation, and what was decided about a block stays decided.
func TestFrontTruncatingClient(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.user("Do the work.")
	for n := 1; n <= 12; n++ {
		k.round(n, strings.Repeat(fmt.Sprintf("\x1b[32mok %d\x1b[0m\n", n), 50))
		if len(k.ms) > 7 {
			k.ms = append(k.ms[:0:0], k.ms[len(k.ms)-6:]...)
			k.ms[0] = `{"role":"user","content":"Go on."},` + k.ms[0]
		}
		k.mustSend()
		if strings.Contains(string(k.last.Body), `\u001b`) {
			t.Fatalf("after %d rounds an old result came back as it was", n)
		}
	}
	k.engine.Close()
	cs, err := k.store.(store.Directory).Conversations(t.Context(), store.Filter{})
	if err != nil || len(cs) > 2 {
		t.Errorf("%d conversations, %v; want one or two", len(cs), err)
	}
}

// A client that cuts its messages anew counts them differently. What was decided about a block is not
// done to another one that has its place now.
func TestMessagesCutAnew(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.user("Do the work.")
	k.round(1, "result 1")
	k.ms[2] = strings.Replace(k.ms[2], `]}]}`, `]},{"type":"text","text":"And now?"}]}`, 1)
	k.round(2, strings.Repeat("\x1b[32mok\x1b[0m\n", 50))
	k.mustSend()
	if len(k.state().Decisions) == 0 {
		t.Fatal("nothing was decided about")
	}
	k.ms[2] = strings.Replace(k.ms[2], `,{"type":"text","text":"And now?"}]}`, `]},{"role":"user","content":[{"type":"text","text":"And now?"}]}`, 1)
	k.round(3, "result 3")
	body := k.body()
	p := k.prepare()
	want := blocksOf(t, body)
	for i, b := range blocksOf(t, p.Body) {
		if b != want[i] && !strings.HasPrefix(b, "user result call_2 ") {
			t.Errorf("block %d is %.200s, the client sent %.200s", i, b, want[i])
		}
	}
}

// While the database is busy requests pass as they are and are not archived, so what a branch has sent may be all that is
// stored of a line. The line itself is told by its calls from the same one without a text: no two answers have the same
// ids. In either case what was stored of the branch can be read as it was.
func TestALineOfWhichOnlyABranchIsStored(t *testing.T) {
	for _, c := range []struct {
		name, want string
		calls      int // the number of the branch's first call
		same       bool
	}{
		{"ABranch", "forks", 11, false},
		{"ATextThatIsTakenBack", "amends", 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newDialogue(t, engine.Options{})
			k.user("Do the work.")
			k.mustSend()
			k.engine.Close()
			k.ms[0] = strings.Replace(k.ms[0], "]}", `,{"type":"text","text":"Do it another way."}]}`, 1)
			k.round(c.calls, "result")
			k.round(c.calls+1, "result")
			k.mustSend()
			branch := k.state()

			k.ms = nil
			k.user("Do the work.")
			for n := 1; n <= 3; n++ {
				k.round(n, "result")
			}
			k.mustSend()
			if p := k.last; p.Report.Relation != c.want || (p.Conversation == branch.ID) != c.same {
				t.Errorf("the line %s, conversation the same: %t; want %s, %t", p.Report.Relation, p.Conversation == branch.ID, c.want, c.same)
			}
			k.engine.Close()
			s, err := k.store.Load(t.Context(), branch.Key, branch.Version)
			if err != nil || !slices.Equal(s.Chain, branch.Chain) {
				t.Errorf("the branch reads back otherwise than it was stored: %v", err)
			}
		})
	}
}
