package main

import (
	"bytes"
	"cmp"
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

// shortTalks measures what a gateway does for requests of short conversations.
func shortTalks(m *machine, c *costs) error {
	t, err := newTalk(session)
	if err != nil {
		return err
	}
	grow := t.grow(0, 12_000, 40)
	return c.addGateways(m, []play{
		{name: "conversation that grows from 13 to 140 KB", bodies: grow},
		{name: "new conversations of 13 KB", bodies: t.fresh(12_000, 40), many: true},
		{name: "the same 13 KB again", bodies: slices.Repeat(grow[:1], 80)},
		{name: "new conversations of 2 KB", bodies: t.fresh(2000, 100), many: true, stored: "many short conversations"},
	})
}

// longTalks measures it for long ones.
func longTalks(m *machine, c *costs) error {
	t, err := newTalk(session)
	if err != nil {
		return err
	}
	grow := t.grow(0, 528_000, 110)
	return c.addGateways(m, []play{
		{name: "conversation that grows from 528 KB", bodies: grow, pours: 3, stored: "one long conversation"},
		{name: "new conversations of 528 KB", bodies: t.fresh(528_000, 16), many: true},
		{name: "the same 528 KB again", bodies: slices.Repeat(grow[:1], 40)},
	})
}

// addGateways adds what a request of each play takes, and what the database does.
func (c *costs) addGateways(m *machine, plays []play) error {
	upstream := httptest.NewServer(http.HandlerFunc(answer))
	defer upstream.Close()
	plays = append(plays, play{name: "only warm"})
	runs, taken := make([][]spent, len(plays)), make([]time.Duration, len(plays))
	for range mostRuns {
		for i, p := range plays {
			if !again(len(runs[i]), taken[i]) {
				continue
			}
			s, err := m.play(p, upstream.URL)
			if err != nil {
				return err
			}
			runs[i], taken[i] = append(runs[i], s), taken[i]+s.CPU
		}
	}
	last := len(plays) - 1
	for i, p := range plays[:last] {
		if err := c.addGateway(m, p, runs[i], middle(runs[last])); err != nil {
			return err
		}
	}
	return nil
}

// addGateway adds what a request of a play takes; none is a run without any.
func (c *costs) addGateway(m *machine, p play, runs []spent, none spent) error {
	slices.SortFunc(runs, func(a, b spent) int { return cmp.Compare(a.Times, b.Times) })
	times, all := runs[len(runs)/2].Times, middle(runs)
	n, name := float64(len(p.bodies)), "gateway, "+p.name
	if all.Pours < p.pours {
		return fmt.Errorf("%s: %d pours, want at least %d: make it longer in scripts/cost/gateway.go", name, all.Pours, p.pours)
	}
	c.add(name+cpuTime, times, "times a proxy that rewrites JSON")
	c.add(name+": allocations", (all.Mallocs-none.Mallocs)/n, "for each request")
	c.add(name+": allocated", (all.Bytes-none.Bytes)/n/1000, "KB for each request")
	if p.stored != "" {
		c.add("database, "+p.stored, (all.Database-m.empty)/p.said(), "bytes for each byte said")
	}
	return nil
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

// ofFloor is how many requests go to the proxy for each to the gateway, so that both are measured about as long.
const ofFloor = 2

// warm is a request of a conversation of its own, after which a gateway has everything that it loads once.
var warm = []byte(head + `{"role":"user","content":[{"type":"text","text":"Hello."}]}]}`)

// play sends requests to a gateway and to the floor, a proxy, in turn, so that whatever else the machine does slows down both. What
// they took before is not in the times, and what they do behind the last answer is.
func (m *machine) play(p play, upstream string) (s spent, err error) {
	var before, beforeFloor time.Duration
	var floor spent
	s, _, err = m.run(process{program: m.inside, home: m.dir, args: []string{"gateway", upstream, m.database()}, serve: func(gateway server) (err error) {
		floor, _, err = m.run(process{program: m.self, role: "proxy", args: []string{upstream}, serve: func(proxy server) (err error) {
			before, beforeFloor, err = p.through(gateway, proxy)
			return err
		}})
		return err
	}})
	s.Times = float64(s.CPU-before) / float64(floor.CPU-beforeFloor) * ofFloor
	return s, err
}

// through sends the requests, and returns what gateway and proxy had taken when they were warm.
func (p play) through(gateway, proxy server) (before, beforeFloor time.Duration, err error) {
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	err = errors.Join(send(client, gateway, "warm", warm), send(client, proxy, "warm", warm))
	before, clock := processor(gateway.pid)
	beforeFloor, clockFloor := processor(proxy.pid)
	err = errors.Join(err, clock, clockFloor)
	for i := 0; i < len(p.bodies) && err == nil; i++ {
		session := "one"
		if p.many {
			session = fmt.Sprint("session-", i)
		}
		err = send(client, gateway, session, p.bodies[i])
		for n := 0; n < ofFloor && err == nil; n++ {
			err = send(client, proxy, session, p.bodies[i])
		}
		if err != nil {
			err = fmt.Errorf("%s, request %d: %w", p.name, i, err)
		}
	}
	return before, beforeFloor, err
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

// send sends a request, and reads the answer to its end.
func send(client *http.Client, to server, session string, body []byte) error {
	r, err := http.NewRequest(http.MethodPost, to.address+"/v1/messages?beta=true", bytes.NewReader(body))
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
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if fault := res.Header.Get("X-Decant-Fault"); err != nil || res.StatusCode != http.StatusOK || fault != "" {
		return errors.Join(err, fmt.Errorf("status %d, fault %q: %.200s", res.StatusCode, fault, text))
	}
	return nil
}
