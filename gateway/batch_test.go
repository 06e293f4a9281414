package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
)

// batchOf is a batch of n questions, each with room for an answer of 1,000 tokens.
func batchOf(n int) anthropic.MessageBatchNewParams {
	var p anthropic.MessageBatchNewParams
	for i := range n {
		p.Requests = append(p.Requests, anthropic.MessageBatchNewParamsRequest{
			CustomID: fmt.Sprint("q-", i),
			Params: anthropic.MessageBatchNewParamsRequestParams{
				Model: "claude-sonnet-4-5", MaxTokens: 1000,
				Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(fmt.Sprint("Question ", i)))},
			},
		})
	}
	return p
}

// batchTill is a gateway before a sandbox, with a budget.
func batchTill(t *testing.T, now *time.Time, budgets ...budget.Budget) (*till, *sandbox.Server) {
	t.Helper()
	up := strict(sandbox.Options{Now: func() time.Time { return *now }})
	return newTill(t, up, gateway.Options{}, budgets...), up
}

// total returns what is booked, once everything is.
func (x *till) total(t *testing.T) store.Sum {
	t.Helper()
	x.engine.Close()
	sum, err := x.store.Spent(t.Context(), store.SpendQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// A batch is held back and booked at what it may cost at most, and settled by its results, at half the price of
// requests one by one.
func TestBatchesArePriced(t *testing.T) {
	now := noon
	x, up := batchTill(t, &now, budget.Budget{Per: "day", USD: 1})
	c := x.sdk()
	b, err := c.Messages.Batches.New(t.Context(), batchOf(10))
	if err != nil {
		t.Fatal(err)
	}
	most := x.total(t)
	const output = 10 * 1000 * 15_000 / 2 // billionths of a dollar: $15 per million tokens, halved
	if most.Cost < output || most.Cost > output+output/10 || most.Tokens < 10_000 {
		t.Fatalf("booked %+v, want a little more than %d", most, output)
	}
	if _, err := c.Messages.Batches.Get(t.Context(), b.ID, anthropic.MessageBatchGetParams{}); err != nil {
		t.Fatal(err)
	}
	if got := x.total(t); got != most {
		t.Errorf("after a look at a batch that has results %+v is booked, want still %+v", got, most)
	}
	var used, paid int64
	for range 2 { // whoever fetches the results twice pays once
		used, paid = 0, 0
		results := c.Messages.Batches.ResultsStreaming(t.Context(), b.ID, anthropic.MessageBatchResultsParams{})
		for results.Next() {
			u := results.Current().Result.Message.Usage
			used += u.InputTokens + u.OutputTokens
			paid += (u.InputTokens*3_000 + u.OutputTokens*15_000) / 2
		}
		if err := results.Err(); err != nil {
			t.Fatal(err)
		}
		if got, want := x.total(t), (store.Sum{Tokens: int(used), Cost: store.Money(paid)}); got != want || used == 0 {
			t.Errorf("booked %+v, want %+v", got, want)
		}
	}
	if problems, err := x.store.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
	if refused := up.Log.Refused(); len(refused) > 0 {
		t.Errorf("%d requests were refused: %s", len(refused), refused[0].Error)
	}
}

// What does not fit a budget is refused as other requests are, and what a batch holds back others do not get.
func TestABatchThatDoesNotFitIsRefused(t *testing.T) {
	now := noon
	for _, budget := range []budget.Budget{{Per: "day", Tokens: 12_000}, {Per: "tenant", USD: 0.08}, {Per: "conversation", Tokens: 12_000}} {
		x, up := batchTill(t, &now, budget)
		c := x.sdk()
		if _, err := c.Messages.Batches.New(t.Context(), batchOf(20)); !refused(t, err) {
			t.Errorf("%+v: a batch of 20 passes", budget)
		}
		if n := len(up.Log.Entries()); n != 0 {
			t.Errorf("%+v: %d requests arrived", budget, n)
		}
		if _, err := c.Messages.Batches.New(t.Context(), batchOf(8)); err != nil {
			t.Errorf("%+v: a batch of 8: %v", budget, err)
		}
		_, err := c.Messages.Batches.New(t.Context(), batchOf(8))
		if refused(t, err) != (budget.Per != "conversation") {
			t.Errorf("%+v: a second batch of 8: %v", budget, err)
		}
	}
}

// A batch of which the provider says that nothing in it was answered costs nothing.
func TestABatchThatIsNotAnsweredCostsNothing(t *testing.T) {
	for name, end := range map[string]func(*anthropic.Client, string, *time.Time) error{
		"Cancelled": func(c *anthropic.Client, id string, _ *time.Time) error {
			_, err := c.Messages.Batches.Cancel(t.Context(), id, anthropic.MessageBatchCancelParams{})
			return err
		},
		"Expired": func(_ *anthropic.Client, _ string, now *time.Time) error {
			*now = now.Add(25 * time.Hour)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := noon
			x, _ := batchTill(t, &now, budget.Budget{Per: "tenant", Tokens: 12_000})
			c := x.sdk()
			b, err := c.Messages.Batches.New(t.Context(), batchOf(10))
			if err != nil || x.total(t).Tokens < 10_000 {
				t.Fatalf("booked %+v, %v", x.total(t), err)
			}
			if err := end(&c, b.ID, &now); err != nil {
				t.Fatal(err)
			}
			if x.total(t).Tokens == 0 {
				t.Error("nothing is booked, though nobody has said that the batch has ended")
			}
			if _, err := c.Messages.Batches.Get(t.Context(), b.ID, anthropic.MessageBatchGetParams{}); err != nil {
				t.Fatal(err)
			}
			if got := x.total(t); got != (store.Sum{}) {
				t.Errorf("booked %+v, want nothing", got)
			}
		})
	}
}

// What cannot be metered does not pass in a batch either; without a budget everything does.
func TestWhatCannotBeMeteredDoesNotPassInABatch(t *testing.T) {
	const fine = `{"custom_id":"a","params":{"model":"claude-sonnet-4-5","max_tokens":10,"messages":[{"role":"user","content":"hi"}]}}`
	bad := func(from, to string) string {
		return `{"requests":[` + fine + `,` + strings.Replace(fine, from, to, 1) + `]}`
	}
	sent := 0
	up := handler(func(w http.ResponseWriter, r *http.Request) {
		sent++
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, `{"id":"msgbatch_1"}`)
	})
	x, free := newTill(t, up, gateway.Options{MaxBody: 1 << 16}, budget.Budget{Per: "day", Tokens: 1 << 30}), newTill(t, up, gateway.Options{})
	for _, c := range []struct {
		name, body string
		header     []string
		status     int
		says       string
	}{
		{"Fine", `{"requests":[` + fine + `]}`, nil, 200, ""},
		{"NoModel", bad(`"model":"claude-sonnet-4-5",`, ""), nil, 400, `requests[1] (\"a\")`},
		{"NoLimit", bad(`"max_tokens":10,`, ""), nil, 400, "max_tokens"},
		{"NoMessages", bad(`"messages"`, `"massages"`), nil, 400, "requests[1]"},
		{"NoParams", `{"requests":[{"custom_id":"a"}]}`, nil, 400, "requests[0]"},
		{"TwoLimits", bad(`"max_tokens":10,`, `"max_tokens":10,"max_tokens":100000,`), nil, 400, "max_tokens"},
		{"TwoLists", `{"requests":[` + fine + `],"requests":[` + fine + `]}`, nil, 400, "requests"},
		{"NoJSON", `{"requests":[`, nil, 400, "cannot be read as a batch"},
		{"Encoding", `{"requests":[` + fine + `]}`, []string{"Content-Encoding", "br"}, 415, "gzip"},
		{"TooLarge", `{"requests":[` + fine + strings.Repeat(" ", 1<<16) + `]}`, nil, 413, "65536 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := sent
			res, text := x.post(x.url, "/v1/messages/batches", c.body, c.header...)
			if res.StatusCode != c.status || !strings.Contains(text, c.says) || (sent > before) != (c.status == 200) {
				t.Errorf("status %d, %d sent: %s", res.StatusCode, sent-before, text)
			}
			if res, text := free.post(free.url, "/v1/messages/batches", c.body, c.header...); res.StatusCode != 200 {
				t.Errorf("without a budget: status %d, %s", res.StatusCode, text)
			}
		})
	}
}

