package report_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/replay"
	"github.com/decantdev/decant/internal/report"
)

// result is what a policy might have made of a session.
func result(policy string, usd float64, change func(*replay.Result)) replay.Result {
	r := replay.Result{
		Policy: policy, Requests: 20, Usage: decant.Usage{CacheRead: 900_000, CacheWrite: 100_000, Output: 5000}, USD: usd, Modelled: usd, Units: usd * 1e5,
		Peak: 90_000, Gold: 500, Kept: 492, Grounded: 450, Facts: 50, AtRisk: 5,
		Series: []replay.Point{{Message: 2, Prompt: 40_000, USD: usd / 2}, {Message: 4, Prompt: 90_000, USD: usd / 2}},
	}
	if change != nil {
		change(&r)
	}
	return r
}

// playedSession is a session that was paid for, played through three policies.
func playedSession(name string) *replay.Session {
	return &replay.Session{
		Name: "sessions/" + name, Model: "claude-opus-4-6", Window: 80_000, Lifetime: "1h", LifetimeBy: replay.Recorded,
		Recorded: &replay.Against{Paid: cost.Paid{Requests: 20, USD: 14.20}, Requests: 20, PaidUSD: 12.00, Modelled: 12.36, Error: 0.03},
		Results: []replay.Result{
			result("client", 14.20, func(r *replay.Result) { r.Modelled = 14.00 }),
			result("none", 16.00, func(r *replay.Result) { r.Burst, r.FirstBurst, r.FirstBurstAt = 3, 18, 37 }),
			result("default", 11.62, func(r *replay.Result) {
				r.Paid, r.Decisions, r.Later, r.LaterKept, r.LaterGrounded = 1, 1, 100, 90, 75
				r.Series[1].Pour = "paid"
				r.Log = []replay.Entry{{Request: 2, At: time.Now(), Pour: "paid", Kind: decant.Stub, Reduction: decant.ReductionOutline, Reason: "old result of Read", Message: 3, About: "Read a<b>.go", Before: 900, After: 90}}
			}),
		},
	}
}

