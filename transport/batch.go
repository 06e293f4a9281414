package transport

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/decantdev/decant/internal/batch"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/hold"
)

// batch sends a batch on, as it came, for which a budget has room.
func (x *exchange) batch() (*http.Response, error) {
	r := x.in
	var err error
	if x.share.Tenant, err = x.t.opts.Tenant(r); err != nil {
		return refuseUnread(x.dialect, r, http.StatusUnauthorized, dialect.Unauthenticated, err.Error()), nil
	}
	if err := x.read(); errors.Is(err, hold.ErrFull) {
		return x.refuseFull(), nil
	} else if err != nil {
		return nil, err
	}
	if x.large || x.foreign != nil {
		return x.refuseUnpacked(), nil
	}
	x.share.Add(int64(len(x.body)))  // the requests are taken apart
	d := x.dialect.(dialect.Batcher) // it has the door
	items, err := d.BatchItems(x.body)
	if err != nil {
		return x.refuse(http.StatusBadRequest, dialect.Invalid,
			"decant: a budget applies, and the body cannot be read as a batch: "+err.Error()), nil
	}
	b, err := x.engine.Batches().Prepare(r.Context(), &batch.Request{
		Dialect: x.dialect, Tenant: x.share.Tenant, Budgets: x.t.opts.Budgets(r), Betas: x.betas(), Items: items,
	})
	if err != nil {
		return x.refusal(err), nil
	}
	out := x.request(x.body, nil)
	arrived := watchEnd(out)
	res, err := x.t.send(out)
	switch {
	case err == nil:
		return booked(res, d, b), nil
	case arrived.Load(): // it may have been made all the same
		b.Book(unknownBatch())
	default:
		b.Drop()
	}
	return nil, err
}

// watchEnd returns what will say whether all of a request's body was read by those who send it.
func watchEnd(r *http.Request) *atomic.Bool {
	arrived := &atomic.Bool{}
	get := r.GetBody
	r.GetBody = func() (io.ReadCloser, error) {
		body, err := get()
		return &ending{body, arrived}, err
	}
	r.Body, _ = r.GetBody() // never fails
	return arrived
}

// ending is a body that notes its end.
type ending struct {
	io.ReadCloser
	came *atomic.Bool
}

// Read reads the body.
func (e *ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		e.came.Store(true)
	}
	return n, err
}

// booked books a batch by what the provider says to it. One that was refused costs nothing; one that may have been made
// is booked, whether or not it is understood what the provider says.
func booked(res *http.Response, d dialect.Batcher, b *batch.Batch) *http.Response {
	if res.StatusCode/100 != 2 {
		b.Drop()
		return res
	}
	head, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // an error comes again when the client reads on
	b.Book(cmp.Or(d.BatchID(head), unknownBatch()))
	res.Body = &joined{Reader: io.MultiReader(bytes.NewReader(head), res.Body), Closer: res.Body}
	return res
}

// unknownBatch returns an id for a batch whose own is not known: it stays booked as it is.
func unknownBatch() string { return fmt.Sprintf("unknown-%s", rand.Text()) }
