package engine

import (
	"context"

	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/prompt"
)

// An attempt is one try to prepare a request: when others commit first, the next is made.
type attempt struct {
	e   *Engine
	req *Request
	dr  *draft.Draft
}

// observe begins an attempt: it finds the request's conversation and replays what was decided about it.
func (e *Engine) observe(ctx context.Context, req *Request, who lineage.Start, r *prompt.Prompt) (*attempt, error) {
	p, err := e.match(ctx, who, r)
	if err != nil {
		return nil, err
	}
	dr, err := e.replay(req, who, r, p)
	if err != nil {
		return nil, err
	}
	return &attempt{e, req, dr}, nil
}

// ticket returns the ticket of what the attempt has come to. It shares nothing with it that changes.
func (a *attempt) ticket() *ticket {
	return &ticket{req: a.req, dr: a.dr.Copy(), decided: a.dr.Decisions()}
}
