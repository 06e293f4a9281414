package plan

import (
	"crypto/rand"
	"fmt"
	"hash/maphash"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/internal/dialect/index"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// BenchmarkDue is the question whether a pour is due for a request of half a megabyte, alone: with a
// text that could go and must be measured, and after a pour that brought nothing. It is inside the package because
// nothing outside can tell it from the rest of a request's way.
func BenchmarkDue(b *testing.B) {
	for _, futile := range []bool{false, true} {
		b.Run(fmt.Sprintf("Futile=%t", futile), func(b *testing.B) {
			p := halfMegabyte(b)
			if futile {
				p.noteFutile()
			}
			b.ReportAllocs()
			for b.Loop() {
				if why := policy.Ask(p); why != "" && futile || p.Waits() != futile {
					b.Fatalf("due %q, waits %t", why, p.Waits())
				}
			}
		})
	}
}

// halfMegabyte returns the pour of a request that continues a conversation.
func halfMegabyte(tb testing.TB) *Pour {
	pre, err := preset.Load("default")
	if err != nil {
		tb.Fatal(err)
	}
	thin := *pre
	thin.Tools.Exclude = []string{"*"}
	models, err := token.Builtin()
	if err != nil {
		tb.Fatal(err)
	}
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	env := &Settings{
		IDs: store.NewIDs(func() time.Time { return now }, rand.Reader), Now: func() time.Time { return now },
		OptionalTimeout: time.Minute, RequiredTimeout: time.Minute,
		LookupModel: func(id, _ string, _ int, _ []string) token.Model {
			m, _ := models.Lookup(id)
			m.Window = 1_000_000
			return m
		},
	}
	before, r := read(tb, rounds(50)), read(tb, rounds(51))
	m := env.LookupModel(r.Doc.Conversation.Model, "", 0, nil)
	est := token.For(m)
	s := &store.State{Chain: entries(before, est)}
	s.Head.Model, s.Head.Fixed = r.Doc.Conversation.Model, r.Doc.Conversation.Fixed.Version
	s.Anchor.Time = now
	meter := Meter{Usage: decant.Usage{CacheRead: 50 * 2500, Output: 50}, Length: len(s.Chain), Chain: s.Chain[len(s.Chain)-1].Chain}
	meter.Newest.Client.At = now.Add(-time.Second)
	l := match.NewStored(s, NewCached(meter))
	n, _ := l.Shared(r)
	p := match.Locate(l, s, r, n)
	in := &Input{
		Settings: env, MaxBytes: 32 << 20, Model: m, Estimator: est, Fixed: est.Fixed(&r.Doc.Conversation.Fixed),
		Prompt: r, Body: r.Doc.Source, Begun: now,
	}
	dr, err := NewDraft(in.At(p), &thin, meter, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return NewPour(dr, nil)
}

func read(tb testing.TB, body []byte) *match.Prompt {
	r, err := match.Read(index.Default, body, maphash.MakeSeed(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// entries returns the blocks of a prompt as a store has them.
func entries(r *match.Prompt, est *token.Estimator) (out []store.Entry) {
	for i := range r.Blocks {
		b := &r.Blocks[i]
		out = append(out, store.Entry{
			Position: i + 1, Chain: r.Hash(i), Raw: b.Raw(), Text: decant.HashBytes([]byte(b.Text())),
			Role: b.Role, Kind: b.Kind, CallID: b.CallID, Name: b.Name, Ref: b.Ref, Tokens: r.Tokens(i, est),
		})
	}
	return out
}

// rounds returns a request of n rounds of ten KB.
func rounds(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"claude-sonnet-4-6","max_tokens":32000,"system":[{"type":"text","text":"Work.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"Do the work."}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"go test ./pkg%d"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]}`, i, strings.Repeat(fmt.Sprintf("line of step %d, alpha, beta\\n", i), 350))
	}
	b.WriteString("]}")
	return []byte(b.String())
}
