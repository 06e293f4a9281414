// Package analyst is a stand-in for a model that investigates errors: it reads code with the tools of an investigation and looks for a few
// kinds of mistakes around the lines that failed.
//
// It is what decant triage works with where there is no model, and by which the ways to investigate are compared. It knows nothing but what
// a request holds: no files, no state, no names of its own. What it does not see in the code it does not say; its confidence follows simple
// rules and says nothing about what a real model would find. It does not think, so that whatever is measured with it holds no thinking.
package analyst

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/provider/sandbox"
)

// An Analyst answers investigations. The zero value is ready.
type Analyst struct {
	// Thorough makes it read the files of the whole stack, and each of them whole, as agents do that look around before they think; of files that come
	// with their middle left out, it asks for lines.
	Thorough bool
}

var _ sandbox.Model = Analyst{}

// Answer implements sandbox.Model.
func (a Analyst) Answer(ctx context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	k := read(p)
	if k == nil || strings.Contains(p.Last(decant.RoleUser), "Answer in words") { // a summary, a question of a person, or anything else
		return sandbox.Reader{}.Answer(ctx, p)
	}
	k.thorough = a.Thorough
	if passing(p) {
		return k.pass()
	}
	if calls := k.next(); len(calls) > 0 {
		return sandbox.Answer{Blocks: calls}, nil
	}
	b, err := json.Marshal(k.conclude())
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: string(b)}}}, err
}

// The tools that it knows.
const (
	readFile = "read_file"
	search   = "search_code"
	changes  = "recent_changes"
	change   = "show_change"
	traces   = "get_error_traces"
)

// How much it reads around a line, and how many commits it looks at.
const (
	before      = 45
	after       = 25
	mostFrames  = 3
	mostChanges = 3
)

// next returns the calls that would show more; none: it knows enough, or can call nothing.
func (k *known) next() []sandbox.Block {
	if k.repeated() {
		return nil
	}
	if c := k.around(); c != nil {
		return c
	}
	if len(k.frames) == 0 || timeouts.MatchString(k.class+k.message) {
		if c := k.call(traces, map[string]any{}); c != nil {
			return c
		}
	}
	for _, f := range k.frames[:min(len(k.frames), mostFrames)] {
		src := k.at(f)
		if src == nil {
			if c := k.look(f.path, max(1, f.line-before), f.line+after); c != nil {
				return c
			}
			continue // it cannot be read
		}
		if d := k.diagnose(f, src); d != nil {
			if k.knownCause(d) > 0 {
				return nil // it was looked into already
			}
			return k.deepen(f, d)
		}
	}
	if c := k.definitions(); c != nil {
		return c
	}
	if len(k.frames) > 0 {
		if c := k.history(k.frames[0].path); len(c) > 0 {
			return c
		}
	}
	return k.unseen()
}

// around returns the call that shows the next file of the stack, where all of it is to be read.
func (k *known) around() []sandbox.Block {
	if !k.thorough {
		return nil
	}
	for _, f := range k.frames {
		if k.at(f) == nil {
			if c := k.look(f.path, max(1, f.line-before), f.line+after); c != nil {
				return c
			}
		}
	}
	return nil
}

// look returns the call that shows lines of a file; nil: it was made.
func (k *known) look(path string, from, to int) []sandbox.Block {
	if k.thorough {
		if c := k.call(readFile, map[string]any{"path": path}); c != nil {
			return c
		}
	}
	return k.call(readFile, map[string]any{"path": path, "from": from, "to": to})
}

// knownCause returns the number of the earlier error of the run that has the same cause in a file that is the same; 0: there is none.
func (k *known) knownCause(d *diagnosis) int {
	for _, e := range k.earlier {
		told := strings.TrimSpace(strings.Join(strings.Fields(d.cause), " "))
		if len(e.cause) > 0 && strings.HasPrefix(told, strings.TrimRight(e.cause, ".")) && slices.ContainsFunc(d.quotes, func(q quote) bool { return slices.Contains(e.files, q.file.path) }) {
			return e.number
		}
	}
	return 0
}

// deepen returns the calls that show more of what a diagnosis rests on: the function that a value comes from, then what has changed.
func (k *known) deepen(f frame, d *diagnosis) []sandbox.Block {
	if d.want != "" {
		if c := k.call(search, map[string]any{"pattern": `(func|def|function) .*\b` + regexp.QuoteMeta(d.want) + `\(`}); c != nil {
			return c
		}
		for _, h := range k.hits {
			if strings.Contains(h.text, d.want+"(") && function.MatchString(h.text) && !k.shows(h.path, h.line+1) {
				if c := k.look(h.path, h.line, h.line+before); c != nil {
					return c
				}
			}
		}
	}
	if k.blame(d) != nil {
		return nil
	}
	return k.history(f.path)
}

// definitions returns the call that shows how the functions are defined that the line that failed calls with several arguments.
func (k *known) definitions() []sandbox.Block {
	for _, f := range k.frames[:min(len(k.frames), mostFrames)] {
		src := k.at(f)
		if src == nil {
			continue
		}
		for _, m := range calls.FindAllStringSubmatch(codeOf(src.lines[f.line]), -1) {
			if len(strings.Split(m[2], ",")) < 2 {
				continue
			}
			if c := k.call(search, map[string]any{"pattern": `(func|def|function) .*\b` + regexp.QuoteMeta(m[1]) + `\(`}); c != nil {
				return c
			}
		}
	}
	return nil
}

