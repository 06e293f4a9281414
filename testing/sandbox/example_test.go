package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
)

// ask sends a question and returns the text of the answer, or what went wrong.
func ask(client *http.Client, question, more string) string {
	body := fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":100,%s"messages":[{"role":"user","content":%q}]}`, more, question)
	r, err := http.NewRequest(http.MethodPost, "http://sandbox/v1/messages", strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "X-Api-Key": {"key"}, "Anthropic-Version": {"2023-06-01"}}
	res, err := client.Do(r)
	if err != nil {
		return "no answer"
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return fmt.Sprintf("%d, and broken off", res.StatusCode)
	case res.StatusCode != http.StatusOK:
		return fmt.Sprintf("%d, retry after %q", res.StatusCode, res.Header.Get("Retry-After"))
	case strings.Contains(string(text), "event: error"):
		return fmt.Sprintf("%d, and an error in the stream", res.StatusCode)
	}
	const before = `"text":"`
	said, _, _ := strings.Cut(string(text[strings.LastIndex(string(text), before)+len(before):]), `"`)
	return said
}

// An echo is a model that repeats what it is asked.
type echo struct{}

func (echo) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	words := fmt.Sprintf("answer %d (messages: %d): %s", p.Answers()+1, len(p.Messages), strings.TrimSpace(p.Last(decant.RoleUser)))
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: words}}}, nil
}

// A model of one's own says what a test needs. The server does the rest: it refuses what the API refuses, counts, caches
// and streams. Pipe needs no socket.
func Example() {
	s := sandbox.New(sandbox.Options{Model: echo{}})
	rt, stop := s.Pipe()
	defer stop()
	client := &http.Client{Transport: rt}

	fmt.Println(ask(client, "Are you there?", ""))
	fmt.Println(ask(client, "", ""))
	for _, e := range s.Log.Entries() {
		fmt.Printf("%d: %d %q\n", e.Number, e.Status, e.Error)
	}
	s.Log.Reset()
	fmt.Println(len(s.Log.Entries()))
	// Output:
	// answer 1 (messages: 1): Are you there?
	// 400, retry after ""
	// 1: 200 ""
	// 2: 400 "messages.0: all messages must have non-empty content except for the optional final assistant message"
	// 0
}

// What goes wrong at a provider goes wrong on demand. Here nobody waits for what is slow.
func ExampleServer_Inject() {
	s := sandbox.New(sandbox.Options{Model: echo{}, Sleep: func(context.Context, time.Duration) error { return nil }})
	rt, stop := s.Pipe()
	defer stop()
	client := &http.Client{Transport: rt}
	for _, kind := range []sandbox.FaultKind{
		sandbox.FaultRateLimit, sandbox.FaultOverloaded, sandbox.FaultInternal, sandbox.FaultStreamError,
		sandbox.FaultReset, sandbox.FaultCut, sandbox.FaultHalf, sandbox.FaultStall, sandbox.FaultSlow, sandbox.FaultUnavailable,
	} {
		s.Inject(sandbox.Fault{Kind: kind, After: 2, Wait: 30 * time.Second})
		fmt.Printf("%s: %s\n", kind, ask(client, "Hello.", `"stream":true,`))
	}
	// Output:
	// rate_limit: 429, retry after "30"
	// overloaded: 529, retry after ""
	// internal: 500, retry after ""
	// stream_error: 200, and an error in the stream
	// reset: 200, and broken off
	// cut: 200, and broken off
	// half: 200, and broken off
	// stall: answer 1 (messages: 1): Hello.
	// slow: answer 1 (messages: 1): Hello.
	// unavailable: 529, retry after ""
}

// A test of a program that asks a model for texts lets it meet every way in which that can go wrong.
func ExampleMisbehavior() {
	for _, m := range []sandbox.Misbehavior{
		sandbox.MisbehaveEmpty, sandbox.MisbehaveRefusal, sandbox.MisbehaveToolCall, sandbox.MisbehaveTooLong, sandbox.MisbehaveInvents,
		sandbox.MisbehaveLanguage, sandbox.MisbehaveInjected, sandbox.MisbehaveError, sandbox.MisbehaveHalf, sandbox.MisbehaveStorm,
	} {
		s := sandbox.New(m.Apply(sandbox.Options{}))
		rt, stop := s.Pipe()
		ask(&http.Client{Transport: rt}, "Summarize: the port is 8443.", "")
		stop()
		fmt.Printf("%s: %d %q\n", m, s.Log.Last().Status, s.Log.Last().Stop)
	}
	fmt.Println(len(sandbox.Misbehaviors()), "with", sandbox.MisbehaveTimeout)
	// Output:
	// empty: 200 "end_turn"
	// refusal: 200 "refusal"
	// tool_call: 200 "tool_use"
	// too_long: 200 "end_turn"
	// invents: 200 "end_turn"
	// language: 200 "end_turn"
	// injected: 200 "end_turn"
	// error: 200 "end_turn"
	// half: 200 "end_turn"
	// storm: 429 ""
	// 11 with timeout
}

// A model can misbehave where a test wants it to.
func ExampleMisbehave() {
	s := sandbox.New(sandbox.Options{Model: sandbox.Misbehave{
		As: sandbox.MisbehaveLanguage, Model: sandbox.Summarizer{},
		When: func(p *sandbox.Prompt) bool { return strings.Contains(p.Last(decant.RoleUser), "Kurz") },
	}})
	rt, stop := s.Pipe()
	defer stop()
	client := &http.Client{Transport: rt}
	fmt.Println(ask(client, "Summarize: The port is 8443.", ""))
	fmt.Println(ask(client, "Kurz: The port is 8443.", "")[:28])
	// Output:
	// Summarize: The port is 8443.
	// Voici un résumé de la conv
}
