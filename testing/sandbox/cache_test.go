package sandbox_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant/testing/sandbox"
	"github.com/google/go-cmp/cmp"
)

// A clock stands still until it is told to go on.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// words returns a text block of n tokens by the default counter.
func words(n int) string { return say(strings.Repeat("abc", n)) }

func TestCacheOverThirtyTurns(t *testing.T) {
	c := newClock()
	s, url := start(t, sandbox.Options{Now: c.Now, Model: &sandbox.Rules{Calls: 3, Parallel: 2}})
	k := &talk{t: t, url: url, marks: true, fields: adaptive + bash + `"system":[` + mark(words(1000), "") + `],`}
	before := 0 // tokens that the cache holds of the conversation
	for turn := range 30 {
		k.add(words(40))
		for {
			calls := k.ask()
			u := k.usage
			if u.Read != before || u.Read+u.Write != s.Log.Last().Prompt || u.Input != 0 {
				t.Fatalf("turn %d: usage %+v of a prompt of %d; want %d read, the rest written", turn, u, s.Log.Last().Prompt, before)
			}
			before = u.Read + u.Write
			if len(calls) == 0 {
				break
			}
			k.reply(calls, "result")
		}
		c.pass(4 * time.Minute)
	}
	c.pass(time.Minute)
	k.add(words(40))
	k.ask()
	if k.usage.Read != 0 || k.usage.Write <= before {
		t.Errorf("after five minutes: usage %+v, want everything written again", k.usage)
	}
}

func TestCacheLifetime(t *testing.T) {
	tests := []struct {
		name string
		ttl  string
		gaps []time.Duration
		hit  bool // the request after the last gap reads
	}{
		{"cache/JustAlive", "", []time.Duration{5*time.Minute - 1}, true},
		{"cache/Expired", "", []time.Duration{5 * time.Minute}, false},
		{"cache/RefreshedByHit", "", []time.Duration{4 * time.Minute, 4 * time.Minute, 4 * time.Minute}, true},
		{"cache/ExpiredAfterRefresh", "", []time.Duration{4 * time.Minute, 5 * time.Minute}, false},
		{"cache/HourJustAlive", "1h", []time.Duration{time.Hour - 1}, true},
		{"cache/HourExpired", "1h", []time.Duration{time.Hour}, false},
		{"cache/HourRefreshed", "1h", []time.Duration{50 * time.Minute, 50 * time.Minute}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock()
			_, url := start(t, sandbox.Options{Now: c.Now})
			k := &talk{t: t, url: url}
			k.add(mark(words(1000), tt.ttl))
			k.copy().ask()
			for _, gap := range tt.gaps {
				c.pass(gap)
				last := k.copy()
				last.ask()
				k.usage = last.usage
			}
			if hit := k.usage.Read == 1004; hit != tt.hit || k.usage.Read+k.usage.Write != 1004 {
				t.Errorf("usage %+v, want a hit: %v", k.usage, tt.hit)
			}
		})
	}
}

func TestCacheLifetimeIsThatOfTheNewEntry(t *testing.T) {
	c := newClock()
	_, url := start(t, sandbox.Options{Now: c.Now})
	for _, step := range []struct {
		ttl  string
		wait time.Duration
		read int
	}{
		{"1h", 30 * time.Minute, 0},
		{"5m", 30 * time.Minute, 1004}, // still an entry of an hour
		{"5m", time.Hour, 1004},
		{"5m", 6 * time.Minute, 0}, // expired and written again, now for five minutes
		{"5m", 0, 0},
	} {
		k := &talk{t: t, url: url}
		k.add(mark(words(1000), step.ttl))
		k.ask()
		if k.usage.Read != step.read {
			t.Errorf("ttl %s: usage %+v, want %d read", step.ttl, k.usage, step.read)
		}
		c.pass(step.wait)
	}
}

func TestCacheLooksBackTwentyBlocks(t *testing.T) {
	for _, tt := range []struct {
		name  string
		added int
		hit   bool
	}{{"cache/Nineteen", 19, true}, {"cache/Twenty", 20, false}} {
		t.Run(tt.name, func(t *testing.T) {
			_, url := start(t, sandbox.Options{})
			k := &talk{t: t, url: url, marks: true}
			k.add(words(1000))
			k.copy().ask()
			for range tt.added {
				k.msgs[0].Content = append(k.msgs[0].Content, words(1))
			}
			k.ask()
			if hit := k.usage.Read == 1004; hit != tt.hit {
				t.Errorf("%d blocks later: usage %+v, want a hit: %v", tt.added, k.usage, tt.hit)
			}
		})
	}
}

