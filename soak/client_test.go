package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// A tenant is whoever has a key.
type tenant struct{ name, key string }

// The tenants of the settings; the limited ones get their keys at the command line.
var (
	alice = &tenant{"alice", "dk_alice_soak_0123456789"}
	bob   = &tenant{"bob", "dk_bob_soak_0123456789"}
)

// A client plays recordings, one after the other, and behaves as clients do.
type client struct {
	s     *soak
	n     int
	lines int
	http  *http.Client
	rand  *rand.Rand
}

func newClient(s *soak, n int) *client {
	return &client{s: s, n: n, http: &http.Client{Transport: &http.Transport{}}, rand: rand.New(rand.NewPCG(uint64(n), uint64(len(s.gauge.samples))))}
}

// tenant returns whose requests a client makes: most are of tenants without limits.
func (c *client) tenant() *tenant {
	switch n := c.rand.IntN(20); {
	case n == 0:
		return c.s.gate.poor
	case n == 1:
		return c.s.gate.hasty
	case n < 7:
		return bob
	}
	return alice
}

// work plays lines until the context ends.
func (c *client) work(ctx context.Context) {
	defer c.http.CloseIdleConnections()
	for ctx.Err() == nil {
		r := c.s.recordings[c.rand.IntN(len(c.s.recordings))]
		c.lines++
		tag := fmt.Sprintf("%d-%d-%d", len(c.s.gauge.samples), c.n, c.lines)
		l := &line{tenant: c.tenant(), session: "soak-" + tag, fixed: r.fixed, said: r.own(tag)}
		c.s.lines.add(l)
		stops := r.stops
		if c.rand.IntN(2) == 0 { // most conversations are short
			stops = stops[:1+c.rand.IntN(8)]
		}
		c.play(ctx, l, stops)
		c.settle(l)
		c.s.lines.finish(l)
	}
}

// play sends the requests of a line. A tenant whose budget is spent gives up.
func (c *client) play(ctx context.Context, l *line, stops []int) {
	for i, n := range stops {
		if !pause(ctx, 250*time.Millisecond) || !c.step(ctx, l, n) {
			return
		}
		if i > 3 && c.rand.IntN(60) == 0 {
			c.fork(ctx, l, stops[:i+1])
		}
		if c.rand.IntN(150) == 0 {
			return // the user has closed the window
		}
	}
}

// faults are what may go wrong upstream, as asked for in faultHeader.
var faults = []string{"rate_limit", "overloaded", "internal", "stream_error/3", "stream_error/9", "reset", "reset/5", "cut", "cut/4", "slow"}

// step sends one request of a line, now and then in a bad manner or at a bad moment; then it sends it again. It
// reports whether the line can go on.
func (c *client) step(ctx context.Context, l *line, n int) bool {
	switch k := c.rand.IntN(100); {
	case k < 12:
		c.try(l, n, faults[c.rand.IntN(len(faults))], patient)
	case k < 13:
		c.try(l, n, fmt.Sprintf("stall/%d", c.rand.IntN(6)), hurried)
	case k < 17:
		c.try(l, n, "", leaving)
	case k < 20:
		c.try(l, n, "", falling)
	case k < 23:
		c.count(l, n)
	case k < 26:
		c.insist(ctx, l, n, patient)
	case k < 30:
		return c.insist(ctx, l, n, slow)
	}
	return c.insist(ctx, l, n, patient)
}

// try sends a request that may fail.
func (c *client) try(l *line, n int, fault string, m manner) *outcome {
	q := &question{
		method: http.MethodPost, path: "/v1/messages", body: l.body(n, c.rand.IntN(3) > 0), who: l.tenant, session: l.session, manner: m, fault: fault,
	}
	o := c.ask(q)
	c.s.tally.add(q, o)
	if o.status == http.StatusOK && o.whole && o.fault == "" {
		if err := l.ack(q.body, o); err != nil {
			c.s.t.Error(err)
		}
		l.at = n
	}
	return o
}

// insist sends a request until it is answered, as the official clients do. It reports false when the budget is spent.
func (c *client) insist(ctx context.Context, l *line, n int, m manner) bool {
	for {
		o := c.try(l, n, "", m)
		if o.status == http.StatusOK {
			return true
		}
		if o.status == http.StatusPaymentRequired || !pause(ctx, 2*time.Second) {
			return false
		}
	}
}

// settle ends a line with an answer that was archived, if it had answers at all.
func (c *client) settle(l *line) {
	for range 20 {
		if l.acked == nil || c.try(l, l.at, "", patient).fault == "" {
			return
		}
		time.Sleep(time.Second)
	}
}

// count asks how large a request is.
func (c *client) count(l *line, n int) {
	body := append(slices.Clip(withoutLimit(l.fixed)), l.body(n, false)[len(l.fixed):]...)
	q := &question{method: http.MethodPost, path: "/v1/messages/count_tokens", body: body, who: l.tenant, session: l.session}
	c.s.tally.add(q, c.ask(q))
}

// fork goes on from an earlier point with other words, and gets other answers.
func (c *client) fork(ctx context.Context, l *line, stops []int) {
	at := c.rand.IntN(len(stops) - 1)
	f := &line{tenant: l.tenant, session: l.session, fixed: l.fixed, said: slices.Clone(l.said)}
	last, tag := stops[at]-1, fmt.Sprintf("fork_%d_%d", c.n, c.rand.Uint32())
	f.said[last] = reworded(f.said[last], "Instead, do it as in "+tag+".")
	for i := last + 1; i < len(f.said); i++ {
		f.said[i] = retold(f.said[i], tag)
	}
	l.forked = true
	c.s.lines.add(f)
	c.play(ctx, f, stops[at:min(at+4, len(stops))])
	c.settle(f)
}
