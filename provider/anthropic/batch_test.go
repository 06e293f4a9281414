package anthropic_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
)

// asked returns items of a batch, one for each model.
func asked(models ...string) (out []provider.BatchItem) {
	for i, m := range models {
		out = append(out, provider.BatchItem{ID: fmt.Sprint("q-", i), Body: fmt.Appendf(nil, `{"model":%q,"max_tokens":100,"messages":[{"role":"user","content":"Question %d"}]}`, m, i)})
	}
	return out
}

// A batch with custom ids, "not ready", and what became of each request.
func TestBatches(t *testing.T) {
	now := time.Date(2026, 11, 20, 6, 0, 0, 0, time.UTC)
	rt, stop := sandbox.New(sandbox.Options{Now: func() time.Time { return now }, BatchTime: time.Hour}).Pipe()
	defer stop()
	c, err := anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "test")})
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	for range 3 {
		b, err := c.Submit(t.Context(), asked("claude-sonnet-4-5", "claude-nonesuch-9"))
		if err != nil || b.Ended || b.Requests != 2 || !b.Expires.After(now) {
			t.Fatalf("%+v, %v", b, err)
		}
		made = append(made, b.ID)
		now = now.Add(time.Minute)
	}
	if b, err := c.Batch(t.Context(), made[0]); err != nil || b.Ended {
		t.Errorf("too early: %+v, %v", b, err)
	}
	if _, err := c.Results(t.Context(), made[0]); err == nil {
		t.Error("results of a batch that has not ended")
	}
	if all, err := c.Batches(t.Context(), now.Add(-2*time.Minute)); err != nil || len(all) != 2 || all[0].ID != made[2] {
		t.Errorf("listed %+v, %v", all, err)
	}
	now = now.Add(time.Hour)
	if b, err := c.Batch(t.Context(), made[0]); err != nil || !b.Ended || b.Requests != 2 {
		t.Errorf("ended: %+v, %v", b, err)
	}
	results, err := c.Results(t.Context(), made[0])
	if err != nil || len(results) != 2 {
		t.Fatal(results, err)
	}
	good, bad := results[0], results[1]
	if good.ID != "q-0" || good.Outcome != provider.BatchSucceeded || !good.Answer.Batch || good.Answer.Text == "" || good.Answer.Usage.Output == 0 {
		t.Errorf("%+v", good)
	}
	f, ok := errors.AsType[*provider.Failure](bad.Err)
	if bad.Outcome != provider.BatchErrored || !ok || f.Status != http.StatusNotFound || !errors.Is(bad.Err, provider.ErrRefused) {
		t.Errorf("%+v", bad)
	}
	now = now.Add(25 * time.Hour)
	if _, err := c.Batch(t.Context(), made[1]); err != nil {
		t.Fatal(err)
	}
	if results, err = c.Results(t.Context(), made[1]); err != nil || results[0].Outcome != provider.BatchExpired || results[0].Err == nil || errors.Is(results[0].Err, provider.ErrRefused) {
		t.Errorf("%+v, %v", results, err)
	}
	if _, err := c.Submit(t.Context(), []provider.BatchItem{{ID: "x", Body: []byte("{")}}); err == nil {
		t.Error("a body that is no JSON")
	}
}
