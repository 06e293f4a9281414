package engine

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
)

// inherit makes again what was decided in the session about blocks that the request brings into a
// conversation of its own: forks, sub-agents and clients that truncate or summarise their history
// send the same results under the same call ids, and the model has seen them in their decided form.
func (a *attempt) inherit(ctx context.Context) error {
	if a.rel != begins && a.rel != forks || a.req.Session == "" {
		return nil
	}
	blocks, hashes := a.results()
	if len(blocks) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.e.opts.Optional)
	defer cancel()
	ds, err := a.e.store.Decided(ctx, a.req.Tenant, a.req.Session, hashes)
	if err != nil {
		return fmt.Errorf("look for earlier decisions: %w", err)
	}
	newest := map[decant.Ref]decant.Decision{}
	for _, d := range ds {
		b, ok := blocks[resultKey{d.Target.CallID, d.Target.Hash}]
		if !ok || d.Kind != decant.Shrink && d.Kind != decant.Stub {
			continue
		}
		d.Target.Ref, d.Reason = b.Ref, "decided before in this session: "+d.Reason
		newest[b.Ref] = d
	}
	var out []decant.Decision
	for i := range a.view.Messages {
		for k := range a.view.Messages[i].Blocks {
			if d, ok := newest[a.view.Messages[i].Blocks[k].Ref]; ok {
				out = append(out, d)
			}
		}
	}
	return a.add(out)
}

// resultKey identifies a result whatever conversation it stands in.
type resultKey struct {
	call string
	text decant.Hash
}

// results returns the view's results that nothing was decided about.
func (a *attempt) results() (map[resultKey]*decant.Block, []decant.Hash) {
	out := map[resultKey]*decant.Block{}
	var hashes []decant.Hash
	for i := range a.view.Messages {
		for k := range a.view.Messages[i].Blocks {
			b := &a.view.Messages[i].Blocks[k]
			if b.Kind != decant.KindResult || b.Changed != "" || b.CallID == "" || b.Content == nil {
				continue
			}
			key := resultKey{b.CallID, b.Hash()}
			out[key] = b
			hashes = append(hashes, key.text)
		}
	}
	return out, hashes
}
