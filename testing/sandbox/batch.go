package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant/internal/lazyregexp"
)

const batchesPath = "/v1/messages/batches"

// The limits of a batch (docs/reference/anthropic.md, "Batches").
const (
	maxBatch      = 256 << 20 // bytes
	maxBatchItems = 100_000
	batchLife     = 24 * time.Hour
)

var customID = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)

// batches are those of all accounts.
type batches struct {
	mu   sync.Mutex
	byID map[string]*batch
	made int
}

// A batch is requests that are answered later.
type batch struct {
	mu        sync.Mutex
	id        string
	from      exchange // account, version and betas of who made it
	items     []batchItem
	created   time.Time
	cancelled time.Time // zero: it was not
	ended     time.Time // zero: it has not
	counts    map[string]int
	results   []byte // one line for each request

	body   []byte   // as it was asked for
	header []string // that names its betas
}

type batchItem struct {
	id     string
	params *node
}

// listBatches is GET /v1/messages/batches: the newest first. Looking at a batch is what ends it.
func (x *exchange) listBatches() *apiError {
	bs := &x.s.batches
	bs.mu.Lock()
	var own []*batch
	for _, b := range bs.byID {
		if b.from.account == x.account {
			own = append(own, b)
		}
	}
	bs.mu.Unlock()
	slices.SortFunc(own, func(a, b *batch) int { return strings.Compare(b.id, a.id) })
	page, more, err := paginate(own, x.r, func(b *batch) string { return b.id })
	if err != nil {
		return err
	}
	out, ends := []byte(`{"data":[`), [2]string{}
	for i, b := range page {
		if i > 0 {
			out = append(out, ',')
		}
		b.mu.Lock()
		b.work(x)
		out = append(out, b.show(x.r)...)
		b.mu.Unlock()
		ends = [2]string{page[0].id, b.id}
	}
	return x.send(http.StatusOK, appendEnds(out, more, ends))
}

// createBatch is POST /v1/messages/batches. What is wrong with a single request only its result says.
func (x *exchange) createBatch() *apiError {
	root, err := x.readJSON(maxBatch)
	if err != nil {
		return err
	}
	items, err := batchItems(root)
	if err != nil {
		return err
	}
	bs := &x.s.batches
	bs.mu.Lock()
	bs.made++
	b := &batch{
		id: fmt.Sprintf("msgbatch_sandbox_%06d", bs.made), items: items, created: x.entry.Time, counts: map[string]int{"processing": len(items)},
		from: exchange{s: x.s, account: x.account, version: x.version, betas: x.betas},
	}
	if bs.byID == nil {
		bs.byID = map[string]*batch{}
	}
	bs.byID[b.id] = b
	bs.mu.Unlock()
	b.body, b.header = root.raw, x.r.Header.Values("Anthropic-Beta")
	b.keep(x.s.opts.Batches)
	return x.send(http.StatusOK, b.show(x.r))
}

// batchItems takes the body of a batch apart.
func batchItems(root *node) ([]batchItem, *apiError) {
	s := shaper{}
	if err := s.object("", root, []field{{"requests", isList, required, ""}}); err != nil {
		return nil, err
	}
	list := root.get("requests").list()
	if len(list) == 0 || len(list) > maxBatchItems {
		return nil, invalid("requests: List should have between 1 and %d items", maxBatchItems)
	}
	seen := map[string]bool{}
	var out []batchItem
	for i, n := range list {
		path := index("requests", i)
		if err := s.object(path, n, []field{{"custom_id", isText, required, ""}, {"params", isObject, required, ""}}); err != nil {
			return nil, err
		}
		id := n.str("custom_id")
		switch {
		case !customID.MatchString(id):
			return nil, invalid("%s.custom_id: String should match pattern '%s'", path, customID)
		case seen[id]:
			return nil, invalid("%s.custom_id: custom_id must be unique within the batch", path)
		}
		seen[id] = true
		out = append(out, batchItem{id, n.get("params")})
	}
	return out, nil
}

// oneBatch is everything below /v1/messages/batches/{id}.
func (x *exchange) oneBatch(path string) *apiError {
	id, what, _ := strings.Cut(path, "/")
	bs := &x.s.batches
	bs.mu.Lock()
	b := bs.byID[id]
	bs.mu.Unlock()
	if b == nil || b.from.account != x.account {
		return &apiError{status: http.StatusNotFound, kind: kindNotFound, message: "Not found"}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case what == "" && x.r.Method == http.MethodDelete:
		return x.deleteBatch(b)
	case what == "":
		return x.only(http.MethodGet, func() *apiError {
			b.work(x)
			return x.send(http.StatusOK, b.show(x.r))
		})
	case what == "cancel":
		return x.only(http.MethodPost, func() *apiError { return x.cancelBatch(b) })
	case what == "results":
		return x.only(http.MethodGet, func() *apiError { return x.batchResults(b) })
	}
	return &apiError{status: http.StatusNotFound, kind: kindNotFound, message: "Not found"}
}

// deleteBatch removes a batch that has ended. The batch is locked.
func (x *exchange) deleteBatch(b *batch) *apiError {
	if b.ended.IsZero() {
		return invalid("Message batch cannot be deleted while it is being processed. Cancel it first.")
	}
	bs := &x.s.batches
	bs.mu.Lock()
	delete(bs.byID, b.id)
	b.drop(x.s.opts.Batches)
	bs.mu.Unlock()
	return x.send(http.StatusOK, []byte(`{"id":"`+b.id+`","type":"message_batch_deleted"}`))
}

// cancelBatch says that nothing more is to be worked on. The batch is locked.
func (x *exchange) cancelBatch(b *batch) *apiError {
	if !b.ended.IsZero() {
		return invalid("Message batch has ended and cannot be canceled.")
	}
	if b.cancelled.IsZero() {
		b.cancelled = x.entry.Time
	}
	return x.send(http.StatusOK, b.show(x.r))
}

// batchResults answers with what became of the requests, one line each. The batch is locked.
func (x *exchange) batchResults(b *batch) *apiError {
	if b.ended.IsZero() {
		return &apiError{status: http.StatusNotFound, kind: kindNotFound, message: "Results are not available until the message batch has ended."}
	}
	x.entry.Status = http.StatusOK
	x.log()
	x.w.Header().Set("Content-Type", "application/x-jsonl")
	x.w.WriteHeader(http.StatusOK)
	x.w.Write(b.results) // a client that is gone needs no answer
	return nil
}
