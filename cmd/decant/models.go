package main

import (
	"fmt"
	"os"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/token"
)

// catalogFlag is the flag with which every command that counts tokens takes the user's models.
type catalogFlag struct {
	Catalog string `placeholder:"FILE" env:"DECANT_CATALOG" help:"JSON file with models to add or replace (or DECANT_CATALOG)."`
}

// models returns the catalogue.
func (f *catalogFlag) models(s *process.Process) (*token.Catalog, error) {
	c, err := token.Builtin()
	if err != nil || f.Catalog == "" {
		return c, err
	}
	src, err := os.ReadFile(s.Path(f.Catalog))
	if err != nil {
		return nil, exit.Input(err)
	}
	if c, err = c.Add(src); err != nil {
		return nil, exit.Input(fmt.Errorf("%s: %w", f.Catalog, err))
	}
	return c, nil
}

type modelsCmd struct {
	catalogFlag
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists the catalogue.
func (c *modelsCmd) Run(s *process.Process) error {
	catalog, err := c.models(s)
	if err != nil {
		return err
	}
	models := catalog.Models()
	if c.JSON {
		rows := make([]modelRow, len(models))
		for i := range models {
			rows[i] = rowOf(&models[i])
		}
		return writeJSON(s.Out, rows)
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
	Status     string         `json:"status"`            // "active", "deprecated" and the like, empty when unknown
	Retires    string         `json:"retires,omitempty"` // first day on which requests are refused
	Input      *float64       `json:"input"`
	CacheRead  *float64       `json:"cache_read"`
	CacheWrite *float64       `json:"cache_write"`
	Output     *float64       `json:"output"`
}

func rowOf(m *token.Model) modelRow {
	row := modelRow{ID: m.ID, Provider: m.Provider, Window: m.Window, Assumed: m.Assumed, MaxOutput: m.MaxOutput, MinCache: m.MinCache, Binds: m.Binds, Status: m.Status}
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

// writeJSON writes v as indented JSON with a newline at its end.
func writeJSON(w interface{ Write([]byte) (int, error) }, v any) error {
	// What a client has sent may not be UTF-8.
	err := json.MarshalWrite(w, v, jsontext.Multiline(true), jsontext.WithIndent("  "), json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err == nil {
		_, err = w.Write([]byte{'\n'})
	}
	return err
}
