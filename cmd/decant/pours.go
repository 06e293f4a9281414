package main

import (
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/cost"
	"github.com/decantdev/decant/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// poursOf returns the pours of a conversation since a moment and what each has come to: what it has
// kept from being read again and again, and what it has cost to write anew what stood behind its
// first change. Decisions of one pour have ids that begin alike.
func poursOf(state *store.State, requests []store.Request, m token.Model, since time.Time) (out []report.Pour) {
	ds := state.Live()
	for i := 0; i < len(ds); {
		end := i + 1
		for end < len(ds) && group(&ds[end]) == group(&ds[i]) {
			end++
		}
		if p := ds[i:end]; rewrites(p) && !p[0].Created.Before(since) {
			out = append(out, pourOf(state, p, requests, m))
		}
		i = end
	}
	return out
}

// group returns what the ids of decisions that were made together have in common.
func group(d *decant.Decision) string {
	id, _, _ := strings.Cut(d.ID, ".")
	return id
}

// rewrites reports whether decisions change what was sent before: those at first sight do not.
func rewrites(ds []decant.Decision) bool {
	for i := range ds {
		switch d := &ds[i]; {
		case d.Kind == decant.Cover, d.Kind == decant.DropThinking:
			return true
		case (d.Kind == decant.Shrink || d.Kind == decant.Stub) && d.Reduction != "first_sight" && d.Reduction != "terminal":
			return true
		}
	}
	return false
}

func pourOf(state *store.State, ds []decant.Decision, requests []store.Request, m token.Model) report.Pour {
	p := report.Pour{Conversation: state.ID, Time: ds[0].Created.UTC().Format(time.RFC3339), Decisions: len(ds)}
	first := 1 << 30 // message of the first change
	for i := range ds {
		d := &ds[i]
		at, freed := d.Target.Message, d.Before-d.After
		if cp := d.Checkpoint; cp != nil {
			at, freed = cp.From, cp.Original-cp.Compressed
		}
		first = min(first, at)
		p.Freed += freed
	}
	held := lengthAt(requests, ds[0].Created)
	for i := range state.Chain {
		if e := &state.Chain[i]; e.Message >= first && e.Position <= held {
			p.Again += e.Tokens
		}
	}
	p.Again = max(0, p.Again-p.Freed)
	for i := range requests {
		if requests[i].Time.After(ds[0].Created) {
			p.Requests++
		}
	}
	price, _ := cost.Change{Prompt: p.Again + p.Freed, Freed: p.Freed, Behind: p.Again}.Price(m, ds[0].Created)
	p.Cost, p.Saved = price.CostUSD, price.SaveUSD*float64(p.Requests)
	p.Even = p.Saved >= p.Cost
	return p
}