// Results that do not come to their end, or are not understood, settle nothing.
func TestHalfOfTheResultsSettleNothing(t *testing.T) {
	line, err := json.Marshal(map[string]any{"custom_id": "a", "result": map[string]any{"type": "succeeded", "message": map[string]any{
		"model": "claude-sonnet-4-5", "usage": map[string]int{"input_tokens": 5, "output_tokens": 5}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body    string
		status  int
		length  string
		settles bool
	}{
		"Whole":         {string(line) + "\n", 200, "", true},
		"NoLastLineEnd": {string(line), 200, "", true},
		"Cut":           {string(line) + "\n", 200, "1000", false},
		"Part":          {string(line) + "\n", 206, "", false},
		"Strange":       {string(line) + "\n" + `{"custom_id":"b","result":{"type":"pending"}}`, 200, "", false},
		"Nothing":       {"", 200, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTill(t, handler(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if r.Method == http.MethodPost {
					w.Header().Set("Content-Type", "application/json")
					io.WriteString(w, `{"id":"msgbatch_1"}`)
					return
				}
				if c.length != "" {
					w.Header().Set("Content-Length", c.length)
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}), gateway.Options{}, budget.Budget{Per: "day", Tokens: 1 << 30})
			client := x.sdk()
			if _, err := client.Messages.Batches.New(t.Context(), batchOf(1)); err != nil {
				t.Fatal(err)
			}
			most := x.total(t)
			res, err := x.client.Get(x.url + "/v1/messages/batches/msgbatch_1/results")
			if err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(res.Body) // one of them breaks off
			res.Body.Close()
			x.server.Close()
			if string(got) != c.body {
				t.Errorf("the client gets %q", got)
			}
			if sum := x.total(t); (sum.Tokens == 10) != c.settles || (sum == most) == c.settles {
				t.Errorf("booked %+v after %+v", sum, most)
			}
		})
	}
}

// A batch that the provider refuses holds nothing back; one that may have been made stays booked.
func TestWhatBecomesOfABatchThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		up     http.HandlerFunc
		booked bool
	}{
		"Refused":    {func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); http.Error(w, "{}", 529) }, false},
		"NoAnswer":   {func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); panic(http.ErrAbortHandler) }, true},
		"NotUnderst": {func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); io.WriteString(w, "?") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTill(t, c.up, gateway.Options{}, budget.Budget{Per: "day", Tokens: 1500})
			client := x.sdk()
			client.Messages.Batches.New(t.Context(), batchOf(1)) // fails, or says nothing
			if sum := x.total(t); (sum.Tokens > 1000) != c.booked {
				t.Errorf("booked %+v", sum)
			}
			if _, err := client.Messages.Batches.New(t.Context(), batchOf(1)); refused(t, overBudget(err)) != c.booked {
				t.Errorf("the next one: %v", err)
			}
		})
	}
}

// overBudget returns an error that is a refusal because of a budget, and no other.
func overBudget(err error) error {
	if err != nil && strings.Contains(err.Error(), "billing_error") {
		return err
	}
	return nil
}
