package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// Revocations returns the decisions that take back the newest pour among ds, none when there is no
// pour in force.
func Revocations(ds []decant.Decision) []decant.Decision {
	ds = decant.InForce(ds)
	pour := ""
	var out []decant.Decision
	for _, d := range slices.Backward(ds) {
		if d.Pour == "" || pour != "" && d.Pour != pour {
			continue
		}
		pour = d.Pour
		out = append(out, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "undo of " + string(d.Kind)})
	}
	slices.Reverse(out)
	return out
}

// EntriesAt returns how many entries the conversation had when a decision was made.
func EntriesAt(ctx context.Context, from store.Loader, s *store.State, id string) (int, error) {
	lo, hi := int64(1), s.Version
	length := len(s.Chain)
	for lo < hi {
		mid := (lo + hi) / 2
		then, err := from.Load(ctx, s.Key, mid)
		if err != nil {
			return 0, fmt.Errorf("load version %d: %w", mid, err)
		}
		if slices.ContainsFunc(then.Decisions, func(d decant.Decision) bool { return d.ID == id }) {
			hi, length = mid, len(then.Chain)
		} else {
			lo = mid + 1
		}
	}
	return length, nil
}
