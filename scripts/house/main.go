// House measures how the code of this module is laid out: the largest circle of files that use each other, the widest
// types, the files that a reader of one request opens, exported names that nothing else uses, and the lengths of
// functions. It prints a table, and fails where a measure is above its limit.
//
// usage: go run ./scripts/house [-v]
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	verbose := flag.Bool("v", false, "name what is counted")
	flag.Parse()
	h, err := load(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
	high := 0
	for _, r := range h.table() {
		mark := ""
		if r.limit > 0 && r.value > r.limit {
			mark = "  above its limit"
			high++
		}
		fmt.Printf("%-58s %5g", r.name, r.value)
		if r.limit > 0 {
			fmt.Printf("  (limit %g)", r.limit)
		}
		fmt.Println(mark)
		if *verbose {
			for _, s := range r.detail {
				fmt.Println("    " + s)
			}
		}
	}
	if high > 0 {
		fmt.Fprintf(os.Stderr, "house: %d above their limits\n", high)
		os.Exit(1)
	}
}

// A row is one measure.
type row struct {
	name   string
	value  float64
	limit  float64 // 0: it is only reported
	detail []string
}

func (h *house) table() (rows []row) {
	add := func(name string, value int, limit float64, detail ...string) {
		rows = append(rows, row{name, float64(value), limit, detail})
	}
	for _, p := range h.pkgs {
		limit, held := limits[p.name]
		if !held {
			continue
		}
		c := h.circle(p)
		add(p.name+": files in the largest circle", len(c), limit.circle, c...)
		methods, fields, most, broad := p.widest()
		add(p.name+": most methods on a type ("+most+")", methods, limit.methods)
		add(p.name+": most fields of a type ("+broad+")", fields, limit.fields)
	}
	for _, p := range h.pkgs {
		if p.name == "engine" {
			w := h.way(p, "Engine", "Prepare")
			add("engine: files that Prepare leads through", len(w.files), limitFiles, w.files...)
			add("engine: returns to a file left before", w.returns, limitReturns)
		}
	}
	public, internal := h.unused()
	add("exported names that no other package uses", len(public), limitUnused, public...)
	add("exported names under internal that none uses", len(internal), limitUnusedInternal, internal...)
	fs := h.functions()
	add("functions", len(fs.lengths), 0)
	add("functions: median lines", fs.lengths[len(fs.lengths)/2], limitMedian)
	add("functions: longest ("+fs.longest+")", fs.lengths[len(fs.lengths)-1], limitLongest)
	rows = append(rows, row{name: "comments inside bodies, per function", value: float64(fs.comments*100/len(fs.lengths)) / 100})
	return rows
}
