package triage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/apps/triage/internal/group"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/store"
)

// knownKind is the kind of the journals of what is known of errors: one for each, whose head is a group.Known.
const knownKind = "triage-error"

// mostKnown is how many errors are looked at, the newest first.
const mostKnown = 10_000

// ErrUnknown means that nothing is known of an error.
var ErrUnknown = errors.New("no such error is known")

// Known returns the known errors by their keys.
func Known(ctx context.Context, o Options) (map[string]*group.Known, error) {
	found, err := o.Journals.Journals(ctx, store.JournalQuery{Tenant: o.Tenant, Kind: knownKind, Limit: mostKnown})
	if err != nil {
		return nil, fmt.Errorf("read what is known of errors: %w", err)
	}
	out := make(map[string]*group.Known, len(found))
	for _, j := range found {
		var k group.Known
		if err := json.Unmarshal(j.Head, &k); err != nil {
			return nil, fmt.Errorf("read what is known of error %s: %w", j.ID, err)
		}
		out[k.Key] = &k
	}
	return out, nil
}

// Knowledge returns the known errors, those that happened last first.
func Knowledge(ctx context.Context, o Options) ([]*group.Known, error) {
	all, err := Known(ctx, o)
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *group.Known) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Key, b.Key)) }), nil
}

// keep stores what is known of an error.
func keep(ctx context.Context, o Options, k *group.Known) error {
	head, err := json.Marshal(k, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("error %s: %w", k.Key, err)
	}
	key := store.Key{Tenant: o.Tenant, ID: knownKind + "/" + k.Key}
	err = o.Journals.AddSteps(ctx, &store.Addition{Key: key, Kind: knownKind, Head: head, Time: o.Now(), Steps: [][]byte{[]byte("{}")}})
	if errors.Is(err, store.ErrConflict) { // it is known already: the head alone changes
		err = o.Journals.AddSteps(ctx, &store.Addition{Key: key, Length: 1, Head: head, Time: o.Now()})
	}
	if err != nil {
		return fmt.Errorf("what is known of error %s cannot be kept: %w", k.Key, err)
	}
	return nil
}

// Judge records a person's verdict on a finding, named by the key of its error, the beginning of the key, or RUN#N.
func Judge(ctx context.Context, o Options, name string, right bool) (*group.Known, error) {
	if o.Now == nil {
		o = fresh(o, "").o
	}
	all, err := Known(ctx, o)
	if err != nil {
		return nil, err
	}
	var k *group.Known
	for _, one := range all {
		fits := strings.HasPrefix(one.Key, name) || one.Found != nil && name == fmt.Sprintf("%s#%d", one.Found.Run, one.Found.Number)
		if fits && k != nil {
			return nil, fmt.Errorf("%s is the beginning of several errors: name more of it", name)
		}
		if fits {
			k = one
		}
	}
	if k == nil || k.Found == nil {
		return nil, fmt.Errorf("%w, or nothing was found about it: %s", ErrUnknown, name)
	}
	set(k, group.Judgement{Run: k.Found.Run, Number: k.Found.Number, Confidence: k.Found.Confidence, Right: right, By: byPerson})
	return k, keep(ctx, o, k)
}

// The weights by which an earlier finding fits an error, and how many are told.
const (
	fitClass       = .5
	fitTransaction = .3
	fitTag         = .1
	leastFit       = .3
	mostPrior      = 3
)

// priorNotes returns findings of earlier runs about similar errors, the best fit first, at most three, without wrong ones.
func priorNotes(known map[string]*group.Known, g *group.Group) (out []investigate.Note) {
	type fit struct {
		k     *group.Known
		score float64
	}
	var fits []fit
	for _, k := range known {
		f := k.Found
		if f == nil || f.Cause == "" || f.Right == "no" {
			continue
		}
		score := 0.0
		if f.Class != "" && f.Class == g.Class {
			score += fitClass
		}
		if f.Transaction != "" && f.Transaction == g.Transaction {
			score += fitTransaction
		}
		about := strings.ToLower(g.Class + " " + g.Message + " " + g.Transaction)
		for _, tag := range f.Tags {
			if tag != "" && strings.Contains(about, strings.ToLower(tag)) {
				score += fitTag
			}
		}
		if k.Key == g.Key || score >= leastFit {
			fits = append(fits, fit{k, score + map[bool]float64{true: 1}[k.Key == g.Key]})
		}
	}
	slices.SortFunc(fits, func(a, b fit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.k.Key, b.k.Key)) })
	for _, f := range fits[:min(len(fits), mostPrior)] {
		out = append(out, note(f.k))
	}
	return out
}

// note returns an earlier finding as a note.
func note(k *group.Known) investigate.Note {
	f := k.Found
	title := fmt.Sprintf("An earlier run investigated %s on %s and found, with %s confidence (verify it independently: the code may have changed)", oneLine(k.Name), f.Time.UTC().Format("2006-01-02"), f.Confidence)
	if f.Right == "yes" {
		title += "; it was judged right"
	}
	return investigate.Note{Title: title, Text: f.Cause, Prior: true}
}

// oneLine returns a text that cannot leave its line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