// A report opens with what it comes to, in words.
func TestVerdict(t *testing.T) {
	tests := []struct {
		name   string
		change func(*replay.Session)
		want   string
	}{
		{"Saved", nil, `Decant would have saved $2.41 of the $14.20 that was paid (17%). 0.984 of what the agent wrote next was still in view, 0.900 with its context; 10% of the must-keep facts were not in the last view.`},
		{"CostMore", func(s *replay.Session) { s.Results[2].Modelled = 15.40 }, `Decant would have cost $1.42 more than the $14.20 that was paid (10%). 0.984`},
		{"NothingRecorded", func(s *replay.Session) { s.Recorded = nil }, `Decant would have saved $2.41 of the $14.20 that "client" costs (17%).`},
		{"WithoutPrices", func(s *replay.Session) { s.Results[2].Unpriced, s.Results[2].Units = true, 10.65e5 }, `Decant would have saved 25% of the cost.`},
		{"AnotherPreset", func(s *replay.Session) { s.Results[2].Policy = "chat" }, `Decant (chat) would have saved $2.41`},
		{"NothingAtRisk", func(s *replay.Session) { s.Results[2].AtRisk = 0 }, `with its context; all must-keep facts were in the last view.`},
		{"RulesBroken", func(s *replay.Session) { s.Results[2].Illegal = 1 }, `not in the last view; it broke 1 rule of the API.`},
		{"NothingOfDecants", func(s *replay.Session) { s.Results = s.Results[:2] }, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := playedSession("a.jsonl")
			if tt.change != nil {
				tt.change(s)
			}
			got := report.NewReplay([]*replay.Session{s}).Verdict
			if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestReplayText(t *testing.T) {
	var b bytes.Buffer
	r := report.NewReplay([]*replay.Session{playedSession("a.jsonl"), playedSession("b.jsonl")})
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if !strings.HasPrefix(got, "Decant would have saved $4.83 of the $28.40 that was paid (17%).") {
		t.Errorf("it does not begin with the verdict:\n%s", got)
	}
	for _, want := range []string{
		`(?m)^policy .* cost .* illegal +recall +grounded +later +at risk$`,
		`(?m)^client .* 28\.40  1\.000 .* -      10%$`,
		`(?m)^none .* 32\.00  1\.143 `,
		`(?m)^default .* 23\.24  0\.830 .* 0\.750      10%$`,
		`(?m)^session +requests +cache +paid +model +error +over from +default$`,
		`(?m)^a\.jsonl +20 +1h +12\.00 +12\.36 +\+3\.0% +18 \(m37\) +0\.830$`,
		`off by 3\.0% on\s+average, 3\.0% at the\s+median`,
		`lifetime of cache entries: 1h \(recorded\)`,
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for line := range strings.Lines(got) {
		if n := len([]rune(line)); n > 132 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// Joined recordings are held against what they cost apart: no model takes them whole in one conversation.
func TestReplayOfJoinedRecordings(t *testing.T) {
	s := playedSession("a.jsonl and 2 more")
	s.Recorded, s.Joined = nil, &replay.Joined{Recordings: []string{"a.jsonl", "b.jsonl", "c.jsonl"}, ApartUSD: 2 * s.Results[2].Modelled, Grounded: []float64{1, 1, 0.9}}
	var b bytes.Buffer
	if err := report.NewReplay([]*replay.Session{s}).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"note: 3 recordings, one after the other, as one conversation", `"default" comes to 0.500 of that.`, `"default" has 0.900.`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "no usage that says what was paid") {
		t.Error("it says that sizes are mere estimates")
	}
}

func TestReplayPage(t *testing.T) {
	var b bytes.Buffer
	r := report.NewReplay([]*replay.Session{playedSession("a.jsonl"), playedSession("b.jsonl")})
	r.Skipped = []string{"c.jsonl: no conversation with two requests"}
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	verdict, table := strings.Index(got, "Decant would have saved $4.83"), strings.Index(got, "<table>")
	if verdict < 0 || verdict > table {
		t.Error("the verdict does not stand before the tables")
	}
	for _, want := range []string{
		`<a href="#s1">a.jsonl</a>`, `<h2 id="s2">b.jsonl</h2>`, `3, first request 18 (m37)`, `Read a&lt;b&gt;.go`, `<title>default: pour (paid) at request 2, m4</title>`,
		`&#43;3.0%`, `left out: c.jsonl`, `@media (max-width: 560px)`, `the table scrolls to the right`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	for _, bad := range []string{"http://", "https://", "<script", "%!"} {
		if strings.Contains(got, bad) {
			t.Errorf("%s in the page", bad)
		}
	}
}

// Policies changed their colours when another was present.
func TestPoliciesKeepTheirColours(t *testing.T) {
	class := func(ss ...string) string {
		s := playedSession("a.jsonl")
		s.Results = nil
		for _, name := range ss {
			s.Results = append(s.Results, result(name, 1, nil))
		}
		var b bytes.Buffer
		if err := report.NewReplay([]*replay.Session{s}).WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`class="line (c\d)"[^>]*/></svg>default<`).FindStringSubmatch(b.String())
		if m == nil {
			t.Fatal("the policy has no colour")
		}
		return m[1]
	}
	a, b, c := class("none", "default"), class("client", "none", "trim", "default"), class("mine.yaml", "yours.yaml", "default")
	if a != b || b != c {
		t.Errorf("%s, %s and %s", a, b, c)
	}
}

func TestReplayJSON(t *testing.T) {
	r := report.NewReplay([]*replay.Session{playedSession("a.jsonl")})
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"verdict":"Decant would`, `"model_error":{"sessions":1`, `"recorded":{"requests":20`, `"cache_lifetime":"1h"`, `"later_grounded":75`} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("no %s in %s", want, data)
		}
	}
}
