package summary_test

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/summary"
)

var numbered = regexp.MustCompile(`^m(\d+) (.*)`)

// A line of what was said stands under the number of the message that said it. The number is written once for a run of
// lines of the same message.
func TestLinesStandUnderTheNumberOfTheirMessage(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	lines, numbers := 0, 0
	for _, name := range files {
		ms := conversation(t, readArchive(t, name))
		said := map[int]string{}
		for i := range ms {
			said[ms[i].Number] += " " + strings.Join(strings.Fields(ms[i].Text()), " ")
		}
		for _, budget := range []int{400, 1000, 2500, 6000} {
			s, err := summary.Extract(context.Background(), ms, summary.Options{Budget: budget})
			if err != nil {
				t.Fatal(err)
			}
			section, number := "", 0
			for line := range strings.Lines(s.Text) {
				line = strings.TrimRight(line, "\n")
				if title, ok := strings.CutPrefix(line, "# "); ok {
					section, number = title, 0
					continue
				}
				if !slices.Contains([]string{"Conclusions", "Decisions", "Open", "Said by the model"}, section) {
					continue
				}
				if m := numbered.FindStringSubmatch(line); m != nil {
					n, _ := strconv.Atoi(m[1])
					if n == number {
						t.Errorf("%s, %d tokens: m%d is written twice in a row", name, budget, n)
					}
					number, line = n, m[2]
					numbers++
				}
				lines++
				if text := strings.Join(strings.Fields(line), " "); !strings.Contains(said[number], text) {
					t.Errorf("%s, %d tokens, %s: %q stands under m%d, which does not say so", name, budget, section, text, number)
				}
			}
		}
	}
	if lines < 60 || numbers < 20 || numbers == lines {
		t.Errorf("%d lines under %d numbers: too few to tell", lines, numbers)
	}
}
