package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/notice"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/legal"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

type compactCmd struct {
	File      string `arg:"" optional:"" help:"Request body or session file, plain or gzip; - reads standard input."`
	To        amount `placeholder:"TOKENS" help:"Largest size of the messages in tokens: 20000, 20k, or 10% of what they have now. Default: what the preset says; nothing is done below its trigger."`
	Keep      amount `placeholder:"TOKENS" help:"Size of the newest rounds that stay verbatim. Default: a fifth of the target."`
	KeepTurns *int   `placeholder:"N" help:"Keep at least the newest N turns verbatim; 0 keeps a summary only."`
	Model     string `placeholder:"ID" help:"Model that will read the result. Default: the one in the input."`
	Preset    string `placeholder:"NAME" default:"default" help:"Policy: default, agent-loop, chat, coding-session, night-watch, orchestrator, or a YAML file."`
	From      string `placeholder:"FORMAT" help:"Format of the input: anthropic, openai-chat, openai-responses, messages, claude-code, codex, pi, or a log of copilot-cli, gemini, opencode, swe-agent, tau-bench, openhands. Default: found in the content."`
	As        string `placeholder:"FORMAT" default:"same" enum:"same,anthropic,openai-chat,openai-responses,text" help:"Format of the output: same, anthropic, openai-chat, openai-responses, or text (what a model would read)."`
	Output    string `short:"o" placeholder:"FILE" help:"File to write. Default: standard output."`
	Force     bool   `help:"Allow the result to replace the input."`
	Resume    string `placeholder:"ID" help:"Compact a session of Claude Code, Codex or pi in place and keep a backup. Give its id, the beginning of its id, or \"last\"."`
	Report    string `placeholder:"FILE" help:"Write a JSON report with every decision."`
	DryRun    bool   `help:"Say what would be done, and write nothing."`
	catalogFlag
}

// Run compacts one conversation. The result goes to standard output or a file, the report for people
// to standard error.
func (c *compactCmd) Run(s *streams) error {
	if err := c.check(s); err != nil {
		return usageError{fmt.Errorf("compact: %w", err)}
	}
	if c.Resume != "" {
		return c.resume(s)
	}
	doc, r, err := c.read(s)
	if err != nil {
		return err
	}
	r.tell(s)
	return c.write(s, doc, r)
}

// tell prints the lines that the preset has for a compaction.
func (r *compaction) tell(s *streams) {
	x := &engine.PourEvent{
		Preset: r.preset, Before: r.plan.Before.Messages + r.plan.Before.Fixed, After: r.plan.After.Messages + r.plan.After.Fixed,
		Checkpoint: decant.CheckpointIn(r.plan.Decisions),
	}
	if l, err := policy.LimitsFor(r.model, r.preset, r.plan.Before.Fixed, 0); err == nil {
		x.Threshold = l.Trigger
	}
	for _, line := range notice.Lines(x) {
		fmt.Fprintln(s.err, line)
	}
}

// check rejects impossible command lines before anything is read.
func (c *compactCmd) check(s *streams) error {
	switch {
	case c.KeepTurns != nil && *c.KeepTurns < 0:
		return fmt.Errorf("--keep-turns %d: want 0 or more", *c.KeepTurns)
	case c.Resume != "" && (c.File != "" || c.Output != "" || c.As != "same"):
		return errors.New("--resume replaces the session in place: leave out the file, --output and --as")
	case c.Resume != "":
		return nil
	case c.File == "" && s.typed():
		return errors.New("name a file, pipe one in, or name a session with --resume")
	case c.Output == "" && s.shown && !c.DryRun && c.As != "text":
		return errors.New("the result would fill the screen: name a file with --output FILE (- prints it here)")
	}
	c.File = cmp.Or(c.File, "-")
	for _, out := range []string{c.Output, c.Report} {
		if !c.Force && sameFile(out, c.File) {
			return fmt.Errorf("%s is the input: name another file, or replace it with --force", out)
		}
	}
	return nil
}

