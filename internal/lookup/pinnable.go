package lookup

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// Pinnable returns the blocks of a message that can be pinned: those that the client has sent and that have text, except
// thinking. It returns none if the conversation has no such message.
func Pinnable(ctx context.Context, s store.Loader, k store.Key, message int) (out []decant.Ref, err error) {
	state, err := s.Load(ctx, k, store.Newest)
	if err != nil {
		return nil, err
	}
	for i := range state.Chain {
		e := &state.Chain[i]
		if e.Message == message && !e.Text.IsZero() && e.Kind != decant.KindThinking {
			out = append(out, e.Ref)
		}
	}
	return out, nil
}
