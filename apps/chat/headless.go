package chat

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
)

// A Format is how the result of one question is written.
type Format string

// The formats.
const (
	FormatText   Format = "text"        // the answer
	formatJSON   Format = "json"        // one object, a Result
	formatStream Format = "stream-json" // what begins, the events of package agent while they happen, and a Result, each on a line
)

// A beginning is the first line of a stream.
type beginning struct {
	Kind    string   `json:"kind"` // "start"
	Session string   `json:"session"`
	Model   string   `json:"model"`
	Folder  string   `json:"folder"`
	Tools   []string `json:"tools"`
}

// A Result is what came of one question.
type Result struct {
	Kind    string         `json:"kind"` // "result"
	Session string         `json:"session"`
	Model   string         `json:"model"`
	Stop    agent.Stop     `json:"stop"`
	Answer  string         `json:"answer"`
	Value   jsontext.Value `json:"value,omitzero"`  // the answer in the form that was asked for
	Forced  bool           `json:"forced,omitzero"` // a limit was reached, and the model had to answer
	Turns   int            `json:"turns"`           // answers of the model
	Tokens  int            `json:"tokens"`
	Usage   decant.Usage   `json:"usage"`
	USD     float64        `json:"cost_usd"`
	Pours   int            `json:"pours"`
	Denied  []agent.Call   `json:"denied,omitempty"` // calls that somebody had to allow
	Error   string         `json:"error,omitzero"`
}

// A Question is asked once, without a person who could be asked back.
type Question struct {
	Text   string
	With   []agent.Attachment // that is shown beside the text
	Schema *Schema            // nil: any answer will do
	Format Format
	Out    io.Writer
}

// Once asks a question and writes the answer. The result is there beside an error, too; ErrForm means that the answer does not have its
// form, other errors are those of the run.
func (c *Chat) Once(ctx context.Context, q Question) (*Result, error) {
	out := json.MarshalWrite
	heard := func(agent.Event) {}
	var broken error // what went wrong with writing
	line := func(v any) {
		if broken == nil {
			broken = errors.Join(out(q.Out, v), end(q.Out))
		}
	}
	if q.Format == formatStream {
		line(c.start())
		heard = func(e agent.Event) { line(e) }
	}
	r := &Result{Kind: "result", Session: c.Session().ID(), Model: c.meter.Model}
	var o agent.Outcome
	var err error
	if q.Schema != nil {
		r.Value, o, err = c.formed(ctx, q, heard)
	} else {
		o, err = c.finished(ctx, q.Text, q.With, heard)
	}
	r.fill(o, sum(c.before, c.run), c.denied.all(), err)
	r.Pours = c.meter.Pours
	switch q.Format {
	case formatJSON, formatStream:
		line(r)
		return r, errors.Join(err, broken)
	}
	return r, errors.Join(err, r.write(q.Out))
}

// end ends a line.
func end(w io.Writer) error {
	_, err := io.WriteString(w, "\n")
	return err
}

// start returns the first line of a stream.
func (c *Chat) start() beginning {
	s := beginning{Kind: "start", Session: c.Session().ID(), Model: c.meter.Model, Folder: c.opts.Project.Dir, Tools: []string{}}
	for _, t := range c.agent.Tools() {
		s.Tools = append(s.Tools, t.Name)
	}
	return s
}

// fill fills in what came of a question.
func (r *Result) fill(o agent.Outcome, spent agent.Spent, denied []agent.Call, err error) {
	r.Stop, r.Answer, r.Forced = o.Stop, o.Text, o.Forced
	r.Turns, r.Usage, r.Tokens, r.USD = spent.Turns, spent.Usage, spent.Tokens(), spent.Money.USD()
	r.Denied = denied
	if err != nil {
		r.Error = err.Error()
	}
}

// write writes the answer for people and pipes.
func (r *Result) write(w io.Writer) error {
	text := r.Answer
	if r.Value != nil {
		text = string(r.Value)
	}
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
