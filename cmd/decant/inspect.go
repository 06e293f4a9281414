package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/sessionfile"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

type inspectCmd struct {
	Files []string `arg:"" name:"file" help:"Request bodies or session files, plain or gzip; - reads standard input."`
	Model string   `placeholder:"ID" help:"Model to count tokens for. Default: the one in the file."`
	From  string   `placeholder:"FORMAT" help:"Input format. Default: detected."`
	JSON  bool     `name:"json" help:"Print JSON, one object per file."`
	HTML  string   `name:"html" placeholder:"FILE" help:"Write an HTML page, which needs no network."`
	command.CatalogFlag
}

// Run inspects each file. If one cannot be read, the rest are shown all the same.
func (c *inspectCmd) Run(s *process.Process) error {
	catalog, err := c.Models(s)
	if err != nil {
		return err
	}
	for _, name := range c.Files {
		if s.SameFile(c.HTML, name) {
			return exit.Usage(fmt.Errorf("%s is an input: name another file for the page", c.HTML))
		}
	}
	var failed error
	var all []*report.Inspection
	for i, name := range c.Files {
		in, err := c.read(s, name, catalog)
		if err != nil {
			if len(c.Files) == 1 {
				return err
			}
			s.Warn(err)
			failed = exit.Input(errSkipped)
			continue
		}
		all = append(all, in)
		if i > 0 && !c.JSON {
			s.Blank()
		}
		if err := c.print(s, in); err != nil {
			return err
		}
	}
	if c.HTML != "" && len(all) > 0 {
		return errors.Join(failed, s.Output(c.HTML, func(w io.Writer) error { return report.WriteInspections(w, all) }))
	}
	return failed
}

// read reads and inspects a file.
func (c *inspectCmd) read(s *process.Process, name string, catalog *token.Catalog) (in *report.Inspection, err error) {
	err = s.Working("inspecting "+name, func() error {
		doc, err := sessionfile.Read(s, name, c.From)
		if err == nil {
			in = c.inspect(name, doc, catalog)
		}
		return err
	})
	return in, err
}

func (c *inspectCmd) print(s *process.Process, in *report.Inspection) error {
	if c.JSON {
		return command.WriteJSON(s.Out, in)
	}
	return in.WriteText(s.Out, s.Width)
}

func (c *inspectCmd) inspect(name string, doc *wire.Document, catalog *token.Catalog) *report.Inspection {
	conv := doc.Conversation
	model, _ := catalog.Lookup(modelOf(c.Model, conv))
	est := token.For(model)
	in := report.Inspect(conv, est)
	in.Name, in.Format, in.Window, in.Assumed = name, string(doc.Format), model.Window, model.Assumed
	r := token.Meter{Estimator: est}.Read(conv)
	in.Live, in.Measured = r.Tokens, r.Anchor > 0
	in.Superseded, in.Duplicate = policy.Stale(context.Background(), conv, est)
	models := func(id string) token.Model {
		m, _ := catalog.Lookup(cmp.Or(id, model.ID))
		return m
	}
	paid := cost.PaidFor(conv, models)
	in.Writes = report.WritesOf(conv, models)
	in.Usage.CostUSD, in.Usage.Priced = paid.USD, !paid.Unpriced
	for _, w := range doc.Warnings {
		in.Warnings = append(in.Warnings, w.String())
	}
	return in
}

// errSkipped says that some of several inputs could not be read. The reasons were printed before.
var errSkipped = errors.New("some files were left out")
