package main

import (
	"context"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/cost"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/replay"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// through plays a recording through the engine as the gateway does, and prices what leaves it by the
// same model of the cache that the replay uses.
type through struct {
	t      *testing.T
	engine *engine.Engine
	clock  time.Time
	est    *token.Estimator
	cache  *cost.Cache
	before []cost.Block
	usd    float64
}

func (g *through) request(p *player, n int) {
	g.clock = p.at(n)
	body, err := p.body(n)
	if err != nil {
		g.t.Fatal(err)
	}
	got, err := g.engine.Prepare(context.Background(), &engine.Request{Session: "s", Body: body})
	if err != nil || got.Fault != nil {
		g.t.Fatalf("request with %d messages: %v, %v", n, err, got.Fault)
	}
	doc, err := wire.ParseAs(wire.Anthropic, got.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	u := g.price(doc.Conversation)
	g.engine.Finish(got, engine.Response{Status: 200, Usage: u, Content: []byte(`[{"type":"text","text":"ok"}]`)})
	if err := g.engine.Close(); err != nil { // it waits for the archive, whose time is this request's
		g.t.Fatal(err)
	}
}

// price asks for the cache at the end, and up to where the prompt is another one than before.
func (g *through) price(view *decant.Conversation) decant.Usage {
	blocks := cost.Lay(view, g.est)
	same := 0
	for same < len(blocks) && same < len(g.before) && blocks[same].ID == g.before[same].ID {
		same++
	}
	for i := range blocks {
		blocks[i].Cache = ""
	}
	if same > 0 {
		blocks[same-1].Cache = "5m"
	}
	blocks[len(blocks)-1].Cache = "5m"
	g.before = blocks
	u := g.cache.Send(cost.Request{At: g.clock, Blocks: blocks})
	usd, _ := cost.Of(g.est.Model(), u, cost.Terms{At: g.clock}).Total()
	g.usd += usd
	return u
}

// What a replay promises is what the gateway does: the same session costs the same.
func TestReplayAgreesWithTheEngine(t *testing.T) {
	var s streams
	doc, err := s.document(filepath.Join("..", "..", "testdata", "claude-code-session.jsonl.gz"), "")
	if err != nil {
		t.Fatal(err)
	}
	conv := doc.Conversation
	conv.Model = "claude-opus-4-5"
	models, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	high, err := replay.Parse("default", "high")
	if err != nil {
		t.Fatal(err)
	}
	played, err := replay.Play("", conv, replay.Options{Policies: []replay.Policy{high}, Catalog: models, Model: conv.Model, Fixed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := played.Results[0]

	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "d.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	m, _ := models.Lookup(conv.Model)
	preset, err := policy("default", "high")
	if err != nil {
		t.Fatal(err)
	}
	g := &through{t: t, est: token.For(m), cache: cost.NewCache(m)}
	if g.engine, err = engine.New(db, engine.Options{Preset: preset, Schedule: true, Now: func() time.Time { return g.clock }}); err != nil {
		t.Fatal(err)
	}
	p := &player{conv: conv}
	for _, n := range p.requests() {
		g.request(p, n)
	}
	if err := g.engine.Close(); err != nil {
		t.Fatal(err)
	}
	if math.Abs(g.usd-want.USD) > 0.02*want.USD {
		t.Errorf("the engine's requests cost $%.4f, the replay says $%.4f", g.usd, want.USD)
	}
	booked(t, db, g.usd)
}

// booked checks that what was stored for the conversation adds up to what was sent.
func booked(t *testing.T, db *sqlite.DB, usd float64) {
	t.Helper()
	totals, err := db.Spending(t.Context(), store.SpendQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var spent, bare store.Money
	for _, x := range totals {
		spent, bare = spent+x.Cost, bare+x.Bare
		if x.Rewrite > x.Cost {
			t.Errorf("%s: more was rewritten than spent: %+v", x.Day, x)
		}
	}
	if math.Abs(spent.USD()-usd) > 1e-6 {
		t.Errorf("booked $%.6f, sent $%.6f", spent.USD(), usd)
	}
	if bare <= spent {
		t.Errorf("without Decant it would have cost $%.4f, with it $%.4f", bare.USD(), spent.USD())
	}
}
