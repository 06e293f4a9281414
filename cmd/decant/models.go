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
	rows := [][]string{{"model", "window", "output", "input", "cached", "write", "answer", "released", "retires", "verified"}}
	for i := range models {
		rows = append(rows, cells(&models[i]))
	}
	if err := report.WriteTable(s.Out, rows, "frRrRRrLlL"); err != nil {
		return err
	}
	_, err = fmt.Fprint(s.Out, "\nwindow and output: tokens; ~ where the window is assumed\ninput, cached, write, answer: dollars for a million tokens,\n"+
		"today; read from the cache, written to it; ? is not known\nreleased, retires: from when and until when it can be used,\nas far as announced; verified: when its prices were looked up\n")
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
	Status     string         `json:"status"`               // "active", "deprecated" and the like, empty when unknown
	Released   string         `json:"released,omitempty"`   // first day on which it could be used
	Deprecated string         `json:"deprecated,omitempty"` // when its retirement was announced
	Retires    string         `json:"retires,omitempty"`    // first day on which requests are refused
	Verified   string         `json:"prices_verified,omitempty"`
	Input      *float64       `json:"input"`
	CacheRead  *float64       `json:"cache_read"`
	CacheWrite *float64       `json:"cache_write"`
	Output     *float64       `json:"output"`
}

func rowOf(m *token.Model) modelRow {
	row := modelRow{ID: m.ID, Provider: m.Provider, Window: m.Window, Assumed: m.Assumed, MaxOutput: m.MaxOutput, MinCache: m.MinCache, Binds: m.Binds, Forgets: m.Forgets, Status: m.Status,
		Released: date(m.Released), Deprecated: date(m.Deprecated), Retires: date(m.Retires), Verified: date(m.Verified)}
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
	row := []string{m.ID, window, output}
	p, _, ok := m.PriceAt(time.Now())
	if !ok {
		return append(row, "?", "?", "?", "?", date(m.Released), retires(m), "")
	}
	r := p.At(0)
	return append(row, rate(r.Input), rate(r.CacheRead), rate(r.Write5m), rate(r.Output), date(m.Released), retires(m), date(m.Verified))
}

// retires says since when a model is retired or will be, as the table has it.
func retires(m *token.Model) string {
	if m.Retires.IsZero() && m.Status == "retired" {
		return "retired"
	}
	return date(m.Retires)
}

// date writes a day, empty where it is not known.
func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

func rate(r token.Rate) string {
	if !r.Known {
		return "?"
	}
	return fmt.Sprint(r.USD)
}
