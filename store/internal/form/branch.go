package form

import (
	"fmt"
	"math"

	"github.com/decantdev/decant/store"
)

// Branch returns what store.Loader's Branch does. A seen of less than position is position.
func Branch(src Source, id string, version int64, position, seen int) (*store.Branch, error) {
	seen = max(position, seen)
	o, err := src.Origin(id)
	if err != nil {
		return nil, err
	}
	steps, err := history(src, id, version, o.Position)
	if err != nil {
		return nil, err
	}
	length := steps[len(steps)-1].length
	if position < 1 || position > length {
		return nil, fmt.Errorf("branch at position %d of a chain of %d: %w", position, length, store.ErrInvalid)
	}
	var behind []string
	for _, v := range commitsBehind(steps, position) {
		ids, err := src.MadeBy(id, v)
		if err != nil {
			return nil, err
		}
		behind = append(behind, ids...)
	}
	at := newestWithin(steps, version, seen)
	if at.version == 0 && position < o.Position { // it goes back to before the conversation left its own parent
		b, err := Branch(src, o.Parent, o.Version, position, min(seen, o.Position))
		if err == nil {
			b.Behind = append(b.Behind, behind...)
		}
		return b, err
	}
	b := &store.Branch{Origin: store.Origin{Parent: id, Version: version, Position: position, InForce: at.version}, Length: at.length, Behind: behind}
	ds, err := Decisions(src, id, at.version)
	if err != nil || len(ds) == 0 {
		return b, err
	}
	chain, err := Chain(src, id, version)
	if err != nil {
		return nil, err
	}
	b.Decisions = store.Inherit(ds, chain, position)
	return b, nil
}

// A step is a version of a conversation that has changed its chain. The first step is version 0: what
// it began with.
type step struct {
	version  int64
	position int // first entry that it changed
	length   int // entries afterwards
}

// history returns the steps of a conversation up to version.
func history(src Source, id string, until int64, shared int) ([]step, error) {
	out := []step{{position: 1, length: shared}}
	err := src.Segments(id, until, func(version int64, position int, data []byte) error {
		added, err := AppendSegment(nil, data)
		out = append(out, step{version: version, position: position, length: position - 1 + len(added)})
		return err
	})
	return out, err
}

// newestWithin returns the newest version, at most the one given, at which the chain was what its
// first length entries are now, with length at most most. It is version 0 if there was never such a version.
func newestWithin(steps []step, version int64, most int) step {
	changed := math.MaxInt // first position that was changed since
	until := version
	for i := len(steps) - 1; i > 0; i-- {
		s := steps[i]
		if s.length <= most && s.length < changed {
			return step{version: until, length: s.length}
		}
		changed, until = min(changed, s.position), s.version-1
	}
	return step{length: steps[0].length}
}

// commitsBehind returns the versions that added the entries which are now behind a position.
func commitsBehind(steps []step, position int) (out []int64) {
	changed := math.MaxInt
	for i := len(steps) - 1; i > 0; i-- {
		s := steps[i]
		if first := max(s.position, position+1); first <= s.length && first < changed {
			out = append(out, s.version)
		}
		changed = min(changed, s.position)
	}
	return out
}
