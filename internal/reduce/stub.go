package reduce

import (
	"slices"
	"strings"

	"github.com/decantdev/decant"
)

// minStub is the size in tokens under which a result is not worth a stub.
const minStub = 60

// Stub proposes one informative line for every old result: what was called, on what, how it ended, how big
// the result was, the names in it that the agent is most likely to need, and how to get it back. The newest
// results come first, so that a name is in the stub nearest to where the agent is and not in every older one
// again.
func Stub(s *Subject) []decant.Decision {
	var out []decant.Decision
	for r := range s.newestFirst() {
		if !r.closed || r.size() < minStub || s.outlined(r) {
			continue
		}
		line, n := r.heading()+r.ending(), s.opts.Counter.Count(r.shown())
		// Names take a third at most, so that what is worth a stub depends on the result alone.
		if n < minStub || s.opts.Counter.Count(line) > n/2 {
			continue
		}
		if d, ok := s.stub(r, line, n); ok {
			out = append(out, d)
		}
	}
	slices.Reverse(out)
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
	if begin := r.beginning(); begin != "" && !strings.Contains(line, firstError) {
		line += begin
		room -= s.opts.Counter.Count(begin)
	}
	return finish(line+s.namesClause(r, line, n, room), r, s.expand)
}

// namesClause lists the names of r, which has n tokens, that are worth keeping and not in the line
// already, in at most limit tokens beside those that must stay; empty when there are none.
func (s *Subject) namesClause(r *result, line string, n, limit int) string {
	names := collect(r.masked())
	delete(names, r.call.Path)
	delete(names, r.call.URL)
	eachName(line, func(t string, _ kind, _ int) { delete(names, t) })
	x := s.names()
	return x.list(x.choose(x.weigh(names, 0), n, limit))
}

// quotedStub completes the stub of r, which has n tokens, with its most telling lines.
func (s *Subject) quotedStub(r *result, line string, n int) string {
	quoted := s.names().outline(&whole{text: r.masked(), tokens: n, heading: line, call: &r.call}, s.opts.Quote)
	if quoted == "" {
		_, names := s.opts.Quote.room(n)
		return s.stubLine(r, line, n, names)
	}
	return finish(line+quoted, r, s.expand)
}
