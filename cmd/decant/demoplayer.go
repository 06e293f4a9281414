package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/wire"
)

// A player is a client that plays a recorded conversation against the Messages API: it sends the
// requests that the recording answers, each with the whole history so far, as agents do.
type player struct {
	client  *http.Client
	url     string
	session string
	conv    *decant.Conversation // requests ask for its model
}

// requests returns how many messages of the recording each request holds.
func (p *player) requests() (out []int) {
	ms := p.conv.Messages
	for i := range ms {
		if i > 0 && ms[i].Role == decant.RoleAssistant && ms[i-1].Role != decant.RoleAssistant {
			out = append(out, i)
		}
	}
	return out
}

// withTools returns a conversation with definitions of all tools that it calls, as they are written for the whole of it.
// Requests whose tools grow with what is called would lose the cache each time.
func withTools(conv *decant.Conversation) (*decant.Conversation, error) {
	body, err := wire.Encode(conv, wire.Anthropic)
	if err != nil {
		return nil, err
	}
	doc, err := wire.ParseAs(wire.Anthropic, body)
	if err != nil {
		return nil, err
	}
	out := conv.With(conv.Messages)
	out.Fixed.Tools = doc.Conversation.Fixed.Tools
	return out, nil
}

// at returns the time at which the request with the first n messages was answered.
func (p *player) at(n int) time.Time {
	ms := p.conv.Messages
	for i := min(n, len(ms)-1); i >= 0; i-- {
		if !ms[i].Time.IsZero() {
			return ms[i].Time
		}
	}
	return time.Time{}
}

// body returns the request with the first n messages. It asks for caching as agents do: up to its end.
func (p *player) body(n int) ([]byte, error) {
	body, err := wire.Encode(p.conv.With(p.conv.Messages[:n]), wire.Anthropic)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"cache_control":{"type":"ephemeral"},`), body[1:]...), nil
}

// send sends the request with the first n messages and reads its answer.
func (p *player) send(ctx context.Context, n int) error {
	body, err := p.body(n)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Anthropic-Version": "2023-06-01", "X-Api-Key": "none", "X-Decant-Session": p.session,
	} {
		req.Header.Set(name, value)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("request with %d messages: status %d: %s", n, res.StatusCode, bytes.TrimSpace(answer))
	}
	return nil
}

// A stand is a stand-in for the API on a port of its own, with the client that plays against it and the
// usage so far.
type stand struct {
	api    *sandbox.Server
	server *http.Server
	player player
	bill   cost.Bill
	sizes  []int // tokens of each request
}

// newStand starts a stand-in that answers as in a recording, with the given window; 0 means the model's own.
func newStand(conv *decant.Conversation, window int, now func() time.Time) (*stand, error) {
	conv, err := withTools(conv)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on this machine: %w", err)
	}
	api := sandbox.New(sandbox.Options{Window: window, Model: sandbox.NewScript(conv), Now: now})
	s := &stand{api: api, server: &http.Server{Handler: api, ReadHeaderTimeout: 10 * time.Second}}
	s.player = player{client: &http.Client{Transport: &http.Transport{}}, url: "http://" + l.Addr().String(), conv: conv}
	go s.server.Serve(l) // it ends with close
	return s, nil
}

func (s *stand) close() error { return s.server.Close() }