func TestCacheIntermediateBreakpoint(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	k := &talk{t: t, url: url, marks: true}
	k.add(words(1000))
	k.copy().ask()
	for range 30 {
		k.msgs[0].Content = append(k.msgs[0].Content, words(1))
	}
	k.msgs[0].Content[15] = mark(k.msgs[0].Content[15], "")
	k.ask()
	if want := (usage{Read: 1004, Write: 30, Out: k.usage.Out}); k.usage.Read != want.Read || k.usage.Write != want.Write {
		t.Errorf("usage %+v, want %+v", k.usage, want)
	}
}

func TestCacheMinimum(t *testing.T) {
	for _, tt := range []struct {
		name, model string
		tokens      int
		want        int // written
	}{
		{"12/511", newest, 511, 0},
		{"12/512", newest, 512, 512},
		{"cache/Older1023", old, 1023, 0},
		{"cache/Older1024", old, 1024, 1024},
		{"cache/Haiku4095", "claude-haiku-4-5", 4095, 0},
		{"cache/Haiku4096", "claude-haiku-4-5", 4096, 4096},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, url := start(t, sandbox.Options{})
			k := &talk{t: t, url: url, model: tt.model, marks: true}
			k.add(words(tt.tokens - 4))
			k.ask()
			if k.usage.Write != tt.want || k.usage.Input != tt.tokens-tt.want {
				t.Errorf("usage %+v, want %d of %d written", k.usage, tt.want, tt.tokens)
			}
		})
	}
}

