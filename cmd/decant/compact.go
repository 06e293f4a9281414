package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/compaction"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/notice"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/sessionfile"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

type compactCmd struct {
	File      string         `arg:"" optional:"" help:"Request body or session file, plain or gzip; - reads standard input."`
	To        command.Amount `placeholder:"TOKENS" help:"Target size of the messages in tokens: 20000, 20k, or 10% of their current size. Default: set by the preset, which does nothing below its trigger."`
	Keep      command.Amount `placeholder:"TOKENS" help:"Size of the newest rounds that stay word for word. Default: a fifth of the target."`
	KeepTurns *int           `placeholder:"N" help:"Keep at least the newest N turns word for word; 0 keeps only a summary."`
	Model     string         `placeholder:"ID" help:"Model that will read the result. Default: the one in the input."`
	Preset    string         `placeholder:"NAME" default:"default" help:"Policy: default, agent-loop, chat, coding-session, night-watch, orchestrator, or a YAML file."`
	From      string         `placeholder:"FORMAT" help:"Input format: anthropic, openai-chat, openai-responses, messages, claude-code, codex, pi, or a log of copilot-cli, gemini, opencode. Default: detected."`
	As        string         `placeholder:"FORMAT" default:"same" enum:"same,anthropic,openai-chat,openai-responses,text" help:"Output format: same, anthropic, openai-chat, openai-responses, or text (what a model would read)."`
	Output    string         `short:"o" placeholder:"FILE" help:"File to write. Default: standard output."`
	Force     bool           `help:"Allow overwriting the input file."`
	Resume    string         `placeholder:"ID" help:"Compact a session of Claude Code, Codex or pi in place; keeps a backup. Takes an id, the start of an id, or \"last\"."`
	Report    string         `placeholder:"FILE" help:"Write a JSON report of every decision."`
	DryRun    bool           `help:"Show what would change; write nothing."`
	command.CatalogFlag
}

// Run compacts one conversation. The result goes to standard output or a file, the report for people
// to standard error.
func (c *compactCmd) Run(s *process.Process) error {
	if err := c.check(s); err != nil {
		return exit.Usage(fmt.Errorf("compact: %w", err))
	}
	if c.Resume != "" {
		return c.resume(s)
	}
	r, err := c.read(s)
	if err != nil {
		return err
	}
	notify(s, r)
	return c.write(s, r)
}

// notify prints the lines that the preset has for a compaction.
func notify(s *process.Process, r *compacted) {
	x := &engine.PourEvent{
		Preset: r.preset, Before: r.Plan.Before.Messages + r.Plan.Before.Fixed, After: r.Plan.After.Messages + r.Plan.After.Fixed,
		Checkpoint: decant.CheckpointIn(r.Plan.Decisions),
	}
	if l, err := policy.LimitsFor(r.model, r.preset, r.Plan.Before.Fixed, 0); err == nil {
		x.Threshold = l.Trigger
	}
	for _, line := range notice.Lines(x) {
		fmt.Fprintln(s.Err, line)
	}
}

// check rejects impossible command lines before anything is read.
func (c *compactCmd) check(s *process.Process) error {
	switch {
	case c.KeepTurns != nil && *c.KeepTurns < 0:
		return fmt.Errorf("--keep-turns %d: want 0 or more", *c.KeepTurns)
	case c.Resume != "" && (c.File != "" || c.Output != "" || c.As != "same"):
		return errors.New("--resume replaces the session in place: leave out the file, --output and --as")
	case c.Resume != "":
		return nil
	case c.File == "" && s.Typed():
		return errors.New("name a file, pipe one in, or name a session with --resume")
	case c.Output == "" && s.Shown && !c.DryRun && c.As != "text":
		return errors.New("the result would fill the screen: name a file with --output FILE (- prints it here)")
	}
	c.File = cmp.Or(c.File, "-")
	for _, out := range []string{c.Output, c.Report} {
		if !c.Force && s.SameFile(out, c.File) {
			return fmt.Errorf("%s is the input: name another file, or replace it with --force", out)
		}
	}
	return nil
}

// compacted is the result of a compaction, with what decided it.
type compacted struct {
	*compaction.Result
	model  token.Model
	preset *preset.Preset
}

// read reads the file and compacts what is in it.
func (c *compactCmd) read(s *process.Process) (*compacted, error) {
	pre, err := preset.Load(s.Preset(c.Preset))
	if err != nil {
		return nil, exit.Usage(err)
	}
	catalog, err := c.Models(s)
	if err != nil {
		return nil, err
	}
	var doc *wire.Document
	err = s.Working("reading "+c.File, func() error {
		doc, err = sessionfile.Read(s, c.File, c.From)
		return err
	})
	if err != nil {
		return nil, err
	}
	if c.As == compaction.Same && !c.DryRun && !doc.Format.Writable() {
		return nil, exit.Usage(fmt.Errorf("%s: %s can be read but not written: add --as anthropic, openai-chat, openai-responses or text", c.File, doc.Format))
	}
	r := &compacted{preset: pre}
	r.model, _ = catalog.Lookup(modelOf(c.Model, doc.Conversation))
	err = s.Working("compacting "+c.File, func() error {
		r.Result, err = compaction.File(doc, c.options(s, r.model, pre))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	return r, nil
}

// options returns what the command line says about a compaction.
func (c *compactCmd) options(s *process.Process, model token.Model, pre *preset.Preset) compaction.Options {
	o := compaction.Options{
		Name: c.File, As: c.As, Model: model, Preset: pre, Key: recordKey(s), Now: time.Now(), KeepTurns: c.KeepTurns,
	}
	if c.To.Given {
		o.Target = c.To.Of
	}
	if c.Keep.Given {
		o.Keep = c.Keep.Of
	}
	return o
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
func (c *compactCmd) tell(s *process.Process, r *compacted) error {
	if err := r.Report.WriteText(s.Err); err != nil {
		return err
	}
	if c.Report == "" {
		return nil
	}
	return s.Output(c.Report, func(w io.Writer) error { return command.WriteJSON(w, r.Report) })
}

// write writes result and reports.
func (c *compactCmd) write(s *process.Process, r *compacted) error {
	if err := c.tell(s, r); err != nil || c.DryRun {
		return err
	}
	out, err := r.Bytes()
	if err != nil {
		return err
	}
	return s.Output(c.Output, func(w io.Writer) error {
		_, err := w.Write(out)
		return err
	})
}
