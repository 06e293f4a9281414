package form

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// A Source reads what is stored of the conversations of one tenant. An unknown conversation is an error.
type Source interface {
	// Origin returns where a conversation left its parent; the Parent of one that is no fork is empty.
	Origin(id string) (store.Origin, error)

	// Segments calls each with the conversation's own segments up to version, in order.
	Segments(id string, version int64, each func(version int64, position int, data []byte) error) error

	// Decided returns the decisions that the conversation has made itself up to version, in order.
	Decided(id string, version int64) ([]decant.Decision, error)

	// MadeBy returns the ids of the decisions that a commit of the conversation has made, in order.
	MadeBy(id string, version int64) ([]string, error)
}

// Chain returns the conversation's chain as of version.
func Chain(src Source, id string, version int64) ([]store.Entry, error) {
	o, err := src.Origin(id)
	if err != nil {
		return nil, err
	}
	var chain []store.Entry
	if o.Parent != "" {
		if chain, err = common(src, &o, id); err != nil {
			return nil, err
		}
	}
	return Own(src, chain, id, version, nil)
}

// common returns what the conversation shared of the parent's chain when it began.
func common(src Source, o *store.Origin, id string) ([]store.Entry, error) {
	chain, err := Chain(src, o.Parent, o.Version)
	if err != nil {
		return nil, err
	}
	if len(chain) < o.Position {
		return nil, fmt.Errorf("conversation %s shares %d entries of %d: %w", id, o.Position, len(chain), store.ErrCorrupt)
	}
	return chain[:o.Position], nil
}

// Own carries out the conversation's own segments up to version on the part of the chain that it
// shared when it began. It calls gone, if there is one, with entries that are replaced.
func Own(src Source, chain []store.Entry, id string, version int64, gone func([]store.Entry)) ([]store.Entry, error) {
	err := src.Segments(id, version, func(_ int64, position int, data []byte) (err error) {
		if position < 1 || position > len(chain)+1 {
			return fmt.Errorf("entry %d follows entry %d: %w", position, len(chain), store.ErrCorrupt)
		}
		if gone != nil {
			gone(chain[position-1:])
		}
		chain, err = AppendSegment(chain[:position-1], data)
		return err
	})
	return chain, err
}

// Decisions returns the decisions of a conversation as of version, those that it began with first.
// Version 0 is before its first commit.
func Decisions(src Source, id string, version int64) ([]decant.Decision, error) {
	o, err := src.Origin(id)
	if err != nil {
		return nil, err
	}
	var ds []decant.Decision
	if o.Parent != "" {
		if ds, err = inherited(src, &o, id); err != nil {
			return nil, err
		}
	}
	own, err := src.Decided(id, version)
	return append(ds, own...), err
}

// inherited returns the decisions that a fork began with.
func inherited(src Source, o *store.Origin, id string) ([]decant.Decision, error) {
	ds, err := Decisions(src, o.Parent, o.InForce)
	if err != nil || len(ds) == 0 {
		return nil, err
	}
	chain, err := Chain(src, o.Parent, o.Version)
	if err != nil {
		return nil, err
	}
	if len(chain) < o.Position {
		return nil, fmt.Errorf("conversation %s shares %d entries of %d: %w", id, o.Position, len(chain), store.ErrCorrupt)
	}
	return store.Inherit(ds, chain, o.Position), nil
}

// Ancestors returns the conversation and those that it was forked from, nearest first.
func Ancestors(src Source, id string) ([]string, error) {
	var ids []string
	for id != "" {
		o, err := src.Origin(id)
		if err != nil {
			return nil, err
		}
		ids, id = append(ids, id), o.Parent
	}
	return ids, nil
}
