package lookup

import (
	"context"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/internal/tool"
	"github.com/decantdev/decant/store"
)

// forgotten adds what a conversation's view lacks now, the files that were read again after they had been left
// out, and the originals that the model fetched by their handles. What a fork has from its parent counts once.
func (a *account) forgotten(ctx context.Context, s Store, state *store.State, requests []store.Request) error {
	for _, d := range policy.Effective(state.Live()) {
		if !a.counted[d.ID] {
			a.counted[d.ID] = true
			a.Recovered += d.Before - d.After
		}
	}
	reads, err := readsOf(ctx, s, state)
	if err != nil {
		return err
	}
	gone := map[string]int{} // by file, how many entries there were when it was left out
	for _, d := range state.Live() {
		if file := reads.file(d.Target.CallID); file != "" && d.Reduction != decant.ReductionTerminal && d.Reduction != decant.ReductionSuperseded {
			if at := lengthAt(requests, d.Created); gone[file] == 0 || at < gone[file] {
				gone[file] = at
			}
		}
	}
	for _, r := range reads {
		if r.fetched {
			a.ReadAgain++
			a.ReadAgainTokens += r.tokens
		}
		if at, ok := gone[r.file]; ok && r.at > at {
			a.ReadAgain++
			a.ReadAgainTokens += r.tokens
			delete(gone, r.file) // the view has the new copy
		}
	}
	return nil
}

// lengthAt returns how many entries the first request at or after a moment held.
func lengthAt(requests []store.Request, t time.Time) int {
	for i := range requests {
		if !requests[i].Time.Before(t) {
			return requests[i].Length
		}
	}
	return 1 << 30
}

// A reading is a read of a file in a conversation, or an original that was fetched by its handle.
type reading struct {
	call, file string
	fetched    bool
	at         int // position of its result
	tokens     int
}

type readings []reading

// file returns the file that a call has read, empty when it has read none.
func (rs readings) file(call string) string {
	for i := range rs {
		if rs[i].call == call {
			return rs[i].file
		}
	}
	return ""
}

// readsOf returns the reads of single files in a conversation, and what was fetched by its handle, in order.
func readsOf(ctx context.Context, s Store, state *store.State) (out readings, err error) {
	uses := map[string]string{} // file by call
	fetches := map[string]bool{}
	for i := range state.Chain {
		e := &state.Chain[i]
		switch e.Kind {
		case decant.KindUse:
			if fetches[e.CallID] = tool.Expands(e.Name); e.Text.IsZero() {
				continue
			}
			blobs, err := s.Blobs(ctx, state.Tenant, e.Text)
			if err != nil {
				return nil, err
			}
			if c := tool.Parse(e.Name, string(blobs[0])); c.Effect == tool.Read && len(c.Files) == 1 {
				uses[e.CallID] = c.Files[0].Key
			}
		case decant.KindResult:
			if file := uses[e.CallID]; file != "" || fetches[e.CallID] {
				out = append(out, reading{e.CallID, file, fetches[e.CallID], e.Position, e.Tokens})
			}
		}
	}
	return out, nil
}
