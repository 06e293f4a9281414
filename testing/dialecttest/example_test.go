package dialecttest_test

import (
	"net/http"
	"testing"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/testing/dialecttest"
)

// The test of a dialect is one call. Bodies and answers are best recorded, and read from testdata.
func ExampleRun() {
	var (
		t               *testing.T // of func TestDialect
		request         []byte
		streamed, whole []byte // the same answer twice
		batch           dialecttest.Batch
	)
	dialecttest.Run(t, dialecttest.Sample{
		Dialect: anthropic.Dialect{},
		Bodies:  map[string][]byte{"session": request},
		Answers: map[string]dialecttest.Answer{"text": {Stream: streamed, Object: whole}},
		Doors: []dialecttest.Door{
			{
				Method: http.MethodPost, Path: "/v1/messages",
				Want: dialect.Door{Kind: dialect.Prompt, Name: "messages", Route: "/v1/messages"},
			},
			{Method: http.MethodGet, Path: "/v1/models"}, // nothing is known about it
		},
		Refusals: []dialecttest.Refusal{{
			Status: http.StatusBadRequest, Body: []byte(`{"error":{"message":"prompt is too long: 201 tokens > 200 maximum"}}`),
			Want: dialect.Refusal{Topic: dialect.Size, Tokens: 201, Window: 200},
		}},
		Batch: &batch,
		ReadError: func(t *testing.T, status int, body []byte) (string, bool) {
			return "", false // what the API's official client makes of it
		},
	})
}
