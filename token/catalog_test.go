package token_test

import (
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/token"
	"github.com/google/go-cmp/cmp"
)

func builtin(t testing.TB) *token.Catalog {
	t.Helper()
	c, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLookup(t *testing.T) {
	tests := []struct {
		id, want string
		window   int
		known    bool
	}{
		{"claude-opus-5-5", "claude-opus-5-5", 1_000_000, true},
		{"claude-sonnet-4-5-20250929", "claude-sonnet-4-5", 200_000, true},
		{"claude-sonnet-4-5", "claude-sonnet-4-5", 200_000, true},
		{"claude-sonnet-4.5", "claude-sonnet-4-5", 200_000, true},
		{"claude-sonnet-4-5[1m]", "claude-sonnet-4-5", 1_000_000, true},
		{"Claude-Opus-4-6[1M]", "claude-opus-4-6", 1_000_000, true},
		{"anthropic/claude-opus-5", "claude-opus-5", 1_000_000, true},
		{"openrouter/anthropic/claude-opus-4.8", "claude-opus-4-8", 1_000_000, true},
		{"us.anthropic.claude-opus-5-5", "claude-opus-5-5", 1_000_000, true},
		{"anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5", 200_000, true},
		{"claude-sonnet-4-5@20250929", "claude-sonnet-4-5", 200_000, true},
		{"claude-haiku-5-5-20260901", "claude-haiku-5-5", 1_000_000, true},
		{"us.anthropic.claude-opus-4-6-v1", "claude-opus-4-6", 1_000_000, true},
		{"global.anthropic.claude-sonnet-4-5-20250929-v1", "claude-sonnet-4-5", 200_000, true},
		{"anthropic.claude-sonnet-4-5-20250929-v1:0:200k", "claude-sonnet-4-5", 200_000, true},
		{"bedrock/converse/us.anthropic.claude-opus-4-6-v1[1m]", "claude-opus-4-6", 1_000_000, true},
		{
			"arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1",
			"claude-opus-4-6", 1_000_000, true,
		},
		{"litellm_proxy/claude-sonnet-4-5", "claude-sonnet-4-5", 200_000, true},
		{"litellm_proxy/anthropic/claude-sonnet-4-5-20250929", "claude-sonnet-4-5", 200_000, true},
		{"vertex_ai/claude-sonnet-4-5@20250929", "claude-sonnet-4-5", 200_000, true},
		{"publishers/anthropic/models/claude-sonnet-4-6@default", "claude-sonnet-4-6", 1_000_000, true},
		{"anthropic:claude-opus-4-6", "claude-opus-4-6", 1_000_000, true},
		{"anthropic/claude-opus-4.6:thinking", "claude-opus-4-6", 1_000_000, true},
		{"databricks-claude-opus-4-6", "claude-opus-4-6", 1_000_000, true},
		{"my-claude-opus-4-6-tuned", "my-claude-opus-4-6-tuned", token.DefaultWindow, false},
		{"house-model-v3", "house-model-v3", token.DefaultWindow, false},
		{"llama3:8b", "llama3:8b", token.DefaultWindow, false},
		{"anthropic.claude-instant-v1", "claude-instant-v1", token.DefaultWindow, false},
		{"openai/gpt-5", "gpt-5", 400_000, true},
		{"gpt-6.1-sol-2026-09-29", "gpt-6.1-sol", 1_050_000, true},
		{"gemini-3.8-flash", "gemini-3.8-flash", 1_048_576, true},
		{"claude-nova-9", "claude-nova-9", token.DefaultWindow, false},
		{"my-local-model", "my-local-model", token.DefaultWindow, false},
		{"claude-nova-9[1m]", "claude-nova-9", 1_000_000, false},
		{"", "", token.DefaultWindow, false},
	}
	c := builtin(t)
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			m, ok := c.Lookup(tt.id)
			if m.ID != tt.want || m.Window != tt.window || ok != tt.known {
				t.Errorf("got %q, window %d, known %v; want %q, %d, %v", m.ID, m.Window, ok, tt.want, tt.window, tt.known)
			}
		})
	}
}

