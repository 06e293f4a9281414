package main

// limit bounds the measures of one package. They are what the package has now: they may fall and not rise.
type limit struct{ circle, methods, fields float64 }

var limits = map[string]limit{
	"engine":                 {circle: 5, methods: 28, fields: 15},
	"wire":                   {circle: 1, methods: 9, fields: 7},
	"wire/internal/contents": {circle: 2, methods: 5, fields: 5},
	"wire/internal/parsing":  {circle: 1, methods: 18, fields: 11},
	"wire/internal/render":   {circle: 4, methods: 15, fields: 10},
	"wire/internal/request":  {circle: 2, methods: 15, fields: 13},
	"wire/internal/session":  {circle: 2, methods: 16, fields: 15},
	"policy":                 {circle: 7, methods: 26, fields: 15},
	"store/sqlite":           {circle: 25, methods: 63, fields: 13},
	"internal/reduce":        {circle: 2, methods: 23, fields: 13},
	"internal/summary":       {circle: 3, methods: 19, fields: 14},
	"internal/replay":        {circle: 17, methods: 28, fields: 31},
	"cmd/decant":             {circle: 46, methods: 15, fields: 29},
}

const (
	limitFiles          = 12
	limitReturns        = 13
	limitUnused         = 48
	limitUnusedInternal = 21
	limitMedian         = 11
	limitLongest        = 48
)
