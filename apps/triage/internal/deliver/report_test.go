package deliver_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
)

var reportNoon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// sample returns a report with an error that is explained, one that is not, and one that was left.
func sample(text string) *deliver.Report {
	kase := func(n int, state string) investigate.Case {
		return investigate.Case{Number: n, Class: "KeyError", Transaction: "POST /order" + text, Message: "'sku'" + text, State: state, Count: 1200, Last: reportNoon, Release: "v2"}
	}
	known := &investigate.Finding{Number: 1, Iterations: 4, Limit: 7, Calls: 3, USD: 0.0123, Usage: decant.Usage{Input: 9000, Output: 400}}
	known.State, known.Confidence, known.Said = investigate.RootCause, investigate.Medium, investigate.High
	known.Cause, known.Fix, known.Next = "The key sku is read as if it were always there."+text, "say what happens without it"+text, []string{"look at the import" + text}
	known.Evidence = []investigate.Evidence{{Repo: "acme/shop", SHA: strings.Repeat("a", 40), Path: "shop/order.py", Line: 12, Text: "    return o['sku']" + text, Says: "no check" + text}}
	known.Struck = []investigate.Struck{{Suspect: &investigate.Suspect{SHA: "fffffff"}, Why: "no tool has shown what this commit changes"}}
	lead := &investigate.Finding{Number: 2, Iterations: 7, Limit: 7, Forced: true, Usage: decant.Usage{Input: 20000, Output: 600}}
	lead.State, lead.Confidence, lead.Cause = investigate.Inconclusive, investigate.Low, "It fails at line 4."+text
	r := &deliver.Report{Run: "r1", Began: reportNoon, Ended: reportNoon, Since: reportNoon.Add(-24 * time.Hour), Until: reportNoon, Sources: []string{"a.jsonl"}, Model: "m", Notices: []string{"Sentry could not be asked" + text}, Errors: []deliver.ReportedError{
		{Case: kase(1, "new"), Finding: known, Trial: &deliver.Trial{Why: "It is no pull request: the tests fail with it.", Printed: "FAIL sum_test.go" + text}, Owner: "@acme/shop" + text, Links: []string{"https://github.com/acme/shop/blob/aaa/shop/order.py#L12"}}, {Case: kase(2, "regressed"), Finding: lead},
		{Case: kase(0, "known"), Left: "nothing has changed" + text}}}
	r.Sum(1234, code.Stats{Hits: 3, Misses: 9}, 2.5)
	return r
}

