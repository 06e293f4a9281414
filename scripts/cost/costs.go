package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// costs are what the program costs: figures, and the plans of statements that read a whole table or sort.
type costs struct {
	Figures []figure            `json:"figures"`
	Plans   map[string][]string `json:"plans"`
	Others  float64             `json:"-"` // the most that other programs used meanwhile, of all processors
}

// A figure is one measure.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// tolerance is how much a figure may rise.
const tolerance = 1.25

// cpuTime ends the names of figures that are processor time, as ratios to a floor.
const cpuTime = ": processor"

// add adds a figure, as exact as it is printed.
func (c *costs) add(name string, value float64, unit string) {
	value, _ = strconv.ParseFloat(short(value), 64)
	c.Figures = append(c.Figures, figure{Name: name, Value: value, Unit: unit})
}

// above reports whether a figure is above what is accepted.
func (c *costs) above(accepted *costs) bool {
	return slices.ContainsFunc(c.Figures, func(f figure) bool {
		i := slices.IndexFunc(accepted.Figures, func(a figure) bool { return a.Name == f.Name })
		return i >= 0 && f.Value > accepted.Figures[i].Value*tolerance
	})
}

// least returns the least of the same figures, measured several times.
func least(all []*costs) *costs {
	return pick(all, func(sorted []float64) float64 { return sorted[0] })
}

// pick returns one of the values of each figure, which were measured several times.
func pick(all []*costs, one func(sorted []float64) float64) *costs {
	out := &costs{Figures: slices.Clone(all[0].Figures), Plans: all[0].Plans}
	for i := range out.Figures {
		values := make([]float64, len(all))
		for k, c := range all {
			values[k] = c.Figures[i].Value
		}
		slices.Sort(values)
		out.Figures[i].Value = one(values)
	}
	return out
}

// readCosts reads what is accepted. It returns no costs with an error.
func readCosts(file string) (*costs, error) {
	c := &costs{}
	text, err := os.ReadFile(file)
	if err != nil {
		return c, fmt.Errorf("read what is accepted: %w; run it in the folder of the module", err)
	}
	if err := json.Unmarshal(text, c); err != nil {
		return &costs{}, fmt.Errorf("%s: %w; make it anew: go run ./scripts/cost -accept", file, err)
	}
	return c, nil
}

// write writes costs as they are accepted.
func (c *costs) write(file string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(c); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// short prints three digits, or whole numbers.
func short(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// compare prints the table. It returns what is dearer than accepted, and hints what has become cheaper.
func compare(w io.Writer, accepted, now *costs) (dearer, hints []string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "measure\taccepted\tnow\tchange\t")
	old := map[string]figure{}
	for _, f := range accepted.Figures {
		old[f.Name] = f
	}
	for _, f := range now.Figures {
		was, known := old[f.Name]
		delete(old, f.Name)
		if !known {
			dearer = append(dearer, f.Name+" is new: nothing is accepted for it")
			was.Value = f.Value
		}
		change := fmt.Sprintf("%+.0f %%", math.Round(100*(f.Value/was.Value-1))+0) // never -0
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", f.Name, short(was.Value), short(f.Value), change, f.Unit)
		line := fmt.Sprintf("%s: %s, accepted are %s %s (%s)", f.Name, short(f.Value), short(was.Value), f.Unit, change)
		switch {
		case f.Value > was.Value*tolerance && now.Others > quiet && strings.HasSuffix(f.Name, cpuTime):
			hints = append(hints, fmt.Sprintf("%s; not judged, since other programs use %.0f %% of the processors", line, 100*now.Others))
		case f.Value > was.Value*tolerance:
			dearer = append(dearer, line)
		case f.Value*tolerance < was.Value:
			hints = append(hints, line+"; accept it, so that it stays so")
		}
	}
	t.Flush()
	for name := range old {
		hints = append(hints, name+" is accepted and no longer measured")
	}
	added, gone := difference(now.Plans, accepted.Plans), difference(accepted.Plans, now.Plans)
	return append(dearer, added...), append(hints, gone...)
}

// difference returns the lines of plans that others do not have.
func difference(plans, others map[string][]string) (out []string) {
	for _, statement := range slices.Sorted(maps.Keys(plans)) {
		for _, line := range plans[statement] {
			if !slices.Contains(others[statement], line) {
				out = append(out, fmt.Sprintf("store/sqlite, statement %q: %s", statement, line))
			}
		}
	}
	return out
}
