package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"
)

// A play is requests that go through a gateway in one run.
type play struct {
	name   string
	bodies [][]byte
	many   bool   // each is of a conversation of its own
	pours  int    // how many there must be at least, or what it costs says little
	stored string // what the database is measured for; empty: nothing
}

// gateways measures what a gateway does for a request of a short and of a long conversation. Lengths are such that a run
// takes some hundred milliseconds.
func gateways(m *machine, c *costs) error {
	t, err := newTalk(session)
	if err != nil {
		return err
	}
	fresh := func(size, n int) (bodies [][]byte) {
		for i := range n {
			bodies = append(bodies, t.body(t.messages(i, size)))
		}
		return bodies
	}
	small, large := t.grow(0, 12_000, 40), t.grow(0, 528_000, 110)
	if err := c.addGateways(m, []play{
		{name: "conversation that grows from 13 to 140 KB", bodies: small},
		{name: "new conversations of 13 KB", bodies: fresh(12_000, 40), many: true},
		{name: "the same 13 KB again", bodies: slices.Repeat(small[:1], 80)},
		{name: "new conversations of 2 KB", bodies: fresh(2000, 100), many: true, stored: "many short conversations"},
	}); err != nil {
		return err
	}
	return c.addGateways(m, []play{
		{name: "conversation that grows from 528 KB", bodies: large, pours: 3, stored: "one long conversation"},
		{name: "new conversations of 528 KB", bodies: fresh(528_000, 8), many: true},
		{name: "the same 528 KB again", bodies: slices.Repeat(large[:1], 20)},
	})
}

// addGateways adds what a request of each play takes, and what the database does.
func (c *costs) addGateways(m *machine, plays []play) error {
	upstream := httptest.NewServer(http.HandlerFunc(answer))
	defer upstream.Close()
	one := play{name: "one request", bodies: plays[0].bodies[:1]}
	processes := map[string]func() process{}
	for _, p := range append(plays, one) {
		floor := p.asFloor()
		processes["proxy: "+p.name] = func() process {
			return process{program: m.self, role: "proxy", args: []string{upstream.URL}, serve: floor.through}
		}
		processes[p.name] = func() process {
			return process{program: m.inside, home: m.dir, args: []string{"gateway", upstream.URL, m.database()}, serve: p.through}
		}
	}
	least, err := m.inTurn(processes)
	if err != nil {
		return err
	}
	for _, p := range plays {
		all := least[p.name]
		if all.Pours < p.pours {
			return fmt.Errorf("gateway, %s: %d pours, want at least %d: make it longer in scripts/cost/gateway.go", p.name, all.Pours, p.pours)
		}
		floor := least["proxy: "+p.name].CPU - least["proxy: "+one.name].CPU
		c.addGateway(p, all, least[one.name], floor/time.Duration(len(p.asFloor().bodies)-1))
		if p.stored != "" {
			c.add("database, "+p.stored, (all.Database-m.empty)/p.said(), "bytes for each byte said")
		}
	}
	return nil
}

// addGateway adds what a request of a play takes: what is above a run with one request.
func (c *costs) addGateway(p play, all, one spent, floor time.Duration) {
	n, name := float64(len(p.bodies)-1), "gateway, "+p.name
	c.add(name+": processor", times(all.CPU-one.CPU, floor)/n, "times a bare proxy")
	c.add(name+": allocations", (all.Mallocs-one.Mallocs)/n, "for each request")
	c.add(name+": allocated", (all.Bytes-one.Bytes)/n/1000, "KB for each request")
}

// asFloor is a play for a proxy, which needs more requests to take a time that can be measured.
func (p play) asFloor() play {
	if n := len(p.bodies); n > 1 {
		p.bodies = slices.Repeat(p.bodies, (400+n-1)/n)
	}
	return p
}

// said is how many bytes all messages of a play have.
func (p play) said() (n float64) {
	for i, body := range p.bodies {
		if p.many || i == len(p.bodies)-1 {
			n += float64(len(body) - len(head))
		}
	}
	return n
}

// answer answers as a model's API does. It does not look into the request, and reports what its length says.
func answer(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		return // the client sees it
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	fmt.Fprintf(w, `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":600,"cache_read_input_tokens":%d,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":20}}

event: message_stop
data: {"type":"message_stop"}

`, n/4)
}

// through sends the requests one after the other, as a client does that waits for each answer.
func (p play) through(address string) error {
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}
	for i, body := range p.bodies {
		session := "one"
		if p.many {
			session = fmt.Sprint("session-", i)
		}
		r, err := http.NewRequest(http.MethodPost, address+"/v1/messages?beta=true", bytes.NewReader(body))
		if err != nil {
			return err
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "X-Api-Key": "key", "Anthropic-Version": "2023-06-01", "X-Decant-Session": session,
		} {
			r.Header.Set(name, value)
		}
		res, err := client.Do(r)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if fault := res.Header.Get("X-Decant-Fault"); err != nil || res.StatusCode != http.StatusOK || fault != "" {
			return errors.Join(err, fmt.Errorf("%s, request %d: status %d, fault %q: %.200s", p.name, i, res.StatusCode, fault, text))
		}
	}
	return nil
}
