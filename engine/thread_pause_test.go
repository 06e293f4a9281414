package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A program that calls its model by itself sends what a view needs besides, says where the model has paused
// behind a summary, and sends what it is then given.
func TestAThreadGoesOnBehindAPause(t *testing.T) {
	k := newDialogue(t, engine.Options{Window: 200_000, Preset: policyOf(t, "night-watch")})
	k.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: &actor{}, Counter: token.For(lookup("claude-opus-4-6"))})
	th := k.engine.Thread(engine.Request{Pauses: true}, &decant.Conversation{Model: "claude-opus-4-6", MaxOutput: 4000})
	text := func(r decant.Role, s string) decant.Message {
		return decant.Message{Role: r, Blocks: []decant.Block{{Kind: decant.KindText, Content: decant.Text(s)}}}
	}
	pauses := 0
	for n := range testkit.Depth(9, 14) {
		th.Append(text(decant.RoleUser, fmt.Sprintf("Part %d.\n%s", n, bulky(fmt.Sprint(n), 6_800))))
		view, report, err := th.View(t.Context())
		if err != nil || report.Fault != nil {
			t.Fatal(err, report.Fault)
		}
		answer, usage := ask(k, view, report)
		next, after, err := th.Paused(t.Context(), []byte(answer), usage)
		if err != nil {
			t.Fatal(err)
		}
		if next != nil {
			pauses++
			if after.Reason != policy.Necessary || after.Route != atAPause || !next.Messages[0].Compaction || !strings.Contains(answer, `"type":"compaction"`) {
				t.Errorf("%s by %q: %v", after.Reason, after.Route, next.Messages[0])
			}
			answer, usage = ask(k, next, after)
		}
		if strings.Contains(answer, `"type":"compaction"`) {
			t.Fatal("the answer is still a summary")
		}
		th.Answered(usage)
		th.Append(text(decant.RoleAssistant, fmt.Sprintf("Done with part %d.", n)))
	}
	if refused := k.sandbox.Log.Refused(); pauses == 0 || len(refused) > 0 {
		t.Errorf("%d pauses; refused: %v", pauses, refused)
	}
}

// ask sends a view as a program does, and returns the content of the answer and all that is reported for it.
func ask(k *dialogue, view *decant.Conversation, r *engine.Report) (string, decant.Usage) {
	k.Helper()
	body, err := wire.Encode(view, wire.Anthropic)
	if err != nil {
		k.Fatal(err)
	}
	if r.ContextManagement != nil {
		body = []byte(strings.Replace(string(body), "{", `{"context_management":`+string(r.ContextManagement)+`,`, 1))
	}
	status, said := k.post(&engine.Prepared{Body: body, Betas: r.Betas})
	if status != http.StatusOK {
		k.Fatalf("refused: %s\n%.300s", said, body)
	}
	read := anthropic.Dialect{}.ReadAnswer(func(int) bool { return true })
	read.Object([]byte(said))
	a := read.Answer()
	return string(a.Content), a.Usage.Add(a.Extra)
}
