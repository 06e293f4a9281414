package chat

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/sandbox"
)

// postings returns a file of jobs, of about 10,000 tokens for each thousand lines.
func postings(round, jobs int) string {
	var b strings.Builder
	for i := range jobs {
		n := 100*round + i
		fmt.Fprintf(&b, "Job %d: senior developer. stack %d/10, pay %d/10, url: https://jobs.example/%d\n%s\n\n", n, n%10, (n+3)%10, n*7919,
			strings.Repeat("We are a team that values clear words and short meetings. ", 40))
	}
	return b.String()
}

// One round is left alone. Above the threshold old messages become a record, the first and the
// newest stay, and the two lines are on standard error word for word. The rubric is still known.
func TestAJobSearchIsPoured(t *testing.T) {
	w := newWorld(t, sandbox.Reader{})
	w.file("search-prompt.txt", "Score jobs by this rubric: stack 60%, pay 40%.\n")
	for round := 1; round <= 3; round++ {
		w.file(fmt.Sprintf("round%d.txt", round), postings(round, 12))
	}
	threshold, tail := 16_000, 4
	c := w.chat(Options{Tools: []agent.Tool{reads(w.dir)}, Preset: loop(t, project.Settings{Threshold: &threshold, Tail: &tail})})
	say(t, c, "Execute the job search prompt from search-prompt.txt.")
	say(t, c, "Read round1.txt")
	if c.Meter().Pours > 0 {
		t.Errorf("one round of %d tokens was poured: %s", c.Meter().Size, w.notices.String())
	}
	say(t, c, "Read round2.txt")
	say(t, c, "Read round3.txt")
	say(t, c, "What is the URL of job 301?")
	if c.Meter().Pours == 0 {
		t.Fatal("nothing was poured")
	}
	lines := regexp.MustCompile(`(?m)^  Compaction: estimated ~[\d,]+ tokens, threshold 16,000 — compacting \d+ messages
  Compaction: summarized \d+ messages into ~[\d,]+ tokens, freed ~[\d,]+ estimated tokens$`)
	if !lines.MatchString(w.notices.String()) {
		t.Errorf("standard error:\n%s", w.notices.String())
	}
	if got := say(t, c, "Score job 301 by the rubric."); !strings.Contains(got, "Job 301: ") {
		t.Errorf("the rubric is gone: %s", got)
	}
}

// Where the model that writes records fails, a warning says so, and the conversation goes on.
func TestAFailedSummaryWarns(t *testing.T) {
	w := newWorld(t, reader("https://jobs.example/3175519"))
	for round := 1; round <= 4; round++ {
		w.file(fmt.Sprintf("round%d.txt", round), postings(round, 6))
	}
	_, failing := stand(t, sandbox.MisbehaveHalf.Apply(sandbox.Options{}))
	threshold := 9000
	c := w.chat(Options{Tools: []agent.Tool{reads(w.dir)}, Preset: loop(t, project.Settings{Threshold: &threshold}),
		Account: &provider.Account{Client: failing, Upstream: "http://sandbox", Model: "claude-haiku-4-5"}})
	for round := 1; round <= 4; round++ {
		say(t, c, fmt.Sprintf("Read round%d.txt", round))
	}
	warning := regexp.MustCompile(`(?m)^  Warning: Compaction failed: .+\. Falling back to history trimming\.$`)
	if !warning.MatchString(w.notices.String()) {
		t.Errorf("standard error:\n%s", w.notices.String())
	}
	if got := say(t, c, "What is the URL of job 401?"); got != "I see it." {
		t.Errorf("the conversation does not go on: %s", got)
	}
}

// Without compaction old messages are trimmed, no model is asked, and what only the trimmed text said is gone. With
// it the same conversation still knows.
func TestTheKillSwitch(t *testing.T) {
	for _, on := range []bool{true, false} {
		w := newWorld(t, reader("RX-4711"))
		w.file("rules.txt", strings.Repeat("Filler that says nothing at all. ", 60)+"\nThe rubric code is RX-4711.\n"+strings.Repeat("Filler that says nothing at all. ", 60))
		threshold, tail := 9000, 2
		c := w.chat(Options{Tools: []agent.Tool{reads(w.dir)}, Preset: loop(t, project.Settings{Threshold: &threshold, Tail: &tail, Compaction: &on})})
		say(t, c, "Start.")
		say(t, c, "Read rules.txt")
		for round := 1; round <= 4; round++ {
			w.file(fmt.Sprintf("round%d.txt", round), postings(round, 6))
			say(t, c, fmt.Sprintf("Read round%d.txt", round))
		}
		got := say(t, c, "What is the rubric code?")
		if known := got == "I see it."; known != on || c.Meter().Pours == 0 {
			t.Errorf("CompactionEnabled %v: %q after %d pours", on, got, c.Meter().Pours)
		}
	}
}

// What the project says stands in every request, also after pours, and word for word. The skill's body is not there until it is read.
func TestRulesSurviveEveryPour(t *testing.T) {
	const rule = "RULE-ONE: never write to prod. \"Quoted\" and ünïcode."
	w := newWorld(t, reader("nothing"))
	w.file("AGENTS.md", "Follow @rules.md.")
	w.file("rules.md", rule)
	w.file(".claude/skills/release/SKILL.md", "---\ndescription: How to release.\n---\nTag with SECRET-TAG.")
	threshold, tail := 9000, 2
	c := w.chat(Options{Tools: []agent.Tool{reads(w.dir)}, Preset: loop(t, project.Settings{Threshold: &threshold, Tail: &tail})})
	for round := 1; round <= 6; round++ {
		w.file(fmt.Sprintf("round%d.txt", round), postings(round, 6))
		say(t, c, fmt.Sprintf("Read round%d.txt", round))
	}
	if c.Meter().Pours < 2 {
		t.Fatalf("%d pours, want some", c.Meter().Pours)
	}
	for _, e := range w.server.Log.Entries() {
		var r struct {
			System []struct {
				Text string `json:"text"`
			} `json:"system"`
		}
		if err := json.Unmarshal(e.Body, &r); err != nil {
			t.Fatal(err)
		}
		if len(r.System) == 0 || !strings.Contains(r.System[0].Text, rule) || !strings.Contains(r.System[0].Text, "- release: How to release.") {
			t.Fatalf("request %d lacks the rule: %v", e.Number, r.System)
		}
		if strings.Contains(string(e.Body), "SECRET-TAG") {
			t.Error("the body of a skill was sent before it was read")
		}
	}
}
