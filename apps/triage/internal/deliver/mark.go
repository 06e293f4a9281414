package deliver

import (
	"fmt"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A mark is what stands at the end of what we write on GitHub, unseen: which error it is about, by whose finding.
type mark struct {
	key        string // of the error
	run        string
	number     string // of the error in the run
	confidence string
}

// markForm matches a mark.
var markForm = lazyregexp.New(`<!-- decant-triage: error=([\w.:-]+) run=([\w.-]+)#(\d+) confidence=(\w+) -->`)

// markOf returns the mark of an error of a run.
func markOf(rep *Report, e *ReportedError) mark {
	m := mark{key: e.Key, run: rep.Run, number: fmt.Sprint(e.Number), confidence: "none"}
	if e.Finding != nil {
		m.confidence = string(e.Finding.Confidence)
	}
	return m
}

func (m mark) String() string {
	return fmt.Sprintf("<!-- decant-triage: error=%s run=%s#%s confidence=%s -->", m.key, m.run, m.number, m.confidence)
}

// readMark returns the last mark of a text: ours is at its end, and what stands before may be quoted.
func readMark(text string) (mark, bool) {
	all := markForm.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return mark{}, false
	}
	m := all[len(all)-1]
	return mark{key: m[1], run: m[2], number: m[3], confidence: m[4]}, true
}

// unmarked returns a text in which nothing looks like a mark.
func unmarked(text string) string {
	return strings.ReplaceAll(text, "<!-- decant-triage", "<!- decant-triage")
}