// history returns the calls that show what has changed in a file.
func (k *known) history(path string) []sandbox.Block {
	if c := k.call(changes, map[string]any{"path": path, "paths": []string{path}}); c != nil {
		return c
	}
	var out []sandbox.Block
	for _, sha := range k.commits[:min(len(k.commits), mostChanges)] {
		out = append(out, k.call(change, map[string]any{"sha": sha, "commit": sha, "path": path})...)
	}
	return out
}

// diagnose looks at one frame.
func (k *known) diagnose(f frame, src *file) *diagnosis {
	t := &trouble{message: k.class + ": " + k.message, file: src, line: f.line}
	i := slices.Index(k.frames, f)
	t.outer = i > 0
	if i >= 0 && i+1 < len(k.frames) {
		if next := k.frames[i+1]; k.at(next) != nil {
			t.caller = &quote{file: k.at(next), line: next.line}
		}
	}
	for _, other := range k.files {
		if other != src {
			t.others = append(t.others, other)
		}
	}
	return t.diagnose()
}

// An answer is what it says in the end. Its members are those of investigate.Analysis; it shares no code with it, as a model does not.
type answer struct {
	State      string     `json:"state"`
	Cause      string     `json:"cause"`
	Confidence string     `json:"confidence"`
	Evidence   []evidence `json:"evidence"`
	Suspect    *suspect   `json:"suspect,omitzero"`
	Fix        string     `json:"fix,omitzero"`
	Patch      string     `json:"patch,omitzero"`
	Next       []string   `json:"next_steps,omitempty"`
	Tags       []string   `json:"tags,omitempty"`
	Related    int        `json:"related,omitzero"`
}

type evidence struct {
	Repo string `json:"repo,omitzero"`
	Path string `json:"path"`
	SHA  string `json:"sha,omitzero"`
	Line int    `json:"line"`
	Text string `json:"text"`
	Says string `json:"says,omitzero"`
}

type suspect struct {
	SHA string `json:"sha"`
	Why string `json:"why,omitzero"`
}

// conclude says what it has found.
func (k *known) conclude() *answer {
	for _, f := range k.frames[:min(len(k.frames), mostFrames)] {
		src := k.at(f)
		if src == nil {
			continue
		}
		d := k.diagnose(f, src)
		if d == nil {
			continue
		}
		a := &answer{State: "root_cause", Cause: d.cause + ".", Confidence: "medium", Fix: d.fix, Patch: d.patch, Tags: []string{d.tag}, Suspect: k.blame(d), Related: k.knownCause(d)}
		if d.sure {
			a.Confidence = "high"
		}
		for _, q := range d.quotes {
			a.Evidence = append(a.Evidence, q.evidence())
		}
		return a
	}
	if a := k.slower(); a != nil {
		return a
	}
	if a := k.reordered(); a != nil {
		return a
	}
	return k.lead()
}

func (q *quote) evidence() evidence {
	return evidence{q.file.repo, q.file.path, q.file.sha, q.line, strings.TrimSpace(q.file.lines[q.line]), q.says}
}

// blame returns the commit whose change has brought one of the lines of a diagnosis, or has taken a check away.
func (k *known) blame(d *diagnosis) *suspect {
	for _, c := range k.diffs {
		for _, q := range d.quotes {
			if text := strings.TrimSpace(q.file.lines[q.line]); text != "" && c.added[text] && !c.removed[text] {
				return &suspect{c.sha, "it has brought the line: " + text}
			}
		}
		for text := range c.removed {
			if v := ident.FindString(d.cause); !c.added[text] && v != "" && guards(text, v) {
				return &suspect{c.sha, "it has taken a check away: " + text}
			}
		}
	}
	return nil
}

var (
	timeouts = lazyregexp.New(`(?i)timeout|timed out|deadline exceeded`)
	limit    = lazyregexp.New(`(?i)timeout|deadline|retries`)
)

// lead returns the answer where nothing was found.
func (k *known) lead() *answer {
	a := &answer{State: "inconclusive", Cause: "The code that was read does not show the cause.", Confidence: "low", Evidence: []evidence{},
		Next: []string{"look at what " + cmp.Or(k.failed, "the service") + " depends on at that time"}}
	for _, f := range k.frames {
		if src := k.at(f); src != nil {
			q := quote{src, f.line, "the line that failed"}
			a.Cause = fmt.Sprintf("The code that was read does not show the cause. It fails at line %d of %s.", f.line, src.path)
			a.Evidence = append(a.Evidence, q.evidence())
			break
		}
	}
	return a
}

// call returns a call of a tool that was not made yet; nil: it was, or there is no such tool.
func (k *known) call(name string, arguments map[string]any) []sandbox.Block {
	schema, ok := k.tools[name]
	if !ok {
		return nil
	}
	var takes struct {
		Properties map[string]stdjson.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &takes) != nil {
		return nil
	}
	for n := range arguments {
		if _, ok := takes.Properties[n]; !ok {
			delete(arguments, n)
		}
	}
	b, err := json.Marshal(arguments, json.Deterministic(true))
	if err != nil || k.made[name+string(b)] {
		return nil
	}
	return []sandbox.Block{{Kind: decant.KindUse, Name: name, Input: b}}
}
