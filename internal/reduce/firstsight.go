package reduce

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// FirstSight proposes what may happen to the results of the open round, which arrive for the first
// time: control sequences and overwritten progress lines go, and what is very long is cut as t
// says, unless t is off. A fresh read of a source file is never cut: the agent is about to edit it.
func FirstSight(s *Subject, t Trimming) []decant.Decision {
	t = t.defaults()
	var out []decant.Decision
	for r := range s.each() {
		if !r.fresh {
			continue
		}
		text, reduction := t.first(r)
		if d, ok := s.replace(r, decant.Shrink, text, reduction, "new result of "+toolName(r)); ok {
			out = append(out, d)
		}
	}
	return out
}

// first returns what of r is shown at first sight and which reduction made it so.
func (t Trimming) first(r *result) (text string, reduction decant.Reduction) {
	whole := clean(r.read())
	if t.Off || readsSource(&r.call) {
		return whole, decant.ReductionTerminal
	}
	if text = t.cut(whole); len(text) < len(whole) {
		return text, decant.ReductionFirstSight
	}
	return whole, decant.ReductionTerminal
}

// readsSource reports whether a call shows a file that somebody may edit: any file but data and logs.
func readsSource(c *tool.Call) bool {
	if c.Effect != tool.Read {
		return false
	}
	for _, f := range c.Files {
		if !isData(f.Path) {
			return true
		}
	}
	return len(c.Files) == 0
}

func isData(p string) bool {
	for _, end := range [...]string{".log", ".jsonl", ".ndjson", ".csv", ".tsv", ".lock", ".map", ".min.js",
		".min.css", ".svg", ".out", ".output", "package-lock.json", "go.sum"} {
		if strings.HasSuffix(p, end) {
			return true
		}
	}
	return false
}
