package investigate

import (
	"fmt"
	"slices"
	"strings"
)

// A Layer is one way to save context.
type Layer string

// The layers.
const (
	LayerPromptCache Layer = "prompt-cache" // the provider keeps prompts: instructions and tools for an hour, an investigation for five minutes
	LayerEditing     Layer = "editing"      // old results and thinking go at 30,000 tokens
	LayerCompaction  Layer = "compaction"   // a summary comes at 50,000 tokens
	LayerBudget      Layer = "budget"       // tokens for each error and each run, with a forced final answer
	LayerIterations  Layer = "iterations"   // as many answers as the class of the error is worth; without it 15
	LayerThinking    Layer = "thinking"     // by class, less with each answer; without it 8,000 tokens each time, where thinking is on
	LayerCrossError  Layer = "cross-error"  // what was found about earlier errors of the run
	LayerCodeCache   Layer = "code-cache"   // code that was read is held for 30 minutes
	LayerCaps        Layer = "caps"         // results of tools are cut to 8,000, 4,000 and 2,000 characters
	LayerPrior       Layer = "prior"        // what earlier runs have found about such errors
)

var allLayers = []Layer{LayerPromptCache, LayerCaps, LayerEditing, LayerCompaction, LayerBudget, LayerIterations, LayerThinking, LayerCrossError, LayerPrior, LayerCodeCache}

// AllLayers returns the layers, those first that an investigation meets first.
func AllLayers() []Layer { return slices.Clone(allLayers) }

// A LayerSet has layers that are switched off. The zero value switches off nothing.
type LayerSet struct{ off string } // names with spaces around them, in the order of all, so that equal sets are equal

// WithoutLayers returns the set of layers that are switched off.
func WithoutLayers(layers ...Layer) LayerSet {
	var s LayerSet
	for _, l := range allLayers {
		if slices.Contains(layers, l) {
			s.off += " " + string(l) + " "
		}
	}
	return s
}

// OnlyLayers returns the set in which all layers but some are switched off.
func OnlyLayers(on ...Layer) LayerSet {
	return WithoutLayers(slices.DeleteFunc(AllLayers(), func(l Layer) bool { return slices.Contains(on, l) })...)
}

// On reports whether a layer is on.
func (s LayerSet) On(l Layer) bool { return !strings.Contains(s.off, " "+string(l)+" ") }

// String returns the set as Parse reads it.
func (s LayerSet) String() string {
	if s.off == "" {
		return "all"
	}
	var on []string
	for _, l := range allLayers {
		if s.On(l) {
			on = append(on, string(l))
		}
	}
	if len(on) == 0 {
		return "none"
	}
	return strings.Join(on, ",")
}

// ParseLayers reads which layers are on: all, none, or names. A name with - before it is all but that one. An empty list is all.
func ParseLayers(names []string) (LayerSet, error) {
	var on, off []Layer
	for _, name := range names {
		switch name = strings.TrimSpace(name); {
		case name == "all" && len(names) == 1:
			return LayerSet{}, nil
		case name == "none" && len(names) == 1:
			return WithoutLayers(allLayers...), nil
		}
		bare, without := strings.CutPrefix(name, "-")
		if !slices.Contains(allLayers, Layer(bare)) {
			return LayerSet{}, fmt.Errorf("%q is no layer: all, none, or some of %s; -NAME is all but that one", name, layerNames())
		}
		if without {
			off = append(off, Layer(bare))
		} else {
			on = append(on, Layer(bare))
		}
	}
	switch {
	case len(on) > 0 && len(off) > 0:
		return LayerSet{}, fmt.Errorf("name either the layers that are on, or with - those that are off: %s", strings.Join(names, ","))
	case len(on) > 0:
		return OnlyLayers(on...), nil
	}
	return WithoutLayers(off...), nil
}

func layerNames() string {
	var names []string
	for _, l := range allLayers {
		names = append(names, string(l))
	}
	return strings.Join(names, ", ")
}
