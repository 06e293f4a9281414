// Package layer names the ways in which an investigation saves context, so that each can be switched off, and what it brings be measured.
//
// They have the names that settings and reports use. Without any of them an investigation is a plain loop: it sends
// the whole conversation each time, asks the provider to keep nothing of it, reads each file as often as it is asked for, however long it is, and has one
// limit of answers for every error.
package layer

import (
	"fmt"
	"slices"
	"strings"
)

// A Layer is one way to save context.
type Layer string

// The layers.
const (
	PromptCache Layer = "prompt-cache" // the provider keeps prompts: instructions and tools for an hour, an investigation for five minutes
	Editing     Layer = "editing"      // old results and thinking go at 30,000 tokens
	Compaction  Layer = "compaction"   // a summary comes at 50,000 tokens
	Budget      Layer = "budget"       // tokens for each error and each run, with a forced final answer
	Iterations  Layer = "iterations"   // as many answers as the class of the error is worth; without it 15
	Thinking    Layer = "thinking"     // by class, less with each answer; without it 8,000 tokens each time, where thinking is on
	CrossError  Layer = "cross-error"  // what was found about earlier errors of the run
	CodeCache   Layer = "code-cache"   // code that was read is held for 30 minutes
	Caps        Layer = "caps"         // results of tools are cut to 8,000, 4,000 and 2,000 characters
	Prior       Layer = "prior"        // what earlier runs have found about such errors
)

var all = []Layer{PromptCache, Caps, Editing, Compaction, Budget, Iterations, Thinking, CrossError, Prior, CodeCache}

// All returns the layers, those first that an investigation meets first.
func All() []Layer { return slices.Clone(all) }

// A Set is layers that are switched off. The zero value is none: all are on.
type Set struct{ off string } // names with spaces around them, in the order of all, so that equal sets are equal

// Off returns the set of layers that are switched off.
func Off(layers ...Layer) Set {
	var s Set
	for _, l := range all {
		if slices.Contains(layers, l) {
			s.off += " " + string(l) + " "
		}
	}
	return s
}

// Only returns the set in which all layers but some are switched off.
func Only(on ...Layer) Set {
	return Off(slices.DeleteFunc(All(), func(l Layer) bool { return slices.Contains(on, l) })...)
}

// On reports whether a layer is on.
func (s Set) On(l Layer) bool { return !strings.Contains(s.off, " "+string(l)+" ") }

// String returns the set as Parse reads it.
func (s Set) String() string {
	if s.off == "" {
		return "all"
	}
	var on []string
	for _, l := range all {
		if s.On(l) {
			on = append(on, string(l))
		}
	}
	if len(on) == 0 {
		return "none"
	}
	return strings.Join(on, ",")
}

// Parse reads which layers are on: all, none, or names. A name with - before it is all but that one. An empty list is all.
func Parse(names []string) (Set, error) {
	var on, off []Layer
	for _, name := range names {
		switch name = strings.TrimSpace(name); {
		case name == "all" && len(names) == 1:
			return Set{}, nil
		case name == "none" && len(names) == 1:
			return Off(all...), nil
		}
		bare, without := strings.CutPrefix(name, "-")
		if !slices.Contains(all, Layer(bare)) {
			return Set{}, fmt.Errorf("%q is no layer: all, none, or some of %s; -NAME is all but that one", name, list())
		}
		if without {
			off = append(off, Layer(bare))
		} else {
			on = append(on, Layer(bare))
		}
	}
	switch {
	case len(on) > 0 && len(off) > 0:
		return Set{}, fmt.Errorf("name either the layers that are on, or with - those that are off: %s", strings.Join(names, ","))
	case len(on) > 0:
		return Only(on...), nil
	}
	return Off(off...), nil
}

func list() string {
	var names []string
	for _, l := range all {
		names = append(names, string(l))
	}
	return strings.Join(names, ", ")
}