// A beta asks for the million where the window is smaller without it.
func TestBetaForAMillion(t *testing.T) {
	asks := []string{"oauth-2025-04-20", " " + token.BetaMillion}
	for _, tt := range []struct {
		id   string
		want int
	}{
		{"claude-sonnet-4-5", 1_000_000},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", 1_000_000},
		{"claude-sonnet-4-20250514", 1_000_000},
		{"claude-haiku-4-5", 200_000},
		{"claude-opus-4-5", 200_000},
		{"claude-opus-4-6", 1_000_000},
		{"claude-3-5-sonnet-20241022", 200_000},
		{"my-local-model", token.DefaultWindow},
	} {
		m, _ := builtin(t).Lookup(tt.id)
		if got := m.For(asks).Window; got != tt.want {
			t.Errorf("%s: got a window of %d for those who ask, want %d", tt.id, got, tt.want)
		}
		if got := m.For([]string{"context-management-2025-06-27"}); got.Window != m.Window {
			t.Errorf("%s: got a window of %d for those who do not ask", tt.id, got.Window)
		}
	}
}

func TestUnknownWindowIsStated(t *testing.T) {
	c := builtin(t)
	for _, id := range []string{"gpt-5.5", "gpt-5.4", "nobody-knows-this"} {
		m, _ := c.Lookup(id)
		if m.Window != token.DefaultWindow || !m.Assumed {
			t.Errorf("%s: got window %d, assumed %v; want %d, true", id, m.Window, m.Assumed, token.DefaultWindow)
		}
	}
	for _, m := range c.Models() {
		if m.Window <= 0 || m.MinCache <= 0 || m.Provider == "" {
			t.Errorf("%s: window %d, least cached prefix %d, provider %q", m.ID, m.Window, m.MinCache, m.Provider)
		}
	}
}

func TestThinkingBinding(t *testing.T) {
	tests := map[string]bool{
		"claude-opus-5-5":            true,
		"claude-fable-5-1":           true,
		"claude-mythos-5-1":          true,
		"claude-mythos-5-2":          true, // the catalogue does not know
		"claude-opus-5":              false,
		"claude-sonnet-4-5-20250929": false,
		"claude-opus-4-1":            false, // not in the catalogue, but older than the rule
		"claude-3-5-sonnet-20241022": false,
		"claude-nova-9":              true,
		"claude-nova":                true,
		"gpt-6-sol":                  false,
		"gpt-6.2-sol":                false,
		"some-model":                 false,
	}
	forgets := map[string]bool{"gpt-6.2-sol": true, "gpt-7": true} // the catalogue does not know the second
	c := builtin(t)
	for id, want := range tests {
		if m, _ := c.Lookup(id); m.Binds != want {
			t.Errorf("%s: got binds %v, want %v", id, m.Binds, want)
		}
	}
	for _, id := range []string{"gpt-6.2-sol", "gpt-7", "gpt-6-sol", "claude-opus-5-5"} {
		if m, _ := c.Lookup(id); m.Forgets != forgets[id] {
			t.Errorf("%s: got forgets %v, want %v", id, m.Forgets, forgets[id])
		}
	}
}

func TestGeneration(t *testing.T) {
	tests := []struct {
		id           string
		major, minor int
	}{
		{"claude-sonnet-4-5-20250929", 4, 5},
		{"claude-opus-4-20250514", 4, 0},
		{"claude-3-7-sonnet-20250219", 3, 7},
		{"claude-opus-5", 5, 0},
		{"claude-haiku-5-5", 5, 5},
	}
	for _, tt := range tests {
		m := token.Model{ID: tt.id, Provider: token.Anthropic}
		major, minor, ok := m.Generation()
		if !ok || major != tt.major || minor != tt.minor {
			t.Errorf("%s: got %d.%d %v, want %d.%d", tt.id, major, minor, ok, tt.major, tt.minor)
		}
	}
}

