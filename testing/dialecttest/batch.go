package dialecttest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/decantdev/decant/internal/dialect"
)

// runBatch checks how batches are read.
func runBatch(t *testing.T, d dialect.Dialect, s *Batch) {
	p, ok := d.(dialect.Batcher)
	if ok != (s != nil) {
		t.Fatalf("the dialect is a dialect.Batcher: %t, and there is a batch to try: %t", ok, s != nil)
	}
	if s == nil {
		return
	}
	items, err := p.BatchItems(s.Body)
	if err != nil || len(items) == 0 {
		t.Fatalf("the batch has %d requests, %v", len(items), err)
	}
	for i := range items {
		if _, err := d.Parse(items[i].Params); err != nil || items[i].ID == "" {
			t.Errorf("request %d of the batch, %q: %v", i, items[i].ID, err)
		}
	}
	for _, body := range []string{"", "{}", "[]", `{"requests":[]}`} {
		if _, err := p.BatchItems([]byte(body)); err == nil {
			t.Errorf("%q is taken for a batch", body)
		}
		if p.BatchID([]byte(body)) != "" || p.BatchUnused([]byte(body)) {
			t.Errorf("%q says something about a batch", body)
		}
		if _, ok := p.BatchResult([]byte(body)); ok {
			t.Errorf("%q is taken for a result", body)
		}
	}
	if got := p.BatchID(s.Made); got != s.ID {
		t.Errorf("the batch has the id %q, want %q", got, s.ID)
	}
	if !p.BatchUnused(s.Unused) || p.BatchUnused(s.Used) {
		t.Error("it is not told what has become of the batches")
	}
	var models []string
	for line := range bytes.Lines(s.Results) {
		r, ok := p.BatchResult(bytes.TrimSpace(line))
		if !ok || r.Answered != (r.Usage.Context() > 0) {
			t.Errorf("result %s is %+v, %t", line, r, ok)
		}
		if r.Answered {
			models = append(models, r.Model)
		}
	}
	if !slices.Equal(models, s.Models) {
		t.Errorf("the results are of %q, want %q", models, s.Models)
	}
}
