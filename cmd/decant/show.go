package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/sessionfile"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

type showCmd struct {
	Source string `arg:"" help:"Stored conversation (id or session, or the start of either, or \"last\"), or a request body or session file; - reads standard input."`
	What   string `arg:"" optional:"" help:"Message (m12), original (d:1f2e3d4c), checkpoint (c:1), or summary by the client or the provider (c:m21). Default: an overview."`
	From   string `placeholder:"FORMAT" help:"Format of a file. Default: detected."`
	View   bool   `help:"Print a message of a stored conversation as the model sees it."`
	JSON   bool   `name:"json" help:"Print the overview as JSON."`
	command.CatalogFlag
	command.DBFlag
}

// Run prints one message, the original behind a stub, a checkpoint, or an overview. It never changes a
// file.
func (c *showCmd) Run(s *process.Process) error {
	if !sessionfile.IsFile(s, c.Source) {
		return c.With(s, func(ctx context.Context, db store.Store) error { return c.stored(ctx, s, db) })
	}
	doc, err := sessionfile.Read(s, c.Source, c.From)
	if err != nil {
		return err
	}
	if c.What == "" || strings.HasPrefix(c.What, "c:") {
		return c.listed(s, doc)
	}
	if h, ok := strings.CutPrefix(c.What, "d:"); ok {
		return printOriginal(s, c.Source, doc.Conversation, h)
	}
	return c.message(s, doc.Conversation)
}

// listed prints the overview of a file. It marks what the model does not see because the client compacted.
func (c *showCmd) listed(s *process.Process, doc *wire.Document) error {
	catalog, err := c.Models(s)
	if err != nil {
		return err
	}
	conv := doc.Conversation
	model, _ := catalog.Lookup(modelOf("", conv))
	of := report.Session{ID: c.Source, Session: conv.ID, Agent: cmp.Or(conv.Agent, string(doc.Format)), Model: modelOf("", conv)}
	size := token.For(model)
	o := report.NewOverview(of, conv, conv.With(conv.Live()), nil, size)
	o.Compacted(lookup.Compactions(context.Background(), conv, size))
	return c.print(s, o)
}

// message prints the requested message.
func (c *showCmd) message(s *process.Process, conv *decant.Conversation) error {
	n, err := strconv.Atoi(strings.TrimPrefix(c.What, "m"))
	if err != nil {
		return exit.Usage(fmt.Errorf("%q is neither a message (m12) nor a handle (d:1f2e3d4c, c:1)", c.What))
	}
	ms := conv.Messages
	i := slices.IndexFunc(ms, func(m decant.Message) bool { return m.Number == n })
	switch {
	case i >= 0:
		return s.Say(wire.Text(conv.With(ms[i : i+1])))
	case c.View:
		return exit.Input(fmt.Errorf("the model does not see m%d: \"decant show %s\" shows what replaced it", n, c.Source))
	case len(ms) == 0:
		return exit.Input(fmt.Errorf("%s: no message m%d: it has none", c.Source, n))
	}
	return exit.Input(fmt.Errorf("%s: no message m%d: it has m%d to m%d", c.Source, n, ms[0].Number, ms[len(ms)-1].Number))
}

// printOriginal prints the text of the block of a file whose hash begins with the digits of a handle.
func printOriginal(s *process.Process, name string, conv *decant.Conversation, digits string) error {
	found := map[decant.Hash]*decant.Block{}
	for i := range conv.Messages {
		for k := range conv.Messages[i].Blocks {
			b := &conv.Messages[i].Blocks[k]
			if h := b.Hash(); digits != "" && strings.HasPrefix(h.String(), digits) {
				found[h] = b
			}
		}
	}
	switch len(found) {
	case 0:
		return exit.Input(fmt.Errorf("%s: unknown handle d:%s: was the stub made from another file?", name, digits))
	case 1:
		for _, b := range found {
			return s.Say(b.Text() + "\n")
		}
	}
	return exit.Usage(fmt.Errorf("%d blocks have a handle that begins with d:%s: give more digits", len(found), digits))
}

// stored prints the requested part of a stored conversation.
func (c *showCmd) stored(ctx context.Context, s *process.Process, db store.Store) error {
	conv, err := c.Find(ctx, db, c.Source)
	if err != nil {
		return err
	}
	if strings.HasPrefix(c.What, "d:") {
		o, err := c.DBFlag.Original(ctx, db, conv.ID, decant.Handle(c.What))
		if err != nil {
			return err
		}
		var text strings.Builder
		if err := lookup.Expand(ctx, &text, db, o); err != nil {
			return err
		}
		return s.Say(text.String())
	}
	t, err := archive.ReadTranscript(ctx, db, conv.Key, store.Newest)
	if err != nil {
		return err
	}
	view, err := t.View()
	if err != nil {
		return err
	}
	switch {
	case c.What == "" || strings.HasPrefix(c.What, "c:"):
		return c.overview(ctx, s, conv, t, view)
	case c.View:
		return c.message(s, view)
	}
	return c.message(s, t.Conversation)
}

// overview prints the list of messages, or one checkpoint.
func (c *showCmd) overview(ctx context.Context, s *process.Process, conv *store.Summary, t *archive.Transcript, view *decant.Conversation) error {
	catalog, err := c.Models(s)
	if err != nil {
		return err
	}
	return c.print(s, lookup.Overview(ctx, conv, t, view, catalog))
}

// print prints an overview, or the checkpoint of it that is asked for.
func (c *showCmd) print(s *process.Process, o *report.Overview) error {
	switch {
	case strings.HasPrefix(c.What, "c:"):
		cp := o.Checkpoint(decant.Handle(c.What))
		if cp == nil {
			return exit.Input(fmt.Errorf("%s has no checkpoint %s: it has %d; write c:1, or c:m21 for a summary of the client's or the provider's", c.Source, c.What, len(o.Checkpoints)))
		}
		return cp.WriteText(s.Out, time.Local)
	case c.JSON:
		return command.WriteJSON(s.Out, o)
	}
	return o.WriteText(s.Out, s.Width, time.Local)
}