func TestUserFileAddsAndOverrides(t *testing.T) {
	c, err := builtin(t).Read(strings.NewReader(`{"models":[
		{"id":"house-model","provider":"openai","context_window":32000,"min_cacheable_tokens":null},
		{"id":"team-opus","provider":"anthropic"},{"id":"gpt-oss-120b","provider":"groq"},
		{"id":"claude-opus-5","provider":"anthropic","context_window":500000,"price_per_mtok":{"input":1,"output":null}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := c.Lookup("openai/house-model"); !ok || m.Window != 32000 || m.Assumed {
		t.Errorf("added model: got %+v, %v", m, ok)
	}
	for _, w := range []struct {
		id             string
		binds, forgets bool
	}{{"house-model", false, true}, {"team-opus", true, false}, {"gpt-oss-120b", false, false}} {
		if m, ok := c.Lookup(w.id); !ok || m.Binds != w.binds || m.Forgets != w.forgets {
			t.Errorf("%s: binds %t, forgets %t: its provider was not asked", w.id, m.Binds, m.Forgets)
		}
	}
	m, _ := c.Lookup("claude-opus-5")
	want := token.Rates{Input: token.Rate{USD: 1, Known: true}}
	if got := m.Prices[0].Rates; m.Window != 500000 || got != want {
		t.Errorf("overridden model: got window %d, rates %+v; want 500000, %+v", m.Window, got, want)
	}
	if m, _ := builtin(t).Lookup("claude-opus-5"); m.Window != 1_000_000 {
		t.Errorf("the catalogue that was added to has changed: window %d", m.Window)
	}
}

func TestUserFileErrorsNameTheModel(t *testing.T) {
	for src, want := range map[string]string{
		`{"models":[{"id":"x","price_per_mtok":{"input":"free"}}]}`:                               "price",
		`{"models":[{"id":"x","price_per_mtok":{"input":-1}}]}`:                                   "zero or more",
		`{"models":[{"id":"x","price_per_mtok":{"input":1},"price_valid_until":"next Tuesday"}]}`: "models[0] (x): price: date",
		`{"models":[{"id":"x","retires":"soon"}]}`:                                                "models[0] (x): retires: date \"soon\"",
		`{"as_of":"today","models":[]}`:                                                           "as_of: date \"today\"",
		`{"models":[{"id":""}]}`:                                                                  "no id",
		`{"models":[{"id":"x","context_window":-5}]}`:                                             "negative",
		`{"models":`: "model catalogue",
	} {
		_, err := new(token.Catalog).Add([]byte(src))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", src, err, want)
		}
	}
}

func TestPriceRowsByDate(t *testing.T) {
	day := func(s string) time.Time {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	argon, _ := builtin(t).Lookup("gemini-4-argon")
	own, err := builtin(t).Add([]byte(`{"models":[{"id":"promo","price_per_mtok":{"input":4},"price_valid_until":"2026-11-21"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	promo, _ := own.Lookup("promo")
	tests := []struct {
		name  string
		m     token.Model
		at    time.Time
		input float64
		stale bool
	}{
		{"Promotional", argon, day("2026-11-30").Add(23 * time.Hour), 2, false},
		{"AfterIt", argon, day("2026-12-01"), 4, false},
		{"LastDay", promo, day("2026-11-21").Add(20 * time.Hour), 4, false},
		{"EndedWithoutSuccessor", promo, day("2026-11-22"), 4, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, stale, ok := tt.m.PriceAt(tt.at)
			if !ok || p.Input.USD != tt.input || stale != tt.stale {
				t.Errorf("got %v, stale %v, known %v; want %v, %v", p.Input, stale, ok, tt.input, tt.stale)
			}
		})
	}
	if _, _, ok := (&token.Model{}).PriceAt(day("2026-11-20")); ok {
		t.Error("a model without prices has one")
	}
}

func TestLongPromptTier(t *testing.T) {
	m, _ := builtin(t).Lookup("claude-haiku-5-5")
	p, _, _ := m.PriceAt(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	got := []float64{p.At(100_000).Input.USD, p.At(100_001).Input.USD, p.At(100_001).CacheRead.USD}
	if diff := cmp.Diff([]float64{0.1, 0.5, 0.05}, got); diff != "" {
		t.Errorf("input below, input above, read above (-want +got):\n%s", diff)
	}
}

func FuzzCatalog(f *testing.F) {
	f.Add([]byte(`{"models":[{"id":"a","supports":{"thinking":["x"]},"later_prices":[{"from":"2026-01-01","input":1}]}]}`))
	f.Add([]byte(`{"models":[{"id":"a","supports":{"thinking":"x"},"price_per_mtok":{"input":1}}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := new(token.Catalog).Add(src)
		if err != nil {
			return
		}
		for _, m := range c.Models() {
			if m.Window <= 0 {
				t.Errorf("%q has window %d", m.ID, m.Window)
			}
		}
	})
}

func FuzzLookup(f *testing.F) {
	f.Add("us.anthropic.claude-x@20250101[1m]")
	f.Add("a/b/-v:")
	c := builtin(f)
	f.Fuzz(func(t *testing.T, id string) {
		if m, _ := c.Lookup(id); m.Window <= 0 || m.MinCache <= 0 {
			t.Errorf("%q: window %d, least cached prefix %d", id, m.Window, m.MinCache)
		}
	})
}

// Sessions that are kept for years name models that are served no longer: their windows and prices
// are known, under every name that hosts and routers give them.
func TestRetiredModels(t *testing.T) {
	c := builtin(t)
	for _, tt := range []struct {
		id            string
		window        int
		input, output float64
	}{
		{"claude-sonnet-4-20250514", 200_000, 3, 15},
		{"litellm_proxy/claude-sonnet-4-20250514", 200_000, 3, 15},
		{"claude-sonnet-4-0", 200_000, 3, 15},
		{"claude-opus-4-1@20250805", 200_000, 15, 75},
		{"us.anthropic.claude-opus-4-20250514-v1:0", 200_000, 15, 75},
		{"anthropic/claude-3.7-sonnet:beta", 200_000, 3, 15},
		{"claude-3-5-sonnet-20240620", 200_000, 3, 15},
		{"claude-3-5-sonnet-latest", 200_000, 3, 15},
		{"anthropic.claude-3-5-haiku-20241022-v1:0", 200_000, 0.8, 4},
		{"claude-3-haiku-20240307", 200_000, 0.25, 1.25},
		{"openai/gpt-4o-2024-08-06", 128_000, 2.5, 10},
		{"azure/gpt-4.1", 1_047_576, 2, 8},
		{"o3-2025-04-16", 200_000, 2, 8},
		{"gpt-5-mini", 400_000, 0.25, 2},
		{"gpt-5.2-codex", 400_000, 1.75, 14},
	} {
		m, ok := c.Lookup(tt.id)
		if !ok || m.Assumed || m.Window != tt.window {
			t.Errorf("%s: window %d, assumed %t, known %t; want %d", tt.id, m.Window, m.Assumed, ok, tt.window)
			continue
		}
		if p, _, ok := m.PriceAt(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)); !ok || p.Input.USD != tt.input ||
			p.Output.USD != tt.output || !p.CacheRead.Known {
			t.Errorf("%s: prices %+v, want %v and %v", tt.id, p.Rates, tt.input, tt.output)
		}
		if m.Binds {
			t.Errorf("%s: its thinking is bound", tt.id)
		}
	}
}

// Everything that ages has its day: prices that are charged were looked up on one, what retires was released before it was
// deprecated, and deprecated before it retires.
func TestDatesOfModels(t *testing.T) {
	for _, m := range builtin(t).Models() {
		if len(m.Prices) > 0 && m.Verified.IsZero() && m.Status != "retired" {
			t.Errorf("%s: its prices have no day", m.ID)
		}
		if m.Status == "deprecated" && m.Retires.IsZero() {
			t.Errorf("%s is deprecated and does not say when it retires", m.ID)
		}
		last := time.Time{}
		for _, day := range []time.Time{m.Released, m.Deprecated, m.Retires} {
			if day.IsZero() {
				continue
			}
			if day.Before(last) {
				t.Errorf("%s: %v comes before %v", m.ID, day, last)
			}
			last = day
		}
		if m.Verified.After(builtin(t).AsOf()) {
			t.Errorf("%s: its prices are newer than the catalogue", m.ID)
		}
	}
	m, _ := builtin(t).Lookup("claude-opus-4-5")
	if got := [3]string{m.Released.Format(time.DateOnly), m.Deprecated.Format(time.DateOnly), m.Retires.Format(time.DateOnly)}; got != [3]string{"2025-11-24", "2026-11-23", "2027-01-22"} {
		t.Errorf("claude-opus-4-5: %v", got)
	}
	if _, err := new(token.Catalog).Add([]byte(`{"models":[{"id":"x","released":"soon"}]}`)); err == nil || !strings.Contains(err.Error(), `released: date "soon": want YYYY-MM-DD`) {
		t.Errorf("a day that is none: %v", err)
	}
}
