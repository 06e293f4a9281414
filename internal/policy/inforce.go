package policy

import "github.com/decantdev/decant"

// PinsIn returns the blocks that ds pin and do not unpin, with the content that was pinned.
func PinsIn(ds []decant.Decision) map[decant.Ref]decant.Hash {
	pins := map[decant.Ref]decant.Hash{}
	for i := range ds {
		switch d := &ds[i]; d.Kind {
		case decant.Pin:
			pins[d.Target.Ref] = d.Target.Hash
		case decant.Unpin:
			delete(pins, d.Target.Ref)
		}
	}
	return pins
}

// NativeIn returns a function that reports whether an id belongs to a native decision in force among lists, which
// the provider carries out. It returns nil when no native decision is in force.
func NativeIn(lists ...[]decant.Decision) func(id string) bool {
	var ids map[string]bool
	for _, ds := range lists {
		for i := range ds {
			switch d := &ds[i]; d.Kind {
			case decant.Native:
				if ids == nil {
					ids = map[string]bool{}
				}
				ids[d.ID] = true
			case decant.Revoke:
				delete(ids, d.Revokes)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return func(id string) bool { return id != "" && ids[id] }
}
