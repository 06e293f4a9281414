package decant

// InForce returns the decisions in force among ds, in their order. It leaves out decisions that were taken back, and
// the decisions that took them back.
func InForce(ds []Decision) []Decision {
	revoked := map[string]bool{}
	for i := range ds {
		if ds[i].Kind == Revoke {
			revoked[ds[i].Revokes] = true
		}
	}
	out := make([]Decision, 0, len(ds))
	for i := range ds {
		if d := &ds[i]; d.Kind != Revoke && !revoked[d.ID] {
			out = append(out, *d)
		}
	}
	return out
}

// CheckpointIn returns the checkpoint in force among ds, or nil. The newest one replaces all before it.
func CheckpointIn(ds []Decision) *Checkpoint {
	for i := len(ds) - 1; i >= 0; i-- {
		if d := &ds[i]; d.Kind == Cover && !takenBack(ds, d.ID) {
			return d.Checkpoint
		}
	}
	return nil
}

// takenBack reports whether one of ds takes back the decision with an id.
func takenBack(ds []Decision, id string) bool {
	for i := range ds {
		if d := &ds[i]; d.Kind == Revoke && d.Revokes == id {
			return true
		}
	}
	return false
}

// PinsIn returns the blocks that ds pin and do not unpin, with the content that was pinned.
func PinsIn(ds []Decision) map[Ref]Hash {
	pins := map[Ref]Hash{}
	for i := range ds {
		switch d := &ds[i]; d.Kind {
		case Pin:
			pins[d.Target.Ref] = d.Target.Hash
		case Unpin:
			delete(pins, d.Target.Ref)
		}
	}
	return pins
}

// Edits reports whether a decision of this kind changes the text of one block.
func (k DecisionKind) Edits() bool {
	return k == Shrink || k == Stub || k == DropThinking || k == Native
}

// NativeIn returns a function that reports whether an id belongs to a native decision in force among lists, which
// the provider carries out. It returns nil when no native decision is in force.
func NativeIn(lists ...[]Decision) func(id string) bool {
	var ids map[string]bool
	for _, ds := range lists {
		for i := range ds {
			switch d := &ds[i]; d.Kind {
			case Native:
				if ids == nil {
					ids = map[string]bool{}
				}
				ids[d.ID] = true
			case Revoke:
				delete(ids, d.Revokes)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return func(id string) bool { return id != "" && ids[id] }
}
