package main

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/cost"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/report"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

type inspectCmd struct {
	Files []string `arg:"" name:"file" help:"Request bodies or session files, plain or gzip; - for standard input."`
	Model string   `placeholder:"ID" help:"Model to count for. Default: the one in the file."`
	From  string   `placeholder:"FORMAT" help:"Format of the input. Default: found in the content."`
	JSON  bool     `name:"json" help:"Print JSON, one object a file."`
	catalogFlag
}

// Run inspects each file; one that cannot be read does not keep the others from being shown.
func (c *inspectCmd) Run(s *streams) error {
	catalog, err := c.models()
	if err != nil {
		return err
	}
	var failed error
	for i, name := range c.Files {
		doc, err := s.document(name, c.From)
		if err != nil {
			if len(c.Files) == 1 {
				return err
			}
			s.warn(err)
			failed = inputError{errSkipped}
			continue
		}
		in := c.inspect(name, doc, catalog)
		if i > 0 && !c.JSON {
			s.blank()
		}
		if err := c.print(s, in); err != nil {
			return err
		}
	}
	return failed
}

func (c *inspectCmd) print(s *streams, in *report.Inspection) error {
	if c.JSON {
		return writeJSON(s.out, in)
	}
	return in.WriteText(s.out, s.width)
}

func (c *inspectCmd) inspect(name string, doc *wire.Document, catalog *token.Catalog) *report.Inspection {
	conv := doc.Conversation
	model, _ := catalog.Lookup(modelOf(c.Model, conv))
	est := token.For(model)
	in := report.Inspect(conv, est)
	in.Name, in.Format, in.Window, in.Assumed = name, string(doc.Format), model.Window, model.Assumed
	in.Live = token.Meter{Estimator: est}.Read(conv).Tokens
	in.Superseded, in.Duplicate = engine.Stale(conv, est)
	in.Usage.CostUSD, in.Usage.Priced = priced(conv, catalog, model.ID)
	for _, w := range doc.Warnings {
		in.Warnings = append(in.Warnings, w.String())
	}
	return in
}

// priced returns what the recorded usage of conv costs by today's prices, and whether the prices of
// every model in it are known.
func priced(conv *decant.Conversation, catalog *token.Catalog, otherwise string) (usd float64, all bool) {
	all = true
	for i := range conv.Messages {
		m := &conv.Messages[i]
		if m.Usage == nil {
			continue
		}
		id := m.Model
		if id == "" {
			id = otherwise
		}
		model, _ := catalog.Lookup(id)
		v, ok := cost.Of(model, *m.Usage, cost.Terms{At: time.Now()}).Total()
		usd += v
		all = all && ok
	}
	return usd, all
}
