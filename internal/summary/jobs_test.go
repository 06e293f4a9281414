package summary_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/summary"
)

// days is a conversation of so many jobs, each asked for at length, changed, committed and reported; the last
// one is in hand.
func days(n int) string {
	var b strings.Builder
	for i := range n {
		m := 1 + 20*i
		fmt.Fprintf(&b, "-- m%d user --\nRoute %d needs a limit of its own. %s\n", m, i,
			strings.Repeat(fmt.Sprintf("Customer %d sends far too many requests at night. ", i), 4))
		if i == 0 {
			b.WriteString("Always run the tests before you commit.\n")
		}
		fmt.Fprintf(&b, "-- m%d call e%d Edit --\n{\"file_path\":\"/src/app/route_%d.go\",\"old_string\":\"serve%d(w)\",\"new_string\":\"limited%d(serve%d(w))\"}\n", m+1, i, i, i, i, i)
		fmt.Fprintf(&b, "-- m%d result e%d --\nThe file /src/app/route_%d.go has been updated.\n", m+2, i, i)
		fmt.Fprintf(&b, "-- m%d call t%d Bash --\n{\"command\":\"go test ./app\"}\n-- m%d result t%d --\nok  \tapp\t0.1s, %d routes were checked against their limits\n", m+3, i, m+4, i, i)
		if i == n-1 {
			break
		}
		fmt.Fprintf(&b, "-- m%d call c%d Bash --\n{\"command\":\"git commit -am 'Limit route %d'\"}\n-- m%d result c%d --\n[main abc12%02d] Limit route %d\n 1 file changed\n", m+5, i, i, m+6, i, i, i)
		fmt.Fprintf(&b, "-- m%d model --\nDone: route %d now has a limit of %d requests a minute.\n", m+7, i, 100+i)
	}
	return b.String()
}

// sections returns the parts of a record by their headings.
func sections(text string) map[string]string {
	out := map[string]string{}
	for head, body := range summary.Sections(text) {
		out[head] = body
	}
	return out
}

// Row "continuous, ten sessions in one": of a finished job a record says what was asked and what came of it,
// however many there are, and rules outlive their job.
func TestFinishedJobsShrinkToTheirOutcome(t *testing.T) {
	const n = 12
	text := extract(t, talk(t, days(n)), 1800)
	part := sections(text)
	for i := range n - 2 {
		for _, want := range []string{
			fmt.Sprintf("asked: Route %d needs a limit of its own.", i),
			fmt.Sprintf("commit [main abc12%02d] Limit route %d; Done: route %d now has a limit of %d requests a minute.",
				i, i, i, 100+i),
		} {
			if !strings.Contains(part["Finished"], want) {
				t.Errorf("of job %d it does not say %q:\n%s", i, want, part["Finished"])
			}
		}
	}
	for _, i := range []int{n - 2, n - 1} { // in hand, and the one that people come back to
		want := fmt.Sprintf("Customer %d sends", i)
		if strings.Contains(part["Finished"], want) || !strings.Contains(part["User"], want) {
			t.Errorf("what was said in job %d is not there as it was said:\n%s", i, part["User"])
		}
	}
	if strings.Contains(part["User"], "Customer 4 sends") {
		t.Errorf("what was said in a finished job takes room:\n%s", part["User"])
	}
	if !strings.Contains(text, "Always run the tests before you commit.") {
		t.Errorf("the rule of the first job is gone:\n%s", text)
	}
}

// What came of finished jobs is said once more by a record of the record.
func TestOutcomesOutliveSeveralRecords(t *testing.T) {
	texts := again(t, talk(t, days(12)), 3, 1800)
	for i, text := range texts {
		if got := sections(text)["Finished"]; strings.Count(got, "abc1201] Limit route 1;") != 1 {
			t.Errorf("record %d says of job 1:\n%s", i+1, got)
		}
	}
}

func TestWhatFinishesAJob(t *testing.T) {
	edit := "-- m%d call e%[1]d Edit --\n{\"file_path\":\"/a.go\",\"old_string\":\"b\",\"new_string\":\"c\"}\n-- m%d result e%[1]d --\nThe file /a.go has been updated.\n"
	bash := "-- m%d call b%[1]d Bash --\n{\"command\":\"%s\"}\n-- m%d result b%[1]d --\n%s\n"
	todo := "-- m%d call d%[1]d TodoWrite --\n{\"todos\":[{\"content\":\"One\",\"status\":\"%s\"}]}\n-- m%d result d%[1]d --\nTodos have been modified\n"
	tests := []struct {
		name     string
		work     func(m int) string
		finished bool
	}{
		{"a commit", func(m int) string {
			return fmt.Sprintf(edit, m, m+1) + fmt.Sprintf(bash, m+2, "git commit -am x", m+3, "[main abc1234] x")
		}, true},
		{"a merged pull request", func(m int) string {
			return fmt.Sprintf(edit, m, m+1) + fmt.Sprintf(bash, m+2, "gh pr merge 12", m+3, "Merged")
		}, true},
		{
			"a plan that is done",
			func(m int) string { return fmt.Sprintf(edit, m, m+1) + fmt.Sprintf(todo, m+2, "completed", m+3) },
			true,
		},
		{
			"a plan that is not",
			func(m int) string { return fmt.Sprintf(edit, m, m+1) + fmt.Sprintf(todo, m+2, "in_progress", m+3) },
			false,
		},
		{"a change alone", func(m int) string { return fmt.Sprintf(edit, m, m+1) }, false},
		{"a commit and another change", func(m int) string {
			return fmt.Sprintf(bash, m, "git commit -am x", m+1, "[main abc1234] x") + fmt.Sprintf(edit, m+2, m+3)
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			for i := range 4 {
				fmt.Fprintf(&b, "-- m%d user --\nNow look after part %d of the program, which is slow.\n", 1+10*i, i)
				b.WriteString(tt.work(2 + 10*i))
			}
			text := extract(t, talk(t, b.String()), 500)
			if got := strings.Contains(text, "# Finished"); got != tt.finished {
				t.Errorf("finished: %v\n%s", got, text)
			}
		})
	}
}
