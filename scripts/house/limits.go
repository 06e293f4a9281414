package main

// limit bounds the measures of one package.
type limit struct{ circle, methods, fields float64 }

var limits = map[string]limit{
	"engine":       {},
	"wire":         {},
	"store/sqlite": {},
	"reduce":       {},
	"summary":      {},
	"replay":       {},
	"cmd/decant":   {},
}

const (
	limitFiles   = 0
	limitReturns = 0
	limitUnused  = 0
	limitMedian  = 0
	limitLongest = 48
)
