package main

import (
	"fmt"
	"time"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/token"
)

type modelsCmd struct {
	command.CatalogFlag
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists the catalogue.
func (c *modelsCmd) Run(s *process.Process) error {
	catalog, err := c.Models(s)
	if err != nil {
		return err
	}
	models := catalog.Models()
	if c.JSON {
		rows := make([]modelRow, len(models))
		for i := range models {
			rows[i] = rowOf(&models[i])
		}
		return command.WriteJSON(s.Out, rows)
	}
	rows := [][]string{{"model", "provider", "window", "output", "input", "cached", "write", "answer", "retires"}}
	for i := range models {
		rows = append(rows, cells(&models[i]))
	}
	if err := report.WriteTable(s.Out, rows, "fLrRrRRrL"); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, "\nwindow and output: tokens; ~ where the window is assumed\ninput, cached, write, answer: dollars for a million tokens,\n"+
		"today; read from the cache, written to it; ? is not known\nretires: the day on which requests are refused, as far as\nit was announced on %s\n", catalog.AsOf().Format(time.DateOnly))
	return err
}

// modelRow is a model in JSON; prices are today's, in US dollars per million tokens, null when unknown.
type modelRow struct {
	ID         string         `json:"id"`
	Provider   token.Provider `json:"provider"`
	Window     int            `json:"window"`
	Assumed    bool           `json:"window_assumed"`
	MaxOutput  int            `json:"max_output"`
	MinCache   int            `json:"min_cacheable"`
	Binds      bool           `json:"thinking_prefix_binding"`
	Forgets    bool           `json:"thinking_prefix_dropped"`
	Status     string         `json:"status"`            // "active", "deprecated" and the like, empty when unknown
	Retires    string         `json:"retires,omitempty"` // first day on which requests are refused
	Input      *float64       `json:"input"`
	CacheRead  *float64       `json:"cache_read"`
	CacheWrite *float64       `json:"cache_write"`
	Output     *float64       `json:"output"`
}

func rowOf(m *token.Model) modelRow {
	row := modelRow{ID: m.ID, Provider: m.Provider, Window: m.Window, Assumed: m.Assumed, MaxOutput: m.MaxOutput, MinCache: m.MinCache, Binds: m.Binds, Forgets: m.Forgets, Status: m.Status}
	if !m.Retires.IsZero() {
		row.Retires = m.Retires.Format(time.DateOnly)
	}
	if p, _, ok := m.PriceAt(time.Now()); ok {
		r := p.At(0)
		row.Input, row.CacheRead, row.CacheWrite, row.Output = known(r.Input), known(r.CacheRead), known(r.Write5m), known(r.Output)
	}
	return row
}

// known returns the price, nil when it is not known.
func known(r token.Rate) *float64 {
	if !r.Known {
		return nil
	}
	return &r.USD
}

// cells returns a model's row of the table.
func cells(m *token.Model) []string {
	window, output := report.Thousands(m.Window), "?"
	if m.Assumed {
		window = "~" + window
	}
	if m.MaxOutput > 0 {
		output = report.Thousands(m.MaxOutput)
	}
	row := []string{m.ID, string(m.Provider), window, output}
	p, _, ok := m.PriceAt(time.Now())
	if !ok {
		return append(row, "?", "?", "?", "?", retires(m))
	}
	r := p.At(0)
	return append(row, rate(r.Input), rate(r.CacheRead), rate(r.Write5m), rate(r.Output), retires(m))
}

// retires says since when a model is retired or will be, as the table has it.
func retires(m *token.Model) string {
	switch {
	case !m.Retires.IsZero():
		return m.Retires.Format(time.DateOnly)
	case m.Status == "retired":
		return "retired"
	}
	return ""
}

func rate(r token.Rate) string {
	if !r.Known {
		return "?"
	}
	return fmt.Sprint(r.USD)
}