func TestCacheSplitsByLifetime(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	k := &talk{t: t, url: url, fields: `"system":[` + mark(words(700), "1h") + `],`}
	k.add(mark(words(96), ""), words(50))
	k.ask()
	k.usage.Out = 0
	want := usage{Input: 50, Write: 800}
	want.By.Long, want.By.Short = 700, 100
	if d := cmp.Diff(want, k.usage); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Each part lives as long as its own marker asks for, and is written at its own price.
func TestCacheOfMixedLifetimes(t *testing.T) {
	c := newClock()
	_, url := start(t, sandbox.Options{Now: c.Now})
	k := &talk{t: t, url: url, marks: true, fields: `"system":[` + mark(words(1000), "1h") + `],`}
	k.add(words(500))
	for _, step := range []struct {
		wait       time.Duration
		read, long int // tokens that are read, and written for an hour
	}{
		{0, 0, 1000},
		{4 * time.Minute, 1504, 0},
		{10 * time.Minute, 1000, 0}, // the messages are gone, the system prompt is not
		{time.Hour, 0, 1000},
	} {
		c.pass(step.wait)
		try := k.copy()
		try.ask()
		if u := try.usage; u.Read != step.read || u.By.Long != step.long || u.Read+u.Write != 1504 {
			t.Errorf("%v later: usage %+v, want %d read and %d written for an hour", step.wait, u, step.read, step.long)
		}
	}
}

// Claude Code's billing line differs on every request; that it is left out of the cache is one of two ways
// that are reported.
func TestCacheAndBillingLine(t *testing.T) {
	for _, counts := range []bool{false, true} {
		_, url := start(t, sandbox.Options{CountBilling: counts})
		k := &talk{t: t, url: url, marks: true, model: newest}
		k.add(words(1000))
		for i, hash := range []string{"3f0c1", "a0b1c", "00000"} {
			k.fields = adaptive + `"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.330; cch=` + hash + `;"},` + mark(words(900), "") + `],`
			k.ask() // thinking that is bound to another line would be refused
			if hit := k.usage.Read > 0; hit != (i > 0 && !counts) {
				t.Errorf("request %d, the line counts: %v: usage %+v", i+1, counts, k.usage)
			}
			k.add(words(10))
		}
	}
}

// Some providers cache without being asked, and report what was read but nothing as written.
func TestCacheWithoutMarkers(t *testing.T) {
	c := newClock()
	_, url := start(t, sandbox.Options{Now: c.Now, Unasked: time.Hour})
	k := &talk{t: t, url: url}
	k.add(words(1000))
	k.ask()
	first := k.usage
	k.add(words(100))
	k.copy().ask()
	c.pass(59 * time.Minute)
	k.copy().ask()
	c.pass(time.Hour)
	last := k.copy()
	last.ask()
	if k.ask(); first.Read != 0 || first.Write != 0 || k.usage.Read < 1000 || k.usage.Write != 0 || last.usage.Read != 0 {
		t.Errorf("usage %+v at first, %+v an hour later, then %+v", first, last.usage, k.usage)
	}
}

func TestCacheAutomaticBreakpoint(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	k := &talk{t: t, url: url, fields: adaptive + `"cache_control":{"type":"ephemeral"},`}
	k.turn(strings.Repeat("abc", 1000))
	first := k.usage
	k.turn("more")
	if first.Write != 1004 || k.usage.Read != 1004 || k.usage.Input != 0 {
		t.Errorf("usage %+v, then %+v", first, k.usage)
	}
}

// TestCacheInvalidation is the table of docs/reference/anthropic.md, "The prompt cache": what a change leaves
// of tools, system and messages.
func TestCacheInvalidation(t *testing.T) {
	const tools, all = 1, 3
	base := func(url string, t *testing.T) *talk {
		k := &talk{t: t, url: url, model: "claude-opus-4-8", marks: true, fields: `"tools":[` +
			mark(`{"name":"Bash","description":"`+strings.Repeat("abc", 1100)+`","input_schema":{"type":"object"}}`, "") + `],` +
			`"system":[` + mark(words(1100), "") + `],`}
		k.add(words(1100))
		return k
	}
	tests := []struct {
		name   string
		change func(k *talk)
		levels int // how many of the three are still read
	}{
		{"cache/Nothing", func(k *talk) {}, all},
		{"cache/Model", func(k *talk) { k.model = "claude-sonnet-5" }, 0},
		{"cache/Tools", func(k *talk) { k.fields = strings.Replace(k.fields, "Bash", "bash", 1) }, 0},
		{"cache/System", func(k *talk) { k.fields = strings.Replace(k.fields, `"text":"abc`, `"text":"xyz`, 1) }, tools},
		{"cache/Speed", func(k *talk) { k.fields += `"speed":"fast",` }, tools},
		{"cache/ToolChoice", func(k *talk) { k.fields += `"tool_choice":{"type":"any"},` }, 2},
		{"cache/Thinking", func(k *talk) { k.fields += adaptive }, 2},
		{"cache/Effort", func(k *talk) { k.fields += `"output_config":{"effort":"low"},` }, 2},
		{"cache/DefaultEffort", func(k *talk) { k.fields += `"output_config":{"effort":"high"},` }, all},
		{"cache/Image", func(k *talk) {
			k.msgs[0].Content = append(k.msgs[0].Content, `{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}`)
		}, 2},
		{"cache/Citations", func(k *talk) {
			k.msgs[0].Content = append(k.msgs[0].Content, `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"},"citations":{"enabled":true}}`)
		}, tools},
		{"cache/FirstWords", func(k *talk) { k.msgs[0].Content[0] = words(1000) }, 2},
		{"cache/OtherParameters", func(k *talk) { k.fields += `"metadata":{"user_id":"u"},"stop_sequences":["x"],` }, all},
		{"cache/OtherKey", func(k *talk) { k.header = []string{"x-api-key", "another"} }, 0},
		{"cache/KeyOrderInSchema", func(k *talk) {
			k.fields = strings.Replace(k.fields, `{"type":"object"}`, `{"properties":{},"type":"object"}`, 1)
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, url := start(t, sandbox.Options{})
			k := base(url, t)
			k.copy().ask()
			tt.change(k)
			k.ask()
			if got := k.usage.Read / 1100; got != tt.levels {
				t.Errorf("usage %+v: %d levels read, want %d", k.usage, got, tt.levels)
			}
		})
	}
}

// TestCacheIsWrittenWhenTheAnswerBegins checks that a request without an answer leaves nothing.
func TestCacheIsWrittenWhenTheAnswerBegins(t *testing.T) {
	s, url := start(t, sandbox.Options{})
	k := &talk{t: t, url: url, marks: true}
	k.add(words(1000))
	s.Inject(sandbox.Fault{Kind: sandbox.FaultOverloaded})
	if got := k.send(); got != 529 {
		t.Fatalf("status %d", got)
	}
	k.copy().ask()
	if got := s.Log.Last().Usage; got.CacheRead != 0 || got.CacheWrite != 1004 {
		t.Errorf("after a refusal: %+v", got)
	}
	k.ask()
	if k.usage.Read != 1004 {
		t.Errorf("after an answer: %+v", k.usage)
	}
}
