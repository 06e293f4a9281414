package recall_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/recall"
	"pgregory.net/rapid"
)

// What a text is measured to hold does not depend on which texts were measured before.
func TestMeasuringAgainSaysTheSame(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"pkg/auth/session.go", "session.go", "handleLogin", "ErrTimeout", "xhandleLoginx", "reads", "token",
		"before", "every", "request", "fails", "because", "\n",
	})
	line := rapid.Map(rapid.SliceOfN(words, 1, 12), func(ws []string) string { return strings.Join(ws, " ") })
	rapid.Check(t, func(t *rapid.T) {
		var ms []decant.Message
		for i, s := range rapid.SliceOfN(line, 1, 4).Draw(t, "messages") {
			ms = append(ms, decant.Message{Number: i + 1, Role: decant.RoleAssistant, Blocks: []decant.Block{{
				Kind: decant.KindText, Author: decant.AuthorModel, Content: decant.Text(s), Ref: decant.Ref{Message: i + 1},
			}}})
		}
		m := new(recall.Reader).In(t.Context(), ms)
		for _, text := range rapid.SliceOfN(line, 1, 6).Draw(t, "texts") {
			if got, want := m.HeldBy(t.Context(), text), recall.Of(t.Context(), ms, text); got != want {
				t.Fatalf("%q holds %+v, want %+v", text, got, want)
			}
		}
	})
}

// The share counts what only results had, too.
func TestShareCountsStringsOfResults(t *testing.T) {
	say := func(n int, role decant.Role, kind decant.Kind, by decant.Author, text string) decant.Message {
		return decant.Message{Number: n, Role: role, Blocks: []decant.Block{{Kind: kind, Author: by, Content: decant.Text(text), Ref: decant.Ref{Message: n}}}}
	}
	ms := []decant.Message{
		say(1, decant.RoleUser, decant.KindText, decant.AuthorUser, "look at internal/ledger/account.go"),
		say(2, decant.RoleUser, decant.KindResult, decant.AuthorTool, "postAccount in internal/ledger/post.go\nroundHalfEven in internal/ledger/round.go"),
	}
	r := recall.Of(t.Context(), ms, "look at internal/ledger/account.go")
	if r.Score != 1 || r.Share > .5 {
		t.Errorf("score %v, share %v", r.Score, r.Share)
	}
}
