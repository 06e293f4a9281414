package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/report"
	"github.com/decantdev/decant/token"
)

// catalogFlag is the flag with which every command that counts takes a user's models.
type catalogFlag struct {
	Catalog string `placeholder:"FILE" env:"DECANT_CATALOG" help:"Models that add to the built-in catalogue or replace some of it."`
}

// models returns the catalogue.
func (f *catalogFlag) models() (*token.Catalog, error) {
	c, err := token.Builtin()
	if err != nil || f.Catalog == "" {
		return c, err
	}
	src, err := os.ReadFile(f.Catalog)
	if err != nil {
		return nil, inputError{err}
	}
	if c, err = c.Add(src); err != nil {
		return nil, inputError{fmt.Errorf("%s: %w", f.Catalog, err)}
	}
	return c, nil
}

type modelsCmd struct {
	catalogFlag
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists the catalogue.
func (c *modelsCmd) Run(s *streams) error {
	catalog, err := c.models()
	if err != nil {
		return err
	}
	models := catalog.Models()
	if c.JSON {
		return writeJSON(s.out, models)
	}
	fmt.Fprintf(s.out, "%-24s %-10s %10s %9s  %s\n", "model", "provider", "window", "output", "$ per million tokens: input, cached, cache write, output")
	for i := range models {
		fmt.Fprintln(s.out, strings.TrimRight(modelLine(&models[i]), " "))
	}
	return nil
}

func modelLine(m *token.Model) string {
	window := report.Thousands(m.Window)
	if m.Assumed {
		window = "~" + window
	}
	return fmt.Sprintf("%-24s %-10s %10s %9s  %s", m.ID, m.Provider, window, report.Thousands(m.MaxOutput), priceText(m))
}

func priceText(m *token.Model) string {
	p, _, ok := m.PriceAt(time.Now())
	if !ok {
		return "unknown"
	}
	r := p.At(0)
	return fmt.Sprintf("%s, %s, %s, %s", r.Input, r.CacheRead, r.Write5m, r.Output)
}

// writeJSON writes v as indented JSON with a newline at its end.
func writeJSON(w interface{ Write([]byte) (int, error) }, v any) error {
	return json.MarshalWrite(w, v, jsontext.Multiline(true), json.Deterministic(true))
}
