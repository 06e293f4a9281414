package transport

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/engine"
)

// batch sends a batch on, as it came, for which a budget has room.
func (x *exchange) batch() (*http.Response, error) {
	r := x.in
	var err error
	if x.share.tenant, err = x.t.opts.Tenant(r); err != nil {
		return refuseUnread(r, http.StatusUnauthorized, "authentication_error", err.Error()), nil
	}
	if err := x.read(); errors.Is(err, errFull) {
		return refuseFull(r), nil
	} else if err != nil {
		return nil, err
	}
	if x.large || x.foreign != nil {
		return x.refuseUnpacked(), nil
	}
	x.share.add(int64(len(x.body))) // the requests are taken apart
	items, err := batchItems(x.body)
	if err != nil {
		return refuse(r, http.StatusBadRequest, "invalid_request_error", "decant: a budget applies, and the body cannot be read as a batch: "+err.Error()), nil
	}
	b, err := x.engine.PrepareBatch(r.Context(), &engine.BatchRequest{
		Tenant: x.share.tenant, Budgets: x.t.opts.Budgets(r), Betas: betasOf(r.Header), Items: items,
	})
	if err != nil {
		return refusal(r, err), nil
	}
	out := x.request(x.body, nil)
	arrived := watchEnd(out)
	res, err := x.t.send(out)
	switch {
	case err == nil:
		return booked(res, b), nil
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

// batchItems takes a batch apart. What another reader could read differently, as names that come twice, is an error.
func batchItems(body []byte) ([]engine.BatchItem, error) {
	var q struct {
		Requests []struct {
			ID     string         `json:"custom_id"`
			Params jsontext.Value `json:"params"`
		} `json:"requests"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	if len(q.Requests) == 0 {
		return nil, errors.New("no requests")
	}
	items := make([]engine.BatchItem, len(q.Requests))
	for i, item := range q.Requests {
		items[i] = engine.BatchItem{ID: item.ID, Params: item.Params}
	}
	return items, nil
}

// booked books a batch by what the provider says to it. One that was refused costs nothing; one that may have been made
// is booked, whether or not it is understood what the provider says.
func booked(res *http.Response, b *engine.Batch) *http.Response {
	if res.StatusCode/100 != 2 {
		b.Drop()
		return res
	}
	head, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // an error comes again when the client reads on
	var made struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(head, &made, lenient) != nil || made.ID == "" {
		made.ID = unknownBatch()
	}
	b.Book(made.ID)
	res.Body = &joined{Reader: io.MultiReader(bytes.NewReader(head), res.Body), Closer: res.Body}
	return res
}

// unknownBatch returns an id for a batch whose own is not known: it stays booked as it is.
func unknownBatch() string { return fmt.Sprintf("unknown-%s", rand.Text()) }
