package reduce

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// firstError goes before the error line that a stub quotes.
const firstError = "first error: "

// heading says what was called on what and how big its result was.
func (r *result) heading() string {
	text := tool.Body(r.read())
	size := fmt.Sprintf(" (%s)", amount(strings.Count(strings.TrimRight(text, "\n"), "\n")+1, "line"))
	if strings.TrimSpace(text) == "" {
		size = " (no output)"
	}
	return "[Old result of " + toolName(r) + r.subject() + size
}

func toolName(r *result) string {
	if r.call.Name == "" {
		return "a tool"
	}
	return r.call.Name
}

// subject says what a call was about, as short as it can be recognised.
func (r *result) subject() string {
	c := &r.call
	switch {
	case c.Class == tool.Shell && c.Command != "":
		return " `" + oneLine(r.mask(c.Command), 90) + "`"
	case c.Class == tool.Search && c.Query != "":
		return where(" "+strconv.Quote(oneLine(r.mask(c.Query), 60)), c.Path)
	case c.URL != "":
		return " " + oneLine(r.mask(c.URL), 100)
	case c.Path != "":
		return " " + shortPath(c.Path) + lineRange(c)
	case c.Query != "":
		return " " + strconv.Quote(oneLine(r.mask(c.Query), 60))
	}
	return ""
}

func where(what, p string) string {
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
func (r *result) ending() string {
	o := tool.OutcomeOf(r.call, r.masked(), r.block.Error)
	var out []string
	switch {
	case o.Status == tool.Started:
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
	for _, h := range r.call.Handles(r.masked(), &o) { // it cannot be reached without its name
		switch h.Kind {
		case tool.Running:
			out = append(out, h.ID+" still runs")
		case tool.Output:
			out = append(out, "whole output in "+h.ID)
		default:
			out = append(out, "made "+h.ID)
		}
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
func (r *result) beginning() string {
	if r.block.Error || r.call.Test || r.call.Effect != tool.Shell && r.call.Effect != tool.Other && r.call.Effect != tool.Agent && r.call.Effect != tool.Web {
		return ""
	}
	for line := range strings.Lines(tool.Body(r.masked())) {
		if len(line) > 8 && strings.ContainsAny(line, "abcdefghijklmnopqrstuvwxyz") {
			return "; begins: " + oneLine(line, 80)
		}
	}
	return ""
}

// finish closes a stub and says how to get the original back: by running the call again, or by its handle
// where the agent has the tool for that.
func finish(line string, r *result, expand string) string {
	line += again(&r.call)
	if expand != "" {
		handle := decant.HandleOf(decant.HashText(r.shown()))
		if r.shrunk != nil {
			handle = r.shrunk.Handle
		}
		line += ". Original: " + expand + " " + string(handle)
	}
	return line + "]"
}

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
