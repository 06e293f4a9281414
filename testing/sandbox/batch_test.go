package sandbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/decantdev/decant/testing/sandbox"
)

// batchParams is a batch of short questions.
func batchParams(models ...string) anthropic.MessageBatchNewParams {
	var p anthropic.MessageBatchNewParams
	for i, m := range models {
		p.Requests = append(p.Requests, anthropic.MessageBatchNewParamsRequest{
			CustomID: fmt.Sprint("q-", i),
			Params: anthropic.MessageBatchNewParamsRequestParams{
				Model: anthropic.Model(m), MaxTokens: 100,
				Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(fmt.Sprint("Question ", i)))},
			},
		})
	}
	return p
}

func TestOfficialClientMakesABatch(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	c := client(url)
	b, err := c.Messages.Batches.New(t.Context(), batchParams(old, newest, "claude-nonesuch-9"))
	if err != nil || b.ProcessingStatus != "in_progress" || b.RequestCounts.Processing != 3 || b.ResultsURL != "" {
		t.Fatalf("made %+v, %v", b, err)
	}
	checkError(t, do(t, "GET", url+"/v1/messages/batches/"+b.ID+"/results", "", "x-api-key", "key"), 404, "not available")
	b, err = c.Messages.Batches.Get(t.Context(), b.ID, anthropic.MessageBatchGetParams{})
	if err != nil || b.ProcessingStatus != "ended" || b.RequestCounts.Succeeded != 2 || b.RequestCounts.Errored != 1 || !strings.HasSuffix(b.ResultsURL, "/results") {
		t.Fatalf("got %+v, %v", b, err)
	}
	results := map[string]string{}
	for stream := c.Messages.Batches.ResultsStreaming(t.Context(), b.ID, anthropic.MessageBatchResultsParams{}); stream.Next(); {
		r := stream.Current()
		results[r.CustomID] = r.Result.Type
		if m := r.Result.Message; r.Result.Type == "succeeded" && (m.Usage.OutputTokens == 0 || m.Usage.ServiceTier != "batch") {
			t.Errorf("%s used %+v", r.CustomID, m.Usage)
		}
	}
	if len(results) != 3 || results["q-1"] != "succeeded" || results["q-2"] != "errored" {
		t.Errorf("results %v", results)
	}
	if _, err := c.Messages.Batches.Delete(t.Context(), b.ID, anthropic.MessageBatchDeleteParams{}); err != nil {
		t.Error(err)
	}
	checkError(t, do(t, "GET", url+"/v1/messages/batches/"+b.ID, "", "x-api-key", "key"), 404, "Not found")
}

func TestBatchesThatAreNotAnswered(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	_, url := start(t, sandbox.Options{Now: func() time.Time { return now }})
	c := client(url)
	cancelled, err := c.Messages.Batches.New(t.Context(), batchParams(old))
	if err != nil {
		t.Fatal(err)
	}
	expired, err := c.Messages.Batches.New(t.Context(), batchParams(old))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := c.Messages.Batches.Cancel(t.Context(), cancelled.ID, anthropic.MessageBatchCancelParams{}); err != nil || b.ProcessingStatus != "canceling" {
		t.Errorf("cancelled %+v, %v", b, err)
	}
	if b, err := c.Messages.Batches.Get(t.Context(), cancelled.ID, anthropic.MessageBatchGetParams{}); err != nil || b.ProcessingStatus != "ended" || b.RequestCounts.Canceled != 1 {
		t.Errorf("cancelled %+v, %v", b, err)
	}
	now = now.Add(25 * time.Hour)
	if b, err := c.Messages.Batches.Get(t.Context(), expired.ID, anthropic.MessageBatchGetParams{}); err != nil || b.ProcessingStatus != "ended" || b.RequestCounts.Expired != 1 {
		t.Errorf("expired %+v, %v", b, err)
	}
}

