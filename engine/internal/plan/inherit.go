package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/store"
)

// inheritedReason is how the reasons of inherited decisions begin.
const inheritedReason = "decided before in this session: "

// inherit makes again what was decided in the session about results that the request brings into a
// conversation of its own: clients that truncate or summarise their history send the same results under
// the same call ids, and the model has seen them in their decided form.
//
// The request goes on from some conversation at some point, and takes over what was in force there. What
// was decided later, by a delegate that went another way, is not for it. Results that it shares with the
// conversation that it forks from have what they have there.
func (a *attempt) inherit(ctx context.Context) error {
	dr := a.dr
	if dr.Match.Relation != match.Begins && dr.Match.Relation != match.Forks || dr.Start.Session == "" {
		return nil
	}
	results, hashes := a.undecided()
	if len(results) == 0 {
		return nil
	}
	ctx, cancel := a.by.Deadlines.Optional(ctx)
	defer cancel()
	kin, err := a.kin(ctx, hashes)
	if err != nil {
		return fmt.Errorf("look for earlier decisions: %w", err)
	}
	var out []decant.Decision
	for _, b := range results {
		for i := range kin {
			d, held := kin[i].about(b)
			if !held {
				continue
			}
			if d != nil {
				out = append(out, inherited(*d, b.Ref))
			}
			break
		}
	}
	return dr.Add(out)
}

// inherited returns a decision as one about the same content elsewhere.
func inherited(d decant.Decision, ref decant.Ref) decant.Decision {
	d.Target.Ref = ref
	d.Reason = inheritedReason + strings.TrimPrefix(d.Reason, inheritedReason)
	return d
}

// undecided returns the view's results that are new to the conversation and that nothing was decided about.
func (a *attempt) undecided() (results []*decant.Block, hashes []decant.Hash) {
	dr := a.dr
	from := 0
	if dr.Match.Relation == match.Forks {
		from = dr.Match.FirstNew(dr.Refs)
	}
	for i := range dr.View.Messages {
		for k := range dr.View.Messages[i].Blocks {
			b := &dr.View.Messages[i].Blocks[k]
			if b.Kind != decant.KindResult || b.Changed != "" || b.CallID == "" || b.Content == nil || b.Ref.Message < from {
				continue
			}
			results = append(results, b)
			hashes = append(hashes, b.Hash())
		}
	}
	return results, hashes
}

// A relative is a conversation of the session that the request may go on from.
type relative struct {
	latest  int                             // block of the request that is the last of those that stand in both
	created string                          // the conversation's id: it rises with time
	holds   map[match.Call]bool             // up to there, the conversation's results
	decided map[match.Call]*decant.Decision // that are in force there, by what they are about
}

// mostKin bounds the conversations of a session that are looked at.
const mostKin = 4

// kin returns the conversations of the session that have decided about contents: first the one that the
// request shares the latest block with, and of several the oldest.
func (a *attempt) kin(ctx context.Context, contents []decant.Hash) ([]relative, error) {
	in := a.dr.Input
	keys, err := a.by.Store.Decided(ctx, in.Start.Tenant, in.Start.Session, contents, mostKin)
	if err != nil {
		return nil, err
	}
	var out []relative
	for _, k := range keys {
		s, err := a.by.Store.Load(ctx, k, store.Newest)
		if errors.Is(err, store.ErrNotFound) { // collected since
			continue
		}
		if err != nil {
			return nil, err
		}
		entries, block := in.Prompt.Overlap(s)
		if entries == 0 {
			continue
		}
		b, err := a.by.Store.Branch(ctx, k, s.Version, entries, entries)
		if err != nil {
			return nil, err
		}
		out = append(out, relativeOf(s, b, block))
	}
	slices.SortFunc(out, func(x, y relative) int {
		return cmp.Or(cmp.Compare(y.latest, x.latest), cmp.Compare(x.created, y.created))
	})
	return out, nil
}

// relativeOf returns what a conversation knows about its results up to a branch point.
func relativeOf(s *store.State, b *store.Branch, block int) relative {
	x := relative{latest: block, created: s.ID, holds: map[match.Call]bool{}, decided: map[match.Call]*decant.Decision{}}
	p := match.Match{State: s, Branch: b}
	ds := decant.InForce(slices.Concat(b.Decisions, p.Arrived()))
	newest := map[decant.Ref]*decant.Decision{}
	for i := range ds {
		if d := &ds[i]; d.Kind == decant.Shrink || d.Kind == decant.Stub {
			newest[d.Target.Ref] = d
		}
	}
	for i := range s.Chain[:b.Position] {
		e := &s.Chain[i]
		if e.Kind != decant.KindResult {
			continue
		}
		c := match.CallOf(e)
		x.holds[c] = true
		if d := newest[e.Ref]; d != nil && d.Target.Hash == e.Text {
			x.decided[c] = d
		}
	}
	return x
}

// about returns what was decided about a result, nil when nothing was, and whether it is there at all.
func (x *relative) about(b *decant.Block) (*decant.Decision, bool) {
	c := match.Call{Kind: b.Kind, ID: b.CallID, Text: b.Hash()}
	return x.decided[c], x.holds[c]
}
