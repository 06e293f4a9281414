package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/store"
)

// whole returns a request with all of its conversation. A client may send what is new alone, and name the answer that it
// goes on from: what is before is stored, so that such a request is managed like any other. A request that goes on from an
// answer which is not stored stays as it is: the provider may know it. So it does where the store fails.
func (e *Engine) whole(ctx context.Context, d dialect.Dialect, req *Request) *Request {
	by, ok := d.(dialect.Follower)
	if !ok || e.opts.mode(req) != Manage {
		return req
	}
	id, held := by.Follows(req.Body)
	if !held {
		return req
	}
	out, beta := *req, d.About().HeldBeta
	out.held, out.thread = true, id != "" || beta != ""
	out.Betas = slices.DeleteFunc(slices.Clone(req.Betas), func(name string) bool { return name == beta }) // for calls of our own
	if id == "" {
		out.Body = by.Whole(req.Body, nil)
		return &out
	}
	ctx, cancel := e.deadlines.ForStore(e.deadlines.Begin(ctx, true)) // without it the client has nothing
	defer cancel()
	before, session, err := e.before(ctx, d, req.Tenant, id)
	if err != nil {
		if !errors.Is(err, store.ErrNotFound) {
			e.logError(fmt.Errorf("read what a request goes on from: %w", err))
		}
		out.elsewhere = true
		return &out
	}
	out.Body, out.Session = by.Whole(req.Body, before), cmp.Or(req.Session, session)
	return &out
}

// before returns the body of the request whose answer has an id, with that answer, and the session that it was part of.
func (e *Engine) before(ctx context.Context, d dialect.Dialect, tenant, id string) (body []byte, session string, err error) {
	said, err := e.answered(ctx, d, tenant, id)
	if err != nil {
		return nil, "", err
	}
	body, err = archive.ReadAnswered(ctx, e.store, said.Key, &said.request)
	return body, said.Session, err
}

// A said is a stored answer.
type said struct {
	store.Conversation
	request store.Request // that it answers
}

// fewStanding are so many requests that the newest answers are among them: most requests go on from these.
const fewStanding = 4

// answered returns the answer with an id, once it is archived. One that is not stored is store.ErrNotFound.
func (e *Engine) answered(ctx context.Context, d dialect.Dialect, tenant, id string) (*said, error) {
	if s, waits := e.queue.Holding(func(f book.Answered) bool {
		return f.ID == id && f.Out.Start.Tenant == tenant
	}); waits {
		e.queue.Wait(ctx, s)
	}
	cs, err := e.store.Conversations(ctx, store.Filter{Tenant: tenant, AnswerID: id, Limit: 2})
	if err != nil {
		return nil, err
	}
	if len(cs) != 1 { // local servers draw short ids, so that two answers may have one
		return nil, store.ErrNotFound
	}
	out := &said{Conversation: cs[0].Conversation}
	for _, read := range []func() ([]store.Request, error){
		func() ([]store.Request, error) { return e.store.Standing(ctx, out.Key, fewStanding) },
		func() ([]store.Request, error) { return e.store.Requests(ctx, out.Key) },
	} {
		rs, err := read()
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(rs, func(r store.Request) bool { return r.AnswerID == id && r.API == string(d.About().Format) })
		if i >= 0 {
			out.request = rs[i]
			return out, nil
		}
	}
	return nil, store.ErrNotFound
}
