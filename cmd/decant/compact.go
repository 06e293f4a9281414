package main

import (
	"fmt"
	"io"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/legal"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/report"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

type compactCmd struct {
	File      string `arg:"" default:"-" help:"Request body or session file, plain or gzip; - for standard input."`
	To        amount `placeholder:"TOKENS" help:"Most tokens that the messages may have: 20000, 20k, or 10% of what they have now. Default: half of the model's free window."`
	Keep      amount `placeholder:"TOKENS" help:"Newest rounds that stay verbatim. Default: a fifth of the target."`
	KeepTurns int    `placeholder:"N" default:"-1" help:"Keep at least the newest N turns verbatim; 0: nothing, a summary only."`
	Model     string `placeholder:"ID" help:"Model that will read it. Default: the one in the input."`
	Preset    string `placeholder:"NAME" default:"default" help:"Policy: default, agent-loop, chat, orchestrator, or a YAML file."`
	From      string `placeholder:"FORMAT" help:"Format of the input: anthropic, openai-chat, openai-responses, claude-code, codex, pi. Default: found in the content."`
	As        string `placeholder:"FORMAT" default:"same" enum:"same,anthropic,openai-chat,openai-responses,text" help:"Format of the output: same, anthropic, openai-chat, openai-responses, or text for what a model would read."`
	Output    string `short:"o" placeholder:"FILE" help:"Where the result goes. Default: standard output."`
	Report    string `placeholder:"FILE" help:"Write a JSON report with every decision."`
	DryRun    bool   `help:"Say what would be done; write no result."`
	catalogFlag
}

// Run compacts one conversation. The result goes to standard output or a file, the report for people
// to standard error.
func (c *compactCmd) Run(s *streams) error {
	doc, err := s.document(c.File, c.From)
	if err != nil {
		return err
	}
	policy, err := preset.Load(c.Preset)
	if err != nil {
		return usageError{err}
	}
	model, err := c.model(doc.Conversation)
	if err != nil {
		return err
	}
	var r *compaction
	err = s.working("compacting "+c.File, func() error {
		r, err = c.compact(doc, model, policy)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	return c.write(s, doc, r)
}

// compaction is a finished plan and the view it leads to.
type compaction struct {
	plan    *decant.Plan
	model   token.Model
	view    *decant.Conversation
	changed bool
	report  *report.Compaction
}

func (c *compactCmd) compact(doc *wire.Document, model token.Model, policy *preset.Preset) (*compaction, error) {
	live := doc.Conversation.With(doc.Conversation.Live())
	est := token.For(model)
	all := est.Messages(live.Messages)
	o := engine.PlanOptions{Model: model, Estimator: est, Preset: policy, KeepTurns: c.KeepTurns, Now: time.Now(),
		Record: c.As == "same" && record(doc.Format)}
	if c.To.given {
		o.Target = c.To.of(all)
	}
	if c.Keep.given {
		o.Keep = c.Keep.of(all)
	}
	plan, err := engine.Plan(live, o)
	if err != nil {
		return nil, err
	}
	view, err := plan.Apply(live)
	if err != nil {
		return nil, err
	}
	view, repairs, err := engine.Legal(view, c.rules(doc, doc.Format, model))
	if err != nil {
		return nil, err
	}
	r := &compaction{plan: plan, model: model, view: view, changed: len(plan.Decisions)+len(repairs) > 0}
	r.report = report.NewCompaction(c.File, live, view, plan, repairs)
	r.report.Preset = policy.Name
	for _, w := range doc.Warnings {
		r.report.Warnings = append(r.report.Warnings, w.String())
	}
	return r, nil
}

// rules returns what a conversation in the given format must keep to. A session file is a record and
// may end anywhere; a request body is sent as it is.
func (c *compactCmd) rules(doc *wire.Document, f wire.Format, model token.Model) legal.Rules {
	api := legal.Messages
	switch f {
	case wire.OpenAIChat:
		api = legal.Chat
	case wire.OpenAIResponses, wire.Codex:
		api = legal.Responses
	}
	rules := legal.RulesFor(api, model, doc.Conversation.Thinking)
	if ms := doc.Conversation.Messages; len(ms) > 0 && ms[len(ms)-1].Role == decant.RoleAssistant {
		rules.Prefill = true // the input ends so already: what the user says next is still to come
	}
	rules.Record = record(f)
	return rules
}

// record reports whether a format records a session, where the others are requests.
func record(f wire.Format) bool { return f == wire.ClaudeCode || f == wire.Codex || f == wire.Pi }

// model returns the model that will read the result.
func (c *compactCmd) model(conv *decant.Conversation) (token.Model, error) {
	catalog, err := c.models()
	if err != nil {
		return token.Model{}, err
	}
	m, _ := catalog.Lookup(modelOf(c.Model, conv))
	return m, nil
}

// modelOf returns the id of the model to count for: the one asked for, the request's, or the last
// one that answered.
func modelOf(asked string, conv *decant.Conversation) string {
	if asked != "" {
		return asked
	}
	if conv.Model != "" {
		return conv.Model
	}
	for i := len(conv.Messages) - 1; i >= 0; i-- {
		if m := conv.Messages[i].Model; m != "" {
			return m
		}
	}
	return ""
}

// write writes result and reports.
func (c *compactCmd) write(s *streams, doc *wire.Document, r *compaction) error {
	if err := r.report.WriteText(s.err); err != nil {
		return err
	}
	if c.Report != "" {
		if err := s.output(c.Report, func(w io.Writer) error { return writeJSON(w, r.report) }); err != nil {
			return err
		}
	}
	if c.DryRun {
		return nil
	}
	out, err := c.encode(doc, r)
	if err != nil {
		return err
	}
	return s.output(c.Output, func(w io.Writer) error {
		_, err := w.Write(out)
		return err
	})
}

// encode returns the bytes of the result. Without changes and in the same format they are the input's.
func (c *compactCmd) encode(doc *wire.Document, r *compaction) ([]byte, error) {
	switch {
	case c.As == "text":
		return []byte(wire.Text(r.view)), nil
	case c.As == "same" && !r.changed:
		return doc.Source, nil
	case c.As == "same":
		return doc.Render(r.view)
	}
	return c.convert(doc, r)
}

// convert writes the result for another API and checks what it wrote by reading it again.
func (c *compactCmd) convert(doc *wire.Document, r *compaction) ([]byte, error) {
	f := wire.Format(c.As)
	out, err := wire.Encode(r.view, f)
	if err != nil {
		return nil, err
	}
	written, err := wire.ParseAs(f, out)
	if err != nil {
		return nil, fmt.Errorf("read what was written as %s: %w", f, err)
	}
	if bad := legal.Check(written.Conversation, c.rules(doc, f, r.model)); len(bad) > 0 {
		return nil, fmt.Errorf("written as %s: %w", f, bad[0])
	}
	return out, nil
}
