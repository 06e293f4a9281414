package reduce

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/figure"
	"github.com/decantdev/decant/internal/tool"
)

// The parts of a stub, in tokens.
const (
	maxHeading = 40  // what was called, how it ended, how big it was
	maxNames   = 120 // names worth keeping
)

// firstError goes before the error line that a stub quotes.
const firstError = "first error: "

// minStub is the size in tokens under which a result is not worth a stub.
const minStub = 60

// Stub proposes one informative line for every old result: what was called, on what, how it ended,
// how big the result was, the names in it that the agent is most likely to need, and how to get
// it back. The newest results are looked at first, so that a name stands in the stub nearest to
// where the agent is and not in every older one again.
func Stub(s *Subject) []decant.Decision {
	var out []decant.Decision
	for r := range s.newestFirst() {
		if !r.closed || r.size() < minStub || s.outlined(r) {
			continue
		}
		line, n := s.heading(r)+s.ending(r), s.opts.Counter.Count(r.shown())
		// Names take a third at most, so that what is worth a stub depends on the result alone.
		if n < minStub || s.opts.Counter.Count(line) > n/2 {
			continue
		}
		if d, ok := s.stub(r, line, n); ok {
			out = append(out, d)
		}
	}
	reverse(out)
	return out
}

// stub replaces r, which has n tokens, by a line, or by an outline where the options ask for one.
func (s *Subject) stub(r *result, line string, n int) (decant.Decision, bool) {
	reason := "old result of " + toolName(r)
	if s.opts.Quote.on() {
		return s.replace(r, decant.Shrink, s.quotedStub(r, line, n), decant.ReductionOutline, reason)
	}
	return s.replace(r, decant.Stub, s.stubLine(r, line, n, min(maxNames, n/3)), decant.ReductionStub, reason)
}

// outlined reports whether r is the outline that it would become.
func (s *Subject) outlined(r *result) bool {
	return s.opts.Quote.on() && r.shrunk != nil && r.shrunk.Reduction == decant.ReductionOutline
}

// stubLine completes the stub of r, which has n tokens, with at most room tokens of what is in it, beside the
// names that must stay.
func (s *Subject) stubLine(r *result, line string, n, room int) string {
	if begin := s.beginning(r); begin != "" && !strings.Contains(line, firstError) {
		line += begin
		room -= s.opts.Counter.Count(begin)
	}
	return finish(line+s.namesClause(r, line, n, room), r)
}

// heading says what was called on what and how big its result was.
func (s *Subject) heading(r *result) string {
	text := tool.Body(r.read())
	size := fmt.Sprintf(" (%s)", amount(strings.Count(strings.TrimRight(text, "\n"), "\n")+1, "line"))
	if strings.TrimSpace(text) == "" {
		size = " (no output)"
	}
	return "[Old result of " + toolName(r) + s.subject(r) + size
}

func toolName(r *result) string {
	if r.call.Name == "" {
		return "a tool"
	}
	return r.call.Name
}

// subject says what a call was about, as short as it can be recognised.
func (s *Subject) subject(r *result) string {
	c := &r.call
	switch {
	case c.Class == tool.Shell && c.Command != "":
		return " `" + oneLine(s.mask(c.Command), 90) + "`"
	case c.Class == tool.Search && c.Query != "":
		return s.where(" "+strconv.Quote(oneLine(s.mask(c.Query), 60)), c.Path)
	case c.URL != "":
		return " " + oneLine(s.mask(c.URL), 100)
	case c.Path != "":
		return " " + shortPath(c.Path) + lineRange(c)
	case c.Query != "":
		return " " + strconv.Quote(oneLine(s.mask(c.Query), 60))
	}
	return ""
}

func (s *Subject) where(what, p string) string {
	if p == "" {
		return what
	}
	return what + " in " + shortPath(p)
}

// shortPath keeps the end of a long path, which is what tells it from others; the call above the
// result has all of it.
func shortPath(p string) string {
	if len(p) <= 60 {
		return p
	}
	for i := len(p) - 60; i < len(p); i++ {
		if p[i] == '/' {
			return "…" + p[i:]
		}
	}
	return "…" + p[strings.LastIndexByte(p, '/')+1:]
}

func lineRange(c *tool.Call) string {
	switch {
	case c.First == 0 && c.Last == 0:
		return ""
	case c.First < 0:
		return fmt.Sprintf(" last %d lines", -c.First)
	case c.Last == 0:
		return fmt.Sprintf(" from line %d", c.First)
	}
	return fmt.Sprintf(" lines %d-%d", max(c.First, 1), c.Last)
}

// ending says how a call ended: exit status, tests, matches, the first error line.
func (s *Subject) ending(r *result) string {
	o := tool.OutcomeOf(r.call, s.masked(r), r.block.Error)
	var out []string
	switch {
	case o.Running:
		out = append(out, "still running")
	case o.HasExit && (o.Exit != 0 || r.call.Test || r.call.Effect == tool.Shell):
		out = append(out, "exit "+strconv.Itoa(o.Exit))
	case r.block.Error:
		out = append(out, "failed")
	}
	if o.Passed > 0 {
		out = append(out, fmt.Sprintf("%d passed", o.Passed))
	}
	if o.Passed > 0 || o.Failed > 0 {
		out = append(out, fmt.Sprintf("%d failed", o.Failed))
	}
	if r.call.Effect == tool.Search && o.Matches > 0 && !o.HasExit {
		out = append(out, amount(o.Matches, "match"))
	}
	if len(o.Failing) > 0 {
		out = append(out, "failing: "+oneLine(strings.Join(o.Failing, ", "), 200))
	}
	if o.FirstError != "" {
		out = append(out, firstError+oneLine(o.FirstError, 160))
	}
	if len(out) == 0 {
		return ""
	}
	return ", " + strings.Join(out, "; ")
}

// beginning quotes the first line of a result that is neither a file nor a list of hits: what a
// command or another agent said first is usually what it was about.
func (s *Subject) beginning(r *result) string {
	if r.block.Error || r.call.Test || r.call.Effect != tool.Shell && r.call.Effect != tool.Other && r.call.Effect != tool.Agent && r.call.Effect != tool.Web {
		return ""
	}
	for line := range strings.Lines(tool.Body(s.masked(r))) {
		if len(line) > 8 && strings.ContainsAny(line, "abcdefghijklmnopqrstuvwxyz") {
			return "; begins: " + oneLine(line, 80)
		}
	}
	return ""
}

// finish closes a stub and says how to get the original back.
func finish(line string, r *result) string { return line + again(&r.call) + "]" }

// again says how the agent gets an old result again. A command that may have changed
// something is not to be repeated lightly.
func again(c *tool.Call) string {
	reads := c.Effect == tool.Read || c.Effect == tool.Search
	switch {
	case reads && c.Class == tool.Shell:
		return ". Run it again if needed"
	case c.Effect == tool.Read:
		return ". Read it again if needed"
	case c.Effect == tool.Search:
		return ". Search again if needed"
	}
	return ""
}

// amount counts things in words.
func amount(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "ch") {
		thing += "e"
	}
	return figure.Thousands(n) + " " + thing + "s"
}

// oneLine puts text on one line of at most n bytes, cut at a rune.
func oneLine(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= n {
		return text
	}
	return text[:runeStart(text, n)] + "…"
}

// runeStart returns the largest boundary of runes in s that is not behind n.
func runeStart(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return n
}
