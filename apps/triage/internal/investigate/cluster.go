package investigate

import (
	"fmt"
	"slices"
	"strings"
)

// A Summary is what later investigations of a run are told of an earlier one.
type Summary struct {
	Number int
	Name   string   // of the case: Case.Name
	Cause  string   // in full
	Files  []string // that were examined
}

// How much of earlier investigations is told.
const (
	mostEarlier = 4   // summaries, the newest ones
	mostCause   = 200 // characters of a cause
	mostFiles   = 3
)

// String returns the summary as a line.
func (s Summary) String() string {
	return fmt.Sprintf("Error #%d: %s — Root cause: %s. Files examined: %s", s.Number, s.Name, cut(strings.TrimRight(s.Cause, ". \n"), mostCause),
		strings.Join(s.Files[:min(len(s.Files), mostFiles)], ", "))
}

// cut returns the first characters of a text, on one line.
func cut(text string, most int) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	return string(r[:min(len(r), most)])
}

// told returns what an investigation is told of earlier ones: the newest few, none twice.
func told(earlier []Summary) string {
	var lines []string
	for i := len(earlier) - 1; i >= 0 && len(lines) < mostEarlier; i-- {
		if l := earlier[i].String(); !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	slices.Reverse(lines)
	return "\n## Previously Analyzed Errors This Run\n" + quote("- "+strings.Join(lines, "\n- ")) +
		"\nIf this error is related to a previous one, reference it. Don't re-investigate files you've already analyzed.\n"
}

// Clusters returns the cases that are alike together: those that share a transaction, or a file of the program's own code near the top of their
// call stacks. Both the clusters and the cases within them keep their order. What is alike is investigated one after the other, so that a
// later investigation is told what an earlier one has found; clusters are independent of each other.
func Clusters(cases []Case) [][]Case {
	group := make([]int, len(cases)) // of each case, the first one that it is alike, over others
	first := map[string]int{}
	find := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	for i := range cases {
		group[i] = i
		for _, k := range likeness(&cases[i]) {
			j, known := first[k]
			if !known {
				first[k] = i
				continue
			}
			a, b := find(i), find(j)
			group[max(a, b)] = min(a, b)
		}
	}
	var out [][]Case
	at := map[int]int{}
	for i := range cases {
		r := find(i)
		if _, ok := at[r]; !ok {
			at[r] = len(out)
			out = append(out, nil)
		}
		out[at[r]] = append(out[at[r]], cases[i])
	}
	return out
}

// nearTop is how many frames of the program's own code say what an error is about.
const nearTop = 2

// likeness returns what cases that are alike have in common.
func likeness(c *Case) (keys []string) {
	if c.Transaction != "" {
		keys = append(keys, "transaction "+c.Service+" "+c.Transaction)
	}
	n := 0
	for _, f := range c.Frames {
		if !f.InApp || f.File == "" {
			continue
		}
		keys = append(keys, "file "+c.Service+" "+f.File)
		if n++; n == nearTop {
			break
		}
	}
	return keys
}
