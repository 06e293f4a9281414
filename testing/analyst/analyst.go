// Package analyst is a stand-in for a model that investigates errors: it has recorded answers.
//
// It reads the code with the tools of an investigation, as a model does, and then answers from answers.yaml. Commits and
// quoted lines are those that the tools have shown, so the check of the evidence is a real one. An error without a record
// gets an inconclusive answer about the line that failed. What it finds says nothing about what a real model would find.
package analyst

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
)

// An Analyst answers investigations. The zero value is ready.
type Analyst struct{}

var _ sandbox.Model = Analyst{}

// A record is the answer to one error.
type record struct {
	Message    string `yaml:"message"` // of the error
	File       string `yaml:"file"`    // of its innermost frame
	Also       window `yaml:"also"`    // more code to read
	Cause      string `yaml:"cause"`
	Confidence string `yaml:"confidence"`
	Fix        string `yaml:"fix"`
	Patch      string `yaml:"patch"`
	Tag        string `yaml:"tag"`
	Commit     int    `yaml:"commit"` // that is to blame, among the newest changes of the file, from 1; 0: none
	Why        string `yaml:"why"`    // it is to blame
	Evidence   []struct {
		File string `yaml:"file"`
		Line int    `yaml:"line"`
		Says string `yaml:"says"`
	} `yaml:"evidence"`
}

// A window is some lines of a file.
type window struct {
	File string `yaml:"file"`
	From int    `yaml:"from"`
	To   int    `yaml:"to"`
}

//go:embed answers.yaml
var answers []byte

var records = sync.OnceValues(func() (all []record, err error) {
	return all, yaml.UnmarshalWithOptions(answers, &all, yaml.Strict())
})

// Answer implements sandbox.Model.
func (Analyst) Answer(ctx context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	s := read(p)
	if s == nil || strings.Contains(p.Last(decant.RoleUser), "Answer in words") { // a summary, or a person's question
		return sandbox.Reader{}.Answer(ctx, p)
	}
	all, err := records()
	if err != nil {
		return sandbox.Answer{}, err
	}
	i := slices.IndexFunc(all, func(r record) bool {
		return strings.Contains(s.message, r.Message) && strings.HasSuffix(s.at.File, r.File)
	})
	rec := &record{}
	if i >= 0 {
		rec = &all[i]
	}
	if assessing(p) {
		return said(s.verdict())
	}
	if calls := s.next(rec); len(calls) > 0 {
		return sandbox.Answer{Blocks: calls}, nil
	}
	return said(s.conclude(rec))
}

// said returns an answer that is one JSON object.
func said(v any) (sandbox.Answer, error) {
	b, err := json.Marshal(v)
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: string(b)}}}, err
}

// How many lines are read around the one that failed, and how many changes of its file.
const (
	before     = 45
	after      = 25
	maxChanges = 3
)

// next returns the calls that an investigation makes before it answers: the code that failed, then its newest changes. What an earlier finding of the run explains needs only the code.
func (s *state) next(rec *record) []sandbox.Block {
	if s.at.File == "" {
		return s.call("get_error_traces", map[string]any{})
	}
	line := s.at.From
	if c := s.call("read_file", map[string]any{"path": s.at.File, "from": max(1, line-before), "to": line + after}); c != nil || s.related(rec) > 0 {
		return c
	}
	path := cmp.Or(rec.Also.File, s.at.File)
	if rec.Also.File != "" {
		if c := s.call("read_file", map[string]any{"path": path, "from": rec.Also.From, "to": rec.Also.To}); c != nil {
			return c
		}
	}
	if rec.Cause == "" && s.function != "" {
		if c := s.call("search_code", map[string]any{"pattern": `\b` + s.function + `\(`}); c != nil {
			return c
		}
	}
	if c := s.call("recent_changes", map[string]any{"paths": []string{path}}); c != nil {
		return c
	}
	var out []sandbox.Block
	for _, sha := range s.commits[:min(len(s.commits), maxChanges)] {
		out = append(out, s.call("show_change", map[string]any{"sha": sha, "path": path})...)
	}
	return out
}

// An answer has the members of investigate.Analysis. It shares no code with it, as a model does not.
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
	Repo string `json:"repo"`
	Path string `json:"path"`
	SHA  string `json:"sha"`
	Line int    `json:"line"`
	Text string `json:"text"`
	Says string `json:"says"`
}

type suspect struct {
	SHA string `json:"sha"`
	Why string `json:"why"`
}

// conclude returns the answer to the error.
func (s *state) conclude(rec *record) *answer {
	if rec.Cause == "" {
		a := &answer{State: "inconclusive", Confidence: "low", Evidence: []evidence{}, Next: []string{"look at what the service depends on at that time"}}
		a.Cause = "The code that was read does not show the cause."
		if e, ok := s.quote(s.at.File, s.at.From, "the line that failed"); ok {
			a.Cause += fmt.Sprintf(" It fails at line %d of %s.", e.Line, e.Path)
			a.Evidence = append(a.Evidence, e)
		}
		return a
	}
	a := &answer{State: "root_cause", Cause: rec.Cause, Confidence: rec.Confidence, Fix: rec.Fix, Patch: rec.Patch, Tags: []string{rec.Tag}, Related: s.related(rec)}
	for _, e := range rec.Evidence {
		if q, ok := s.quote(e.File, e.Line, e.Says); ok {
			a.Evidence = append(a.Evidence, q)
		}
	}
	if sha := s.commit(rec); sha != "" {
		a.Suspect = &suspect{sha, rec.Why}
	}
	return a
}

// assessing reports whether a prompt asks for a first opinion on an error.
func assessing(p *sandbox.Prompt) bool {
	return len(p.Tools) == 0 && slices.ContainsFunc(p.System, func(s string) bool { return strings.Contains(s, "worth an investigation") })
}

// A verdict is a first opinion on an error.
type verdict struct {
	Severity string `json:"severity"`
	Cause    string `json:"likely_cause"`
	Worth    bool   `json:"worth_investigating"`
}

// verdict calls every error worth an investigation but connections that another service has closed.
func (s *state) verdict() verdict {
	switch {
	case strings.Contains(strings.ToLower(s.message), "connection re"):
		return verdict{"low", "Another service has closed the connection.", false}
	case s.at.File == "":
		return verdict{"low", "It is not in the program's own code.", true}
	}
	return verdict{"medium", "A value that the code does not expect.", true}
}