// read reads the file and compacts what is in it.
func (c *compactCmd) read(s *streams) (doc *wire.Document, r *compaction, err error) {
	pre, err := preset.Load(c.Preset)
	if err != nil {
		return nil, nil, usageError{err}
	}
	catalog, err := c.models()
	if err != nil {
		return nil, nil, err
	}
	err = s.working("reading "+c.File, func() error {
		doc, err = s.document(c.File, c.From)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if c.As == "same" && !c.DryRun && !doc.Format.Writable() {
		return nil, nil, usageError{fmt.Errorf("%s: %s can be read but not written: add --as anthropic, openai-chat, openai-responses or text", c.File, doc.Format)}
	}
	model, _ := catalog.Lookup(modelOf(c.Model, doc.Conversation))
	err = s.working("compacting "+c.File, func() error {
		if r, err = c.compact(doc, model, pre, s.recordKey()); err != nil {
			return err
		}
		return c.measure(doc, r)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", c.File, err)
	}
	return doc, r, nil
}

// compaction is a finished plan and the view it leads to.
type compaction struct {
	plan    *decant.Plan
	model   token.Model
	preset  *preset.Preset
	view    *decant.Conversation
	changed bool
	report  *report.Compaction
	out     []byte // a session file as it will be written, nil for anything else
}

func (c *compactCmd) compact(doc *wire.Document, model token.Model, pre *preset.Preset, key []byte) (*compaction, error) {
	live := policy.Recognise(doc.Conversation.With(doc.Conversation.Live()), key)
	est := token.For(model)
	trigger, err := c.trigger(doc.Conversation, model, pre)
	if err != nil {
		return nil, err
	}
	o := c.options(est.Messages(live.Messages), trigger > 0)
	o.Model, o.Estimator, o.Preset, o.Record = model, est, pre, c.As == "same" && doc.Format.Session()
	o.Key, o.Unbind = key, true
	if trigger > 0 {
		o.Preset = o.Preset.WithoutBackstop()
	}
	if doc.API() == wire.OpenAIResponses { // there reasoning can only go or stay together with the item behind it
		o.Preset = o.Preset.Without(decant.ReductionThinking)
	}
	plan, view, repairs, err := c.legal(doc, live, o)
	if errors.Is(err, decant.ErrIllegal) && model.Binds {
		o.KeepTurns = 0 // a round is open whose thinking can neither stay nor go: all of it becomes one message
		plan, view, repairs, err = c.legal(doc, live, o)
	}
	if err != nil {
		return nil, err
	}
	r := &compaction{plan: plan, model: model, preset: pre, view: view, changed: len(plan.Decisions)+len(repairs) > 0}
	r.report = report.NewCompaction(c.File, live, view, plan, repairs)
	r.report.Preset, r.report.Trigger = pre.Name, trigger
	r.report.Assumed = model.Assumed && !c.To.given // with --to the window does not matter
	for _, w := range doc.Warnings {
		r.report.Warnings = append(r.report.Warnings, w.String())
	}
	return r, nil
}

// measure writes a session and reads it as its client will, so that what is said about the result is true of that. It
// refuses one that is no smaller.
func (c *compactCmd) measure(doc *wire.Document, r *compaction) (err error) {
	if c.As != "same" || !doc.Format.Session() || !doc.Format.Writable() || !r.changed {
		return nil
	}
	if r.out, err = doc.Render(r.view); err != nil {
		return err
	}
	again, err := wire.ParseAs(doc.Format, r.out)
	if err != nil {
		return fmt.Errorf("read what was written: %w", err)
	}
	live := again.Conversation.With(again.Conversation.Live())
	if bad := legal.Check(live, c.rules(doc, doc.Format, r.model)); len(bad) > 0 {
		return fmt.Errorf("what was written is not legal: %w", bad[0])
	}
	was, est := r.plan.Before.Fixed+r.plan.Before.Messages, token.For(r.model)
	is, fixed := est.Fixed(&live.Fixed)+est.Messages(live.Messages), r.plan.Before.Fixed
	r.plan.After = decant.Size{Fixed: fixed, Messages: is - fixed} // what configures counts there where it stood before
	r.report.After = len(live.Messages)
	if len(r.plan.Decisions) > 0 && is >= was {
		return fmt.Errorf("nothing would be gained: the client would send about %d tokens, and sends about %d now", is, was)
	}
	return nil
}

// legal makes a plan and returns its view with broken history repaired.
func (c *compactCmd) legal(doc *wire.Document, live *decant.Conversation, o policy.PlanOptions) (*decant.Plan, *decant.Conversation, []decant.Decision, error) {
	plan, err := policy.Plan(context.Background(), live, o)
	if err != nil {
		return nil, nil, nil, err
	}
	view, err := plan.Apply(live)
	if err != nil || c.As == "same" && len(plan.Decisions) == 0 { // history that stays as it is must not be repaired
		return plan, view, nil, err
	}
	view, repairs, err := legal.Mend(view, c.rules(doc, doc.Format, o.Model).Of(live))
	return plan, view, repairs, err
}

// options returns how far the plan goes, in messages of so many tokens. Below the preset's trigger it does
// only what the preset always does.
func (c *compactCmd) options(all int, below bool) policy.PlanOptions {
	o := policy.PlanOptions{KeepTurns: -1, Now: time.Now()}
	if c.KeepTurns != nil {
		o.KeepTurns = *c.KeepTurns
	}
	switch {
	case c.To.given:
		o.Target = c.To.of(all)
	case below:
		o.Target = all
	}
	if c.Keep.given {
		o.Keep = c.Keep.of(all)
	}
	return o
}

// trigger returns the size above which the preset compacts, 0 when it is reached or the command line
// says how far to go. A preset's own number is compared with what the file holds. The window is also
// compared with what the provider reported, which includes system prompt and tools, which a session
// file lacks.
func (c *compactCmd) trigger(conv *decant.Conversation, model token.Model, pre *preset.Preset) (int, error) {
	if c.To.given {
		return 0, nil
	}
	est := token.For(model)
	fixed := est.Fixed(&conv.Fixed)
	l, err := policy.LimitsFor(model, pre, fixed, conv.MaxOutput)
	if err != nil {
		return 0, err
	}
	s := policy.Situation{Limits: l, Tokens: fixed + est.Messages(conv.Live()), MaxBytes: math.MaxInt}
	full := min(model.Window, cmp.Or(pre.Trigger.Window, model.Window)) - l.Reserve
	if policy.Due(s) != "" || (token.Meter{Estimator: est}).Read(conv).Tokens > full {
		return 0, nil
	}
	return l.Trigger, nil
}

// rules returns the rules for a conversation in the given format. A session file may end anywhere; a
// request body is sent as it is.
func (c *compactCmd) rules(doc *wire.Document, f wire.Format, model token.Model) legal.Rules {
	api := f
	if f == doc.Format {
		api = doc.API()
	}
	rules := legal.RulesFor(legal.ForFormat(string(api)), model, doc.Conversation.Thinking)
	if ms := doc.Conversation.Messages; len(ms) > 0 && ms[len(ms)-1].Role == decant.RoleAssistant {
		rules.Prefill = true // the input ends with the assistant too: the user's next words are still to come
	}
	rules.Record = f.Session()
	return rules
}

// modelOf returns the id of the model to count for: the given one, the request's, or the last one that
// answered.
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

// tell writes what was done, for people and, if asked for, for programs.
func (c *compactCmd) tell(s *streams, r *compaction) error {
	if err := r.report.WriteText(s.err); err != nil {
		return err
	}
	if c.Report == "" {
		return nil
	}
	return s.output(c.Report, func(w io.Writer) error { return writeJSON(w, r.report) })
}

// write writes result and reports.
func (c *compactCmd) write(s *streams, doc *wire.Document, r *compaction) error {
	if err := c.tell(s, r); err != nil || c.DryRun {
		return err
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

// encode returns the bytes of the result. Without changes and in the same format it returns the input.
func (c *compactCmd) encode(doc *wire.Document, r *compaction) ([]byte, error) {
	switch {
	case c.As == "text":
		return []byte(wire.Text(r.view)), nil
	case c.As == "same" && !r.changed:
		return doc.Source, nil
	case r.out != nil:
		return r.out, nil
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
