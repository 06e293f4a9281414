// Package sandboxtest has what tests share that speak with the sandbox: a client, and models that are functions.
package sandboxtest

import (
	"context"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
)

// Client returns a client of the Messages API whose requests go to s, without a network, until the test ends.
func Client(t testing.TB, s *sandbox.Server) *anthropic.Client {
	t.Helper()
	rt, stop := s.Pipe()
	t.Cleanup(stop)
	c, err := anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "test")})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A Model answers by the prompt alone, and never fails.
type Model func(p *sandbox.Prompt) sandbox.Answer

// Answer implements [sandbox.Model].
func (m Model) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	return m(p), nil
}

// Results returns the texts of the results in the last message of a prompt.
func Results(p *sandbox.Prompt) (out []string) {
	for _, b := range p.Messages[len(p.Messages)-1].Blocks {
		if b.Kind == decant.KindResult {
			out = append(out, b.Text)
		}
	}
	return out
}
