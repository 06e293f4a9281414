package summarize

import (
	"context"

	"github.com/decantdev/decant/policy"
)

func (t *task) parts(ctx context.Context) (policy.Summary, error) {
	return policy.Summary{}, ErrTooLarge
}
