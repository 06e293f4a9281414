package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/compaction"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/wire"
)

type exportCmd struct {
	Session string `arg:"" optional:"" help:"Conversation: id or session, or the start of either, or \"last\"."`
	As      string `placeholder:"FORMAT" default:"same" enum:"same,anthropic,openai-chat,openai-responses,text" help:"Output format: same (the API it was held with, complete), anthropic, openai-chat, openai-responses, or text."`
	View    bool   `help:"Write what the model sees, not the whole conversation."`
	Plain   bool   `help:"Write a request that needs no beta feature: what the provider would clear is already left out."`
	Archive string `placeholder:"DIR" help:"Write every conversation to a file in this directory, plus an index."`
	Output  string `short:"o" placeholder:"FILE" help:"File to write. Default: standard output."`
	command.CatalogFlag
	command.DBFlag
}

// Run writes a conversation as the body of a request, and checks it first. Standard error names what the
// format cannot hold.
func (c *exportCmd) Run(s *process.Process) error {
	switch {
	case c.Archive == "" && c.Session == "":
		return exit.Usage(errors.New("name a conversation, or a directory with --archive"))
	case c.Archive != "" && c.Session != "":
		return exit.Usage(fmt.Errorf("name a conversation, or a directory with --archive, which is for all of them: not both %s and %s", c.Session, c.Archive))
	}
	return c.With(s, func(ctx context.Context, db store.Store) error {
		if c.Archive != "" {
			return c.archive(ctx, s, db)
		}
		t, err := c.Transcript(ctx, db, c.Session)
		if err != nil {
			return err
		}
		conv, err := c.conversation(s, t)
		if err != nil {
			return err
		}
		out, err := c.encode(s, t, conv)
		if err != nil {
			return fmt.Errorf("write %s as %s: %w", c.Session, c.As, err)
		}
		return s.Output(c.Output, func(w io.Writer) error {
			_, err := w.Write(out)
			return err
		})
	})
}

// conversation returns the requested form of t. The whole conversation is exported without thinking that is
// bound to what the model was shown instead.
func (c *exportCmd) conversation(s *process.Process, t *archive.Transcript) (*decant.Conversation, error) {
	switch {
	case c.View && !c.Plain && c.own(t):
		return t.View()
	case c.View && !c.Plain:
		return archive.ReadableView(t)
	case !c.View && c.As == "text":
		return t.Conversation, nil
	}
	catalog, err := c.Models(s)
	if err != nil {
		return nil, err
	}
	model, _ := catalog.Lookup(t.Conversation.Model)
	if c.View {
		return t.PlainView(model)
	}
	return t.Unbound(model)
}

// encode returns the conversation in the format that is asked for.
func (c *exportCmd) encode(s *process.Process, t *archive.Transcript, conv *decant.Conversation) ([]byte, error) {
	switch {
	case c.As == "text":
		return []byte(wire.Text(conv)), nil
	case len(conv.Messages) == 0:
		return nil, exit.Input(errors.New("the conversation has no messages"))
	}
	f := wire.Format(c.As)
	if c.own(t) {
		f = t.Dialect.About().Format
	}
	rules, err := c.rules(s, conv, f)
	if err != nil {
		return nil, err
	}
	var out []byte
	if c.own(t) {
		view, repairs, err := legal.Mend(conv, rules)
		if err != nil {
			return nil, err
		}
		for _, d := range repairs {
			s.Warn(fmt.Errorf("repaired: %s", d.Reason))
		}
		out, err = c.body(t, view)
		if err != nil {
			return nil, err
		}
		if betas := anthropic.BetasOf(out); len(betas) > 0 {
			s.Warn(fmt.Errorf("the request needs the header anthropic-beta: %s (with --plain it needs none)", strings.Join(betas, ",")))
		}
	} else if out, err = wire.Encode(conv, f); err != nil {
		return nil, err
	} else if n := images(conv); n > 0 {
		s.Warn(fmt.Errorf("images and documents are included by name only (%d): --as same includes them whole", n))
	}
	return out, check(out, f, rules)
}

// own reports whether a conversation is written as its own API has it, which is complete.
func (c *exportCmd) own(t *archive.Transcript) bool {
	return c.As == compaction.Same || c.As == string(t.Dialect.About().Format)
}

// body returns a view as the body of a request. Only a view tells the provider what to leave out; the whole
// conversation leaves out nothing.
func (c *exportCmd) body(t *archive.Transcript, view *decant.Conversation) ([]byte, error) {
	if c.View && !c.Plain {
		return t.Body(view)
	}
	out, err := t.Verbatim(view)
	if err == nil && c.Plain {
		out = anthropic.Plain(out)
	}
	return out, err
}

// check reads what was written and checks it by the rules of its API.
func check(body []byte, f wire.Format, rules legal.Rules) error {
	doc, err := wire.ParseAs(f, body)
	if err != nil {
		return fmt.Errorf("read what was written: %w", err)
	}
	if bad := legal.Check(doc.Conversation, rules); len(bad) > 0 {
		return bad[0]
	}
	return nil
}

// rules returns the rules for a request with the conversation. It may end with the answer to the newest
// request, because the user's next words are still to come.
func (c *exportCmd) rules(s *process.Process, conv *decant.Conversation, f wire.Format) (legal.Rules, error) {
	catalog, err := c.Models(s)
	if err != nil {
		return legal.Rules{}, err
	}
	model, _ := catalog.Lookup(conv.Model)
	rules := legal.RulesFor(legal.ForFormat(string(f)), model, "")
	if conv.Messages[len(conv.Messages)-1].Role == decant.RoleAssistant {
		rules.Prefill = true
		rules.Record = true
	}
	return rules, nil
}

// images counts the images and documents of a conversation.
func images(conv *decant.Conversation) (n int) {
	for i := range conv.Messages {
		for k := range conv.Messages[i].Blocks {
			n += conv.Messages[i].Blocks[k].Media.Count
		}
	}
	return n
}
