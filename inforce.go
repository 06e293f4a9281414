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

// Edits reports whether a decision of this kind changes the text of one block.
func (k DecisionKind) Edits() bool {
	return k == Shrink || k == Stub || k == DropThinking || k == Native
}
