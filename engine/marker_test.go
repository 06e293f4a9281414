package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/costtest"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A coder is a client that sets its cache markers as agents do: some on the system prompt, one on the
// last block of all, see end. It reads one file after the other.
type coder struct {
	*dialogue
	now    *clock
	system string
	end    string // marker on the last block, none when empty
	n      int
}

const (
	marker     = `,"cache_control":{"type":"ephemeral"}`
	hourMarker = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

func newCoder(t *testing.T, system, end string) *coder {
	t.Helper()
	c := &coder{now: newClock(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)), system: system, end: end}
	c.dialogue = newDialogue(t, engine.Options{Window: 400_000, Now: c.now.Now})
	c.sandbox = newSandbox(sandbox.Options{Window: 400_000, Now: c.now.Now})
	c.extra = system
	c.user("Read all the files.")
	return c
}

// step reads one more file, half a minute later, and sends it all.
func (c *coder) step() {
	c.Helper()
	if c.n > 0 {
		c.ms[len(c.ms)-1] = strings.Replace(c.ms[len(c.ms)-1], c.end+`}]}`, `}]}`, 1)
	}
	c.n++
	c.now.pass(30 * time.Second)
	text := strings.Repeat(fmt.Sprintf("func loadPart%d(ctx context.Context) error { return errors.New(partMissing%d) }\n", c.n, c.n), 20)
	c.ms = append(c.ms,
		fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"call_%d","name":"Read","input":{"file_path":"/src/part%d.go"}}]}`, c.n, c.n),
		fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%d","content":%s%s}]}`, c.n, quote(text), c.end))
	c.mustSend()
}

// blocks returns what was sent last, as the provider counts it.
func (c *coder) blocks() []cost.Block {
	c.Helper()
	doc, err := wire.ParseAs(wire.Anthropic, c.last.Body)
	if err != nil {
		c.Fatal(err)
	}
	m, _ := catalog().Lookup(c.model)
	return costtest.Lay(doc.Conversation, token.For(m))
}

// marked returns the indexes of those of blocks that carry a marker.
func marked(blocks []cost.Block) (out []int) {
	for i := range blocks {
		if blocks[i].Cache != "" {
			out = append(out, i)
		}
	}
	return out
}

// Every pour but the first changes nothing of what the one before has settled; that must be read from
// the provider's cache and not written again.
func TestAPourReadsWhatItLeavesAlone(t *testing.T) {
	c := newCoder(t, `"system":[{"type":"text","text":"You work."`+marker+`},`+longSystem+marker+`}],`, marker)
	var before []cost.Block
	pours := 0
	enough := testkit.Depth(3, 4)
	for pours < enough && c.n < 200 {
		c.step()
		blocks := c.blocks()
		if n := len(marked(blocks)); n > 4 {
			t.Fatalf("request %d has %d markers", c.n, n)
		}
		if c.last.Report.Reason != "" {
			pours++
			same := 0
			for i := 0; i < len(blocks) && i < len(before) && blocks[i].ID == before[i].ID; i++ {
				same += blocks[i].Tokens
			}
			if read := c.sandbox.Log.Last().Usage.CacheRead; pours > 1 && float64(read) < 0.95*float64(same) {
				t.Errorf("pour %d read %d tokens of the %d that it left alone; markers at %v of %d blocks", pours, read, same, marked(blocks), len(blocks))
			}
		}
		before = blocks
	}
	if pours < enough {
		t.Fatalf("%d pours in %d requests", pours, c.n)
	}
}

func TestMarkersOfOurs(t *testing.T) {
	one := `"system":[{"type":"text","text":"You work."` + marker + `}],`
	for _, tt := range []struct {
		name        string
		system, end string
		lives       []string // of all markers some time after a pour, in order; the sandbox refuses more than four
	}{
		{"OneIsAdded", one, marker, []string{"5m", "5m", "5m"}},
		{"NoneBesideFour", `"system":[{"type":"text","text":"You work."` + marker + `},{"type":"text","text":"Well."` + marker + `},{"type":"text","text":"Fast."` + marker + `}],`, marker, []string{"5m", "5m", "5m", "5m"}},
		{"AsLongAsTheClients", `"system":[{"type":"text","text":"You work."` + hourMarker + `}],`, hourMarker, []string{"1h", "1h", "1h"}},
		{"NotLongerThanTheNext", `"system":[{"type":"text","text":"You work."` + hourMarker + `}],`, marker, []string{"1h", "5m", "5m"}},
		{"WithAMarkerForTheWholeRequest", `"cache_control":{"type":"ephemeral"},` + one, "", []string{"5m", "5m"}},
		{"NoneWhereTheMessagesAreNotCached", one, "", []string{"5m"}},
		{"NoneWhereNothingIsCached", `"system":"You work.",`, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCoder(t, tt.system, tt.end)
			for poured := false; !poured; {
				if c.n > 100 {
					t.Fatal("100 requests without a pour")
				}
				if c.n == testkit.Depth(12, 100) {
					c.now.pass(2 * time.Hour) // nothing is cached any more
				}
				c.step()
				poured = c.last.Report.Reason != ""
				if lives := livesOf(c.blocks()); !poured && len(lives) > len(tt.lives) {
					t.Fatalf("before the pour the markers are %q", lives)
				}
			}
			again := c.prepare() // the same request once more, by an engine that has to read everything
			if string(again.Body) != string(c.last.Body) {
				t.Error("the request of the pour left as other bytes when it was sent again")
			}
			c.step()
			lives := livesOf(c.blocks())
			for range 30 { // until only the marker at the end of what was poured is left of ours
				if slices.Equal(lives, tt.lives) {
					break
				}
				c.step()
				lives = livesOf(c.blocks())
			}
			if !slices.Equal(lives, tt.lives) {
				t.Errorf("31 requests later the markers are %q, want %q", lives, tt.lives)
			}
		})
	}
}

func livesOf(blocks []cost.Block) (out []string) {
	for _, i := range marked(blocks) {
		out = append(out, blocks[i].Cache)
	}
	return out
}

// What is not cached is paid in full with every request: to remove it costs nothing, and no reading is
// lost.
func TestWithoutACachePoursCostNothing(t *testing.T) {
	c := newCoder(t, `"system":"You work.",`, "")
	for c.n < 12 {
		c.step()
	}
	if c.state().Decisions == nil {
		t.Fatal("no pour in 12 requests that cache nothing")
	}
	undo, err := c.engine.Undo(t.Context(), store.Key{ID: c.last.Conversation})
	if err != nil {
		t.Fatal(err)
	}
	if p := undo.Plan.Price; p.CostUSD != 0 || p.CacheLost != 0 || p.SaveUSD >= 0 {
		t.Errorf("to take the pour back has the price %+v where nothing is cached", p)
	}
}
