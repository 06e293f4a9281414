package archive

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// params returns the parameters of the newest request of rs that was made from the state or an earlier
// one, nil if none are stored.
func params(ctx context.Context, a Source, s *store.State, rs []store.Request) ([]byte, error) {
	var newest decant.Hash
	for i := range rs {
		if r := &rs[i]; r.Version <= s.Version && !r.Frame.IsZero() {
			newest = r.Frame
		}
	}
	if newest.IsZero() {
		return nil, nil
	}
	blobs, err := a.Blobs(ctx, s.Tenant, newest)
	if err != nil {
		return nil, fmt.Errorf("read the parameters of the newest request: %w", err)
	}
	return blobs[0], nil
}
