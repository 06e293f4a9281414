package deliver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
)

// A run is reported by all measures, under their names.
func TestRunReport(t *testing.T) {
	r := sample("")
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		RunReport map[string]float64 `json:"run_report"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"errors_analyzed": 2, "total_tokens": 30000, "total_tokens_used": 30000, "tokens_per_error": 15000, "cost_per_run": .0123,
		"iterations_per_error": 5.5, "high_confidence": 0, "run_duration_seconds": 2.5} {
		if is, ok := got.RunReport[name]; !ok || is != want {
			t.Errorf("%s is %v, want %v", name, is, want)
		}
	}
}

// A report says what each context layer did, as it was counted, and nothing of one that did nothing.
func TestLayersAreReported(t *testing.T) {
	r := sample("")
	if got := r.Layers(); len(got) != 2 { // a forced answer, and the code cache
		t.Errorf("%q", got)
	}
	f := r.Errors[0].Finding
	f.Usage = decant.Usage{Input: 100, CacheRead: 8000, CacheWrite: 1000, Output: 10}
	f.Work = investigate.Work{Edits: 1, Cleared: 12345, Compactions: 2, Summarised: 30000, Thinking: 4000, Earlier: 1, Prior: 2, Cut: 1, Left: 9000}
	f.Related = 3
	r.On = "budget"
	r.Sum(1, code.Stats{Hits: 3, Misses: 9}, 2.5)
	md := written(t, func(b *bytes.Buffer) error { return r.WriteMarkdown(b) })
	page := written(t, func(b *bytes.Buffer) error { return r.WriteHTML(b) })
	for _, want := range []string{"Prompt cache: 8,000 of 29,100 prompt tokens were read from the provider", "Caps: 1 result was shortened by 9,000 characters.", "Editing: 12,345 tokens", "in 1 edit.",
		"Compaction: 2 summaries were put in the place of 30,000 tokens.", "1 answer was forced.", "Thinking: 4,000 tokens were allowed.", "Cross-error: 1 summary was told of earlier errors of the run; 1 error was explained by one.",
		"Prior: 2 findings were told", "Code cache: 3 of 12 reads", "Only these layers are on: budget."} {
		if !strings.Contains(md, want) || !strings.Contains(page, want) {
			t.Errorf("%q is missing in\n%s", want, md)
		}
	}
}

// The tokens for each error are drawn over the runs, on a page that asks nobody for anything.
func TestHistory(t *testing.T) {
	var all []deliver.Past
	for i := range 4 {
		p := deliver.Past{Run: fmt.Sprintf("r%d<script>", 4-i), Began: reportNoon.AddDate(0, 0, -i), Headline: "3 errors <b>", Totals: deliver.Totals{Investigated: 2, Tokens: 1000 * (4 - i), USD: .5}}
		if i == 2 {
			p.Totals = deliver.Totals{}
		}
		all = append(all, p)
	}
	page := written(t, func(b *bytes.Buffer) error { return deliver.WriteHistory(b, all) })
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var heights []string
	for n := range doc.Descendants() {
		if n.Data == "script" || n.Data == "img" || n.Data == "link" {
			t.Errorf("the page has a %s", n.Data)
		}
		for _, a := range n.Attr {
			if n.Data == "rect" && a.Key == "height" {
				heights = append(heights, a.Val)
			}
			if a.Key == "src" || a.Key == "href" {
				t.Errorf("the page names %s", a.Val)
			}
		}
	}
	if got := strings.Join(heights, " "); got != "45.0 135.0 180.0" { // 500, 1,500 and 2,000 tokens, the oldest first
		t.Errorf("bars of %s", got)
	}
	if !strings.Contains(page, "r4&lt;script&gt;") || !strings.Contains(page, "2,000 tokens for each of 2 errors") {
		t.Errorf("%s", page)
	}
	if page := written(t, func(b *bytes.Buffer) error { return deliver.WriteHistory(b, nil) }); !strings.Contains(page, "There are no runs yet.") || strings.Contains(page, "<svg") {
		t.Errorf("%s", page)
	}
}
