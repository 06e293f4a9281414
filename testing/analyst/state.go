package analyst

import (
	stdjson "encoding/json"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/testing/sandbox"
)

// A state is what a prompt shows of an investigation.
type state struct {
	message  string
	at       window // the line that failed: From
	function string // that failed

	shown   map[string]evidence // lines of files, by "path:line"
	commits []string            // of recent_changes, newest first
	earlier map[string]int      // errors of the run by their causes

	tools map[string]stdjson.RawMessage // schemas of the tools that may be called
	made  map[string]bool               // calls, by name and arguments
}

var (
	caseStart = lazyregexp.New(`(?m)^Error #\d+ is `)
	message   = lazyregexp.New(`(?m)^> message: (.*)$`)
	ownFrame  = lazyregexp.New(`(?m)^> \* (.+?):(\d+)(?: in .*?(\w+))?$`)
	told      = lazyregexp.New(`(?m)^> - Error #(\d+): .*? — Root cause: (.*)\. Files examined: `)
	head      = lazyregexp.New(`(?m)^(\S+)@([0-9a-f]{7,40}) (.+), lines \d+ to \d+ of \d+$`)
	numbered  = lazyregexp.New(`^\s*(\d+):\t(.*)$`)
	commit    = lazyregexp.New(`(?m)^([0-9a-f]{7,40}) \d{4}-\d\d-\d\d `)
)

// notMade begins the result of a call that was interrupted: it can be made again.
const notMade = "This call was not made"

// read reads a prompt; nil: it is not about an error.
func read(p *sandbox.Prompt) *state {
	s := &state{shown: map[string]evidence{}, earlier: map[string]int{}, tools: map[string]stdjson.RawMessage{}, made: map[string]bool{}}
	if p.Choice != "none" {
		for i, name := range p.Tools {
			s.tools[name] = p.Schemas[i]
		}
	}
	about := false
	calls := map[string]string{} // by id
	for _, m := range p.Messages {
		for _, b := range m.Blocks {
			switch b.Kind {
			case decant.KindText:
				if m.Role == decant.RoleUser && caseStart.MatchString(b.Text) {
					about = true
					s.error(b.Text)
				}
			case decant.KindUse:
				calls[b.ID] = b.Name + string(b.Input)
				s.made[calls[b.ID]] = true
			case decant.KindResult:
				if strings.HasPrefix(b.Text, notMade) {
					delete(s.made, calls[b.ID])
				}
				s.result(b.Text)
			}
		}
	}
	if !about {
		return nil
	}
	return s
}

// error reads what an investigation is told of its error.
func (s *state) error(text string) {
	if m := message.FindStringSubmatch(text); m != nil {
		s.message = m[1]
	}
	if m := ownFrame.FindStringSubmatch(text); m != nil {
		s.at.File = m[1]
		s.at.From, _ = strconv.Atoi(m[2])
		s.function = m[3]
	}
	for _, m := range told.FindAllStringSubmatch(text, -1) {
		s.earlier[m[2]], _ = strconv.Atoi(m[1])
	}
}

// result reads lines of a file, and commits.
func (s *state) result(text string) {
	for _, m := range commit.FindAllStringSubmatch(text, -1) {
		s.commits = append(s.commits, m[1])
	}
	m := head.FindStringSubmatch(text)
	if m == nil {
		return
	}
	for l := range strings.SplitSeq(text, "\n") {
		if p := numbered.FindStringSubmatch(l); p != nil {
			n, _ := strconv.Atoi(p[1])
			s.shown[m[3]+":"+p[1]] = evidence{Repo: m[1], Path: m[3], SHA: m[2], Line: n, Text: strings.TrimSpace(p[2])}
		}
	}
}

// quote returns a line that was shown as evidence.
func (s *state) quote(path string, line int, says string) (evidence, bool) {
	e, ok := s.shown[path+":"+strconv.Itoa(line)]
	e.Says = says
	return e, ok
}

// commit returns the commit that a record blames, if it was listed.
func (s *state) commit(rec *record) string {
	if rec.Commit == 0 || rec.Commit > len(s.commits) {
		return ""
	}
	return s.commits[rec.Commit-1]
}

// related returns the number of the earlier error of the run that has the same cause; 0: none.
func (s *state) related(rec *record) int {
	return s.earlier[strings.TrimSuffix(rec.Cause, ".")]
}

// call returns a call of a tool that was not made yet; nil: it was made, or there is no such tool.
func (s *state) call(name string, arguments map[string]any) []sandbox.Block {
	if _, ok := s.tools[name]; !ok {
		return nil
	}
	b, err := json.Marshal(arguments, json.Deterministic(true))
	if err != nil || s.made[name+string(b)] {
		return nil
	}
	return []sandbox.Block{{Kind: decant.KindUse, Name: name, Input: b}}
}
