package main

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider/sandbox"
	"github.com/decantdev/decant/wire"
)

// recording is the session that is played.
const recording = "testdata/claude-code-session.jsonl.gz"

// conversations are those of a database. Each is poured twice; one has a pin, of one the second pour is taken back, and
// one leaves the first of them between its pours.
var conversations = []conversation{{"poured", "poured", 18}, {"pinned", "pinned", 18}, {"undone", "undone", 17}, {"forked", "poured", 18}}

// Requests are counted from 0.
const (
	pinAfter = 10 // requests of the conversation with a pin
	pinned   = "m2"
	forkAt   = 16 // the request in which a fork says something else
	stopped  = 18 // the request in which the user has stopped the tools, so that it makes no pour due
)

// A conversation is one of a database.
type conversation struct {
	name, session string
	requests      int // besides the one that is asked for at last
}

// bodies are requests, by conversation.
type bodies struct {
	Time   time.Time         `json:"time,omitzero"` // of the first
	Bodies map[string]string `json:"bodies"`
}

// A play is what the conversations say.
type play struct {
	whole, forked *decant.Conversation
	stops         []int // how many messages each request has
}

func newPlay() (*play, error) {
	f, err := os.Open(recording)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := wire.Read(f)
	if err != nil {
		return nil, err
	}
	doc, err := wire.Parse(src)
	if err != nil {
		return nil, err
	}
	p := &play{whole: doc.Conversation}
	p.whole.Model, p.whole.MaxOutput = "claude-sonnet-4-5", 1000
	for i, ms := 1, p.whole.Messages; i < len(ms); i++ {
		if ms[i].Role == decant.RoleAssistant && ms[i-1].Role != decant.RoleAssistant {
			p.stops = append(p.stops, i)
		}
	}
	m := &p.whole.Messages[p.stops[stopped]-1]
	for i := range m.Blocks {
		m.Blocks[i].Content = decant.Text("The user has stopped this.")
	}
	ms := slices.Clone(p.whole.Messages)
	m = &ms[p.stops[forkAt]-1]
	m.Blocks = append(slices.Clip(m.Blocks), decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text("Then go on.")})
	p.forked = p.whole.With(ms)
	return p, nil
}

// body returns the n-th request of a conversation. It asks for caching up to its end, as agents do.
func (p *play) body(c *conversation, n int) ([]byte, error) {
	conv := p.whole
	if c.name == "forked" {
		conv = p.forked
	}
	body, err := wire.Encode(conv.With(conv.Messages[:p.stops[n]]), wire.Anthropic)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"cache_control":{"type":"ephemeral"},`), body[1:]...), nil
}

// send sends the n-th request of a conversation and returns what has come of it.
func (p *play) send(ctx context.Context, m *machine, url string, c *conversation, n int) ([]byte, error) {
	body, err := p.body(c, n)
	if err != nil {
		return nil, err
	}
	return m.send(ctx, url, c.session, body, n)
}

// history has the conversations take place. Between two steps everything is written down.
func (p *play) history(ctx context.Context, m *machine) error {
	m.script.Answers = sandbox.NewScript(p.whole).Answers
	talk := func(c *conversation, from, to int) func() error {
		return func() error {
			return m.serve(ctx, func(url string) error {
				for n := from; n < to; n++ {
					if _, err := p.send(ctx, m, url, c, n); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	poured, withPin, undone, forked := &conversations[0], &conversations[1], &conversations[2], &conversations[3]
	for _, step := range []func() error{
		talk(poured, 0, poured.requests),
		talk(withPin, 0, pinAfter),
		func() error { return m.run(ctx, "pin", withPin.session, pinned) },
		talk(withPin, pinAfter, withPin.requests),
		talk(undone, 0, undone.requests),
		func() error { return m.run(ctx, "undo", undone.session, "--yes") },
		talk(forked, forkAt, forked.requests),
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// next sends the next request of each conversation and returns what has come of them. Nothing is poured for money by
// then: that depends on how long it was since the request before.
func (p *play) next(ctx context.Context, m *machine) ([]byte, error) {
	a := bodies{Time: time.Now().UTC(), Bodies: map[string]string{}}
	err := m.serve(ctx, func(url string) error {
		for i := range conversations {
			c := &conversations[i]
			body, err := p.send(ctx, m, url, c, c.requests)
			if err != nil {
				return err
			}
			a.Bodies[c.name] = string(body)
		}
		return nil
	}, "--thrift", "off", "--window", strconv.Itoa(large))
	if err != nil {
		return nil, err
	}
	return json.Marshal(a)
}

// requests returns the next requests of all conversations.
func (p *play) requests() ([]byte, error) {
	a := bodies{Bodies: map[string]string{}}
	for i := range conversations {
		c := &conversations[i]
		body, err := p.body(c, c.requests)
		if err != nil {
			return nil, err
		}
		a.Bodies[c.name] = string(body)
	}
	return json.Marshal(a)
}
