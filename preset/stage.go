package preset

import "cmp"

// Flush says whether the model may save what matters before a pour takes it out of its sight. The turn in which it does
// is neither stored nor shown.
type Flush struct {
	On     bool   `yaml:"on"`
	Ahead  int    `yaml:"ahead"`  // tokens before the trigger; 0: 4,000
	Prompt string `yaml:"prompt"` // what the model is asked; empty: Decant's own words
	Token  string `yaml:"token"`  // the line by which it says that it has done; empty: SILENT
}

// Settled returns f with the default values in fields that are zero.
func (f Flush) Settled() Flush {
	return Flush{
		On: f.On, Ahead: cmp.Or(f.Ahead, 4000), Prompt: f.Prompt, Token: cmp.Or(f.Token, "SILENT"),
	}
}

// Native says what a provider that manages contexts itself is asked for, and at which sizes. Where the model in use
// cannot do it, or the route is local, Decant does the same with the same numbers. The zero value asks for nothing.
//
// The first stage is decided once, wherever it is carried out, and stays as it was until the next pour. Only
// with [PruneEveryRequest] the provider gets the numbers and decides again on each request. A client that
// asks for edits itself has these alone.
type Native struct {
	Route      string     `yaml:"route"`      // RouteAuto, RouteLocal or RouteNative; empty: RouteAuto
	Editing    Editing    `yaml:"editing"`    // the first stage: old results and thinking go
	Compaction Compaction `yaml:"compaction"` // the second stage: a summary
}

// The values of Native.Route. Each names who carries out the stages.
const (
	RouteAuto   = "auto"   // the provider where it can, else Decant
	RouteLocal  = "local"  // Decant
	RouteNative = "native" // the provider; where it cannot, Decant when the window demands it
)

// routes returns the routes that a preset can name.
func routes() []string { return []string{RouteAuto, RouteLocal, RouteNative} }

// Editing clears what is old from a context. The zero value clears nothing.
type Editing struct {
	Tokens       int `yaml:"tokens"`        // due when the context is strictly larger; 0: never
	KeepCalls    int `yaml:"keep_calls"`    // the results of the newest so many calls stay
	KeepThinking int `yaml:"keep_thinking"` // the newest so many messages of the assistant with thinking keep it
	Least        int `yaml:"least"`         // nothing is cleared that frees fewer tokens
}

// Compaction replaces a context by a summary, for which Summary.Instructions hold. The zero value replaces nothing.
type Compaction struct {
	Tokens int `yaml:"tokens"` // due when the context is strictly larger; 0: never
	// behind the summary budgets are looked at, and where one is nearly spent the model is asked to come to an
	// end
	Pause bool `yaml:"pause"`
}
