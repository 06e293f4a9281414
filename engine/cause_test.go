package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/store"
)

// written returns what the newest request wrote to the cache, as the sandbox counted it, and why.
func (c *coder) written() (decant.Usage, []store.Write) {
	c.Helper()
	c.engine.Close()
	found, err := c.store.(store.Directory).Conversations(c.Context(), store.Filter{Limit: 10})
	if err != nil {
		c.Fatal(err)
	}
	var last store.Request
	for i := range found {
		rs, err := c.store.(store.Log).Requests(c.Context(), found[i].Key)
		if err != nil {
			c.Fatal(err)
		}
		for k := range rs {
			if !rs[k].Time.Before(last.Time) {
				last = rs[k]
			}
		}
	}
	return c.sandbox.Log.Last().Usage, last.Writes
}

// steps sends n requests.
func (c *coder) steps(n int) {
	for range n {
		c.step()
	}
}

// For each cause of a written cache there is, the gateway's own record of the request names it, with as
// many tokens as the provider's cache lost.
func TestWhyTheCacheMissedIsNamed(t *testing.T) {
	system := `"system":[` + longSystem + marker + `}],`
	const at = 6 // requests before the cause
	for _, tt := range []struct {
		name   string
		inject func(c *coder)
		want   cause.Kind
		detail string
	}{
		{"ToolsChanged", func(c *coder) { c.tools = bashTool + `,{"name":"Other","input_schema":{"type":"object"}}` }, cause.Tools, ""},
		{"ModelChanged", func(c *coder) { c.model = "claude-opus-4-6" }, cause.Model, "claude-sonnet-4-5 to claude-opus-4-6"},
		{"SystemChanged", func(c *coder) { c.extra = strings.Replace(c.extra, "careful", "careless", 1) }, cause.System, ""},
		{"Idle", func(c *coder) { c.now.pass(6 * time.Minute) }, cause.Expired, "idle for 6m, kept for 5m"},
		{"HistoryEdited", func(c *coder) { c.ms[6] = strings.Replace(c.ms[6], "partMissing3", "partAbsent3", 1) }, cause.Edited, "at m7, block 1"},
		{"MoreThanTwentyBlocks", func(c *coder) {
			c.ms[len(c.ms)-1] = strings.Replace(c.ms[len(c.ms)-1], marker+`}]}`, `}]}`, 1)
			for n := range 12 {
				c.round(1000+n, fmt.Sprintf("result %d", n))
			}
		}, cause.LookBack, "39 blocks"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCoder(t, system, marker)
			c.start(engine.Options{Window: 400_000, Now: c.now.Now, NoEarlyPours: true})
			c.steps(at)
			before := c.sandbox.Log.Last().Usage
			tt.inject(c)
			c.step()
			u, writes := c.written()
			again := before.CacheRead + before.CacheWrite - u.CacheRead
			if again < 1000 {
				t.Fatalf("the provider's cache missed nothing: %+v after %+v", u, before)
			}
			c.mustHold(u, writes, tt.want, tt.detail, again)
		})
	}
}

// mustHold checks that tokens were written again for one cause, and that all causes add up to what was written.
func (c *coder) mustHold(u decant.Usage, writes []store.Write, want cause.Kind, detail string, again int) {
	c.Helper()
	sum, named := 0, 0
	for _, w := range writes {
		sum += w.Tokens
		if w.Cause == string(want) && (detail == "" || w.Detail == detail) {
			named += w.Tokens
		}
	}
	if sum != u.CacheWrite || named != again {
		c.Errorf("%+v: want %d tokens for %q (%s), %d in all", writes, again, want, detail, u.CacheWrite)
	}
}

// A pour of Decant's own is named as such, with what it made the provider write again.
func TestOurOwnPourIsNamed(t *testing.T) {
	c := newCoder(t, `"system":[`+longSystem+marker+`}],`, marker)
	for c.n < 60 {
		before := c.sandbox.Log.Last().Usage
		c.step()
		if c.last.Report.Reason == "" {
			continue
		}
		u, writes := c.written()
		c.mustHold(u, writes, cause.Poured, "", min(u.CacheWrite, before.CacheRead+before.CacheWrite-u.CacheRead))
		return
	}
	t.Fatal("no pour in 60 requests")
}

// What was sent without a marker, and is written once there is one, is not new.
func TestAMissingMarkerIsNamed(t *testing.T) {
	c := newCoder(t, `"system":[`+longSystem+marker+`}],`, "")
	c.steps(4)
	before := c.sandbox.Log.Last().Usage
	c.end = marker
	c.n++
	c.ms = append(c.ms, `{"role":"assistant","content":[{"type":"text","text":"Done."}]}`, `{"role":"user","content":[{"type":"text","text":"Go on."`+marker+`}]}`)
	c.now.pass(30 * time.Second)
	c.mustSend()
	u, writes := c.written()
	c.mustHold(u, writes, cause.Unmarked, "", before.Input)
}

// What is known of the newest request outlives a restart of the gateway, so that the cause is named after one.
func TestACauseIsNamedAfterARestart(t *testing.T) {
	c := newCoder(t, `"system":[`+longSystem+marker+`}],`, marker)
	plain := engine.Options{Window: 400_000, Now: c.now.Now, NoEarlyPours: true}
	c.start(plain)
	c.steps(4)
	before := c.sandbox.Log.Last().Usage
	c.start(plain)
	c.now.pass(6 * time.Minute)
	c.step()
	u, writes := c.written()
	c.mustHold(u, writes, cause.Expired, "", before.CacheRead+before.CacheWrite-u.CacheRead)
}
