package archive

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/store"
)

// leastOutput is the output that bodies ask for which are rebuilt without a frame. Every model allows it.
const leastOutput = 4096

// frame returns the parameters of the newest request of rs that was made from the state or an earlier
// one. If none is stored, only the model is known.
func frame(ctx context.Context, a Source, s *store.State, rs []store.Request) ([]byte, error) {
	var newest decant.Hash
	for i := range rs {
		if r := &rs[i]; r.Version <= s.Version && !r.Frame.IsZero() {
			newest = r.Frame
		}
	}
	if !newest.IsZero() {
		blobs, err := a.Blobs(ctx, s.Tenant, newest)
		if err != nil {
			return nil, fmt.Errorf("read the parameters of the newest request: %w", err)
		}
		if len(blobs[0]) > len("{}") {
			return blobs[0], nil
		}
	}
	out := jsonspan.AppendQuote([]byte(`{"model":`), s.Head.Model)
	return fmt.Appendf(out, `,"max_tokens":%d}`, leastOutput), nil
}
