package engine

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
)

// withRecords returns decisions that are to be replayed without the clearings whose record is not among them:
// nobody would know what was cleared. A fork has a clearing that was made behind its branch point so.
func withRecords(ds []decant.Decision) []decant.Decision {
	recorded := map[string]bool{} // by pour
	for i := range ds {
		if ds[i].Kind == decant.Insert {
			recorded[policy.PourOf(ds[i].ID)] = true
		}
	}
	return slices.DeleteFunc(ds, func(d decant.Decision) bool { return d.Kind == decant.Native && !recorded[policy.PourOf(d.ID)] })
}
