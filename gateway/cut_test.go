package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
)

// A client that reads an answer and leaves before its end, where the usage stands, gets nothing for nothing: what it
// has received is booked, and so its budget ends.
func TestAnswersThatAreCutShortAreBooked(t *testing.T) {
	const (
		start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"claude-sonnet-4-5\",\"usage\":{\"input_tokens\":20,\"output_tokens\":1}}}\n\n"
		begin = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"%s\"}}\n\n"
		delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"x\",\"%s\":\"%s\"}}\n\n"
		usage = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":900}}\n\n"
	)
	words := strings.Repeat("one two three four five ", 100)
	said := func(kind, member string) string {
		return start + fmt.Sprintf(begin, kind) + fmt.Sprintf(delta, member, words)
	}
	for _, c := range []struct {
		name, kind, text string
		least, most      int // tokens of each
	}{
		{"Text", "text/event-stream", said("text", "text"), 450, 700},
		{"Reasoning", "text/event-stream", said("thinking", "thinking"), 450, 700},
		{"HiddenReasoning", "text/event-stream", said("thinking", "signature"), 450, 700},
		{"Arguments", "text/event-stream", said("tool_use", "partial_json"), 450, 700},
		{"NoSuchBlock", "text/event-stream", start + fmt.Sprintf(delta, "text", words), 450, 900},
		{"Reported", "text/event-stream", said("text", "text") + usage, 920, 920},
		{"NothingButItsBeginning", "text/event-stream", start, 21, 21},
		{"NothingButHeaders", "text/event-stream", ": hello\n\n", 5, 40},
		{"InOnePiece", "application/json", `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"` + words, 450, 800},
	} {
		t.Run(c.name, func(t *testing.T) {
			up := handler(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", c.kind)
				io.WriteString(w, c.text)
				http.NewResponseController(w).Flush()
				<-r.Context().Done() // until the client has left
			})
			x := newTill(t, up, gateway.Options{}, budget.Budget{Per: "day", Tokens: 100_000})
			x.leave(t, len(c.text))
			x.server.Close() // every request has ended
			if n := x.booked(t); n < c.least || n > c.most {
				t.Errorf("booked %d tokens, want %d to %d", n, c.least, c.most)
			}
		})
	}
}

// leave asks, and leaves when so many bytes of the answer have come.
func (x *till) leave(t *testing.T, after int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, x.url+"/v1/messages", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := x.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, after)); err != nil {
		t.Fatal(err)
	}
}

// The same with the strict upstream, which is paid for what it has said: a client that leaves before the end of each
// stream pays for all of them.
func TestLeavingEachStreamSpendsABudget(t *testing.T) {
	up := strict(sandbox.Options{Model: talker{}, Chunk: 1 << 20, Faults: func(int, *http.Request) sandbox.Fault {
		return sandbox.Fault{Kind: sandbox.FaultStall, After: 4} // when all was said, and before its usage
	}})
	x := newTill(t, up, gateway.Options{}, budget.Budget{Per: "tenant", Tokens: 20_000})
	body := strings.Replace(hello, `"max_tokens":100`, `"max_tokens":4000,"stream":true`, 1)
	passed := 0
	for ; passed < 100; passed++ {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, x.url+"/v1/messages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Api-Key", "key")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		r.Header.Set("X-Decant-Session", fmt.Sprint(passed))
		res, err := x.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode == http.StatusPaymentRequired {
			res.Body.Close()
			break
		}
		var seen strings.Builder
		for !strings.Contains(seen.String(), "word 999 ") {
			if _, err := io.CopyN(&seen, res.Body, 1); err != nil {
				t.Fatalf("status %d: %v: %.200s", res.StatusCode, err, seen.String())
			}
		}
		res.Body.Close()
	}
	if passed == 0 || passed > 9 {
		t.Errorf("%d answers of about 2,500 tokens were let through within 20,000", passed)
	}
	x.server.Close()
	if n := x.booked(t); n < passed*1500 {
		t.Errorf("booked %d tokens for %d answers", n, passed)
	}
	if totals, err := x.store.Spending(t.Context(), store.SpendQuery{}); err != nil || totals[0].Cost == 0 {
		t.Errorf("they have cost %v, %v", totals, err)
	}
}

// A talker says a thousand numbered words.
type talker struct{}

func (talker) Answer(context.Context, *sandbox.Prompt) (sandbox.Answer, error) {
	var b strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&b, "word %d ", n)
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: b.String()}}}, nil
}