func written(t *testing.T, write func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	r := sample("")
	got := written(t, func(b *bytes.Buffer) error { return r.WriteMarkdown(b) })
	for _, want := range []string{
		"# Triage of 2026-05-01 12:00\n\n3 errors, 2 investigated: the cause of 1 is known, 0 with high confidence.\n",
		"## 1. new: KeyError in POST /order\n\n1,200 times, last 2026-05-01 12:00, release v2\n\n```\n'sku'\n```\n",
		"**Cause, medium confidence (the agent said high).** The key sku is read",
		"[`shop/order.py:12`](<https://github.com/acme/shop/blob/aaa/shop/order.py#L12>): no check\n```\n    return o['sku']\n```\n",
		"- Struck, since nothing had shown it: commit fffffff (no tool has", "- Owner: \\@acme/shop\n", "- Used: 9,400 tokens, $0.0123, 4 of 7 answers, 3 calls\n",
		"**Inconclusive; the strongest lead.** It fails at line 4.", "the limit of answers was reached, and the answer had to be given",
		"\n\nThe patch. It is no pull request: the tests fail with it.\n\n```\nFAIL sum_test.go\n```\n",
		"## Not investigated\n\n- known: KeyError in POST /order, 1,200 times: nothing has changed\n",
		"30,000 tokens, $0.01: 15,000 tokens and 5.5 answers of the model for each error, in 2.5 s. Code was read 12 times, 25% of that from the cache. Run `r1`.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// What each layer saves is in the report: without it, with only it, and what they save together. The figures: five prompts of 2,000 tokens
// of which 6,000 were read from the cache and 3,000 were written to it, and results that have lost 500 tokens before the third prompt.
// What programs have printed about a patch is in the report, as Markdown and as a page, and not in what it says for an issue.
func TestTheTrialOfAPatchIsNotSent(t *testing.T) {
	r := sample("")
	if page := written(t, func(b *bytes.Buffer) error { return r.WriteHTML(b) }); !strings.Contains(page, "<pre>FAIL sum_test.go</pre>") {
		t.Errorf("it is not on the page:\n%s", page)
	}
	if body := r.Errors[0].Body(); strings.Contains(body, "FAIL") || !strings.Contains(body, "The key sku") {
		t.Errorf("an issue has\n%s", body)
	}
}

func TestBill(t *testing.T) {
	r := sample("")
	if got := written(t, func(b *bytes.Buffer) error { return r.WriteMarkdown(b) }); strings.Contains(got, "with only it") {
		t.Errorf("no layer has done anything, and the report has a bill:\n%s", got)
	}
	f := r.Errors[0].Finding
	f.Usage, r.Errors[1].Finding.Usage = decant.Usage{Input: 1000, CacheRead: 6000, CacheWrite: 3000}, decant.Usage{}
	f.Work.Effects.Caps = investigate.Effect{Tokens: 1500, New: 500}
	r.Sum(1234, code.Stats{}, 2.5)
	const on = 1000 + 600 + 3750     // as it was
	const off = 10_000 + 1500        // neither the cache nor caps
	const onlyCache = on + 625 + 100 // what is long comes once, and is read twice
	const onlyCaps = 10_000          // caps, and no cache
	const remainder = (off - on) - (off - onlyCache) - (off - onlyCaps)
	for _, want := range []string{
		"| prompt-cache | 10,000 | 6,075 |\n", "| caps | 6,075 | 10,000 |\n", "| remainder | | -775 |\n", "As it was 5,350; without these layers 11,500.", "does not show in one run",
	} {
		if got := written(t, func(b *bytes.Buffer) error { return r.WriteMarkdown(b) }); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if remainder != -775 || onlyCache != 6075 || on != 5350 || off != 11_500 {
		t.Errorf("remainder %d, with the cache %d", remainder, onlyCache)
	}
	if got := written(t, func(b *bytes.Buffer) error { return r.WriteHTML(b) }); !strings.Contains(got, "<tr><td>caps<td>6,075<td>10,000") || !strings.Contains(got, "<td>remainder<td><td>-775") {
		t.Errorf("the page has another bill:\n%s", got)
	}
}

// Whatever an error, a file or a model says is text: no markup, no mention, no link, no script, in no form of the report.
func TestHostileTextsInReports(t *testing.T) {
	evil := " <script>alert(1)</script> [x](javascript:alert(1)) ![i](http://evil.example/i.png) @everyone #1 ```\n# Heading\n~~~\n<img src=x onerror=alert(1)> \x1b[31m"
	r := sample(evil)
	md := written(t, func(b *bytes.Buffer) error { return r.WriteMarkdown(b) })
	inFence := ""
	for l := range strings.Lines(md) {
		l = strings.TrimRight(l, "\n")
		if mark := strings.TrimLeft(l, "`"); mark == "" && len(l) >= 3 {
			switch {
			case inFence == "":
				inFence = l
			case inFence == l:
				inFence = ""
			}
			continue
		}
		if inFence != "" {
			continue
		}
		for _, bad := range []string{" <", "[x](", "![i](", " @everyone", "\n#1"} {
			if strings.Contains(l, bad) {
				t.Errorf("markup %q in %q", bad, l)
			}
		}
	}
	if inFence != "" {
		t.Error("a fence is open at the end")
	}
	page := written(t, func(b *bytes.Buffer) error { return r.WriteHTML(b) })
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page, "%!") {
		t.Error("a value does not fit its verb")
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" || n.Data == "img" {
			t.Errorf("the page has a %s", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "href" && !strings.HasPrefix(a.Val, "https://github.com/") {
				t.Errorf("the page has %s=%q", a.Key, a.Val)
			}
		}
	}
	var back deliver.Report
	if data, err := json.Marshal(r); err != nil || json.Unmarshal(data, &back) != nil || back.Errors[0].Finding.Cause != r.Errors[0].Finding.Cause {
		t.Errorf("JSON does not hold it: %v", err)
	}
}

// A run that finds nothing says so.
func TestNothing(t *testing.T) {
	r := &deliver.Report{Run: "r1", Since: reportNoon.Add(-24 * time.Hour), Until: reportNoon}
	r.Sum(0, code.Stats{}, 0)
	for _, got := range []string{written(t, func(b *bytes.Buffer) error { return r.WriteMarkdown(b) }), written(t, func(b *bytes.Buffer) error { return r.WriteHTML(b) })} {
		if !strings.Contains(got, "No errors from 2026-04-30 12:00 to 2026-05-01 12:00.") || !strings.Contains(got, "Nothing was sent to a model.") {
			t.Errorf("%s", got)
		}
	}
}