// What is wrong with the batch is refused at once, what is wrong with one of its requests its result says.
func TestRulesOfBatches(t *testing.T) {
	const params = `{"model":"claude-sonnet-4-5","max_tokens":10,"messages":[{"role":"user","content":"hi"}]}`
	_, url := start(t, sandbox.Options{})
	for _, tt := range []struct{ body, text string }{
		{`{"requests":[]}`, "between 1 and 100000"},
		{`{}`, "requests: Field required"},
		{`{"requests":[{"custom_id":"a b","params":` + params + `}]}`, "match pattern"},
		{`{"requests":[{"custom_id":"a","params":` + params + `},{"custom_id":"a","params":` + params + `}]}`, "unique"},
		{`{"requests":[{"params":` + params + `}]}`, "custom_id: Field required"},
	} {
		checkError(t, do(t, "POST", url+"/v1/messages/batches", tt.body), 400, tt.text)
	}
	for _, more := range []string{`"stream":true,`, `"speed":"standard",`, `"max_tokens":0,`} {
		bad := strings.Replace(params, `"messages"`, more+`"messages"`, 1)
		if strings.Contains(more, "max_tokens") {
			bad = strings.Replace(params, `"max_tokens":10`, `"max_tokens":0`, 1)
		}
		got := do(t, "POST", url+"/v1/messages/batches", `{"requests":[{"custom_id":"a","params":`+bad+`}]}`)
		_, id, _ := strings.Cut(string(got.body), `"id":"`)
		id, _, _ = strings.Cut(id, `"`)
		do(t, "GET", url+"/v1/messages/batches/"+id, "")
		if got := do(t, "GET", url+"/v1/messages/batches/"+id+"/results", ""); !strings.Contains(string(got.body), `"errored"`) || !strings.Contains(string(got.body), "message batch") {
			t.Errorf("%s: %s", more, got.body)
		}
	}
}

// The list has the newest batch first, pages in both directions, and shows each account its own.
func TestOfficialClientListsBatches(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	c := client(url)
	var made []string
	for range 5 {
		b, err := c.Messages.Batches.New(t.Context(), batchParams(old))
		if err != nil {
			t.Fatal(err)
		}
		made = append([]string{b.ID}, made...)
	}
	other := client(url, option.WithAPIKey("other"))
	if _, err := other.Messages.Batches.New(t.Context(), batchParams(old)); err != nil {
		t.Fatal(err)
	}
	var listed []string
	pages := c.Messages.Batches.ListAutoPaging(t.Context(), anthropic.MessageBatchListParams{Limit: anthropic.Int(2)})
	for pages.Next() {
		listed = append(listed, pages.Current().ID)
	}
	if pages.Err() != nil || !slices.Equal(listed, made) {
		t.Errorf("listed %v, %v; want %v", listed, pages.Err(), made)
	}
	p, err := c.Messages.Batches.List(t.Context(), anthropic.MessageBatchListParams{Limit: anthropic.Int(2), BeforeID: anthropic.String(made[3])})
	if err != nil || len(p.Data) != 2 || p.FirstID != made[1] || p.LastID != made[2] || !p.HasMore || p.Data[0].ProcessingStatus != "ended" {
		t.Errorf("page %s, %v", p.RawJSON(), err)
	}
	if got := do(t, "GET", url+"/v1/messages/batches", "", "x-api-key", "nobody"); got.body != `{"data":[],"has_more":false,"first_id":null,"last_id":null}` {
		t.Error(got.body)
	}
	checkError(t, do(t, "GET", url+"/v1/messages/batches?limit=1001", ""), 400, "limit: Input should be between 1 and 1000")
}

// A batch under way is not deleted, one that has ended is not canceled, and each request of a batch can be a compaction.
func TestWhatBatchesAreAsked(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	params := rule{fields: demand}.body()
	got := do(t, "POST", url+"/v1/messages/batches", `{"requests":[{"custom_id":"a","params":`+params+`}]}`, "anthropic-beta", demandBeta)
	_, id, _ := strings.Cut(got.body, `{"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	at := url + "/v1/messages/batches/" + id
	checkError(t, do(t, "DELETE", at, ""), 400, "cannot be deleted while it is being processed")
	do(t, "GET", at, "")
	checkError(t, do(t, "POST", at+"/cancel", ""), 400, "has ended and cannot be canceled")
	if got := do(t, "GET", at+"/results", ""); !strings.Contains(got.body, `"stop_reason":"compaction"`) {
		t.Error(got.body)
	}
}
