package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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
	return c.addGateways(m, []play{
		{name: "conversation that grows from 13 to 140 KB", bodies: t.grow(0, 12_000, 40)},
		{name: "new conversations of 13 KB", bodies: t.fresh(12_000, 40), many: true},
		{name: "new conversations of 2 KB", bodies: t.fresh(2000, 100), many: true, stored: "many short conversations"},
	})
}

// longTalks measures it for long ones.
func longTalks(m *machine, c *costs) error {
	t, err := newTalk(session)
	if err != nil {
		return err
	}
	return c.addGateways(m, []play{
		{name: "conversation that grows from 528 KB", bodies: t.grow(0, 528_000, 110), pours: 3, stored: "one long conversation"},
	})
}

// addGateways adds what a request of each play takes, and what the database does.
func (c *costs) addGateways(m *machine, plays []play) error {
	upstream := httptest.NewServer(http.HandlerFunc(answer))
	defer upstream.Close()
	none, err := m.play(play{name: "only warm"}, upstream.URL)
	for i := 0; i < len(plays) && err == nil; i++ {
		var s spent
		if s, err = m.play(plays[i], upstream.URL); err == nil {
			err = c.addGateway(m, plays[i], s, none)
		}
	}
	return err
}

// gatewayRuns is how often requests are sent through a new gateway; the least of each figure counts.
const gatewayRuns = 3

// addGateway adds what a request of a play takes; none is a run without any.
func (c *costs) addGateway(m *machine, p play, s, none spent) error {
	n, name := float64(len(p.bodies)), "gateway, "+p.name
	if s.Pours < p.pours {
		return fmt.Errorf("%s: %d pours, want at least %d: make it longer in scripts/cost/gateway.go", name, s.Pours, p.pours)
	}
	c.add(name+": allocations", (s.Mallocs-none.Mallocs)/n, "for each request")
	c.add(name+": allocated", (s.Bytes-none.Bytes)/n/1000, "KB for each request")
	if p.stored != "" {
		c.add("database, "+p.stored, (s.Database-m.empty)/p.said(), "bytes for each byte said")
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

// warm is a request of a conversation of its own, after which a gateway has everything that it loads once.
var warm = []byte(head + `{"role":"user","content":[{"type":"text","text":"Hello."}]}]}`)

// play sends requests to new gateways. What these do behind the last answer counts, too.
func (m *machine) play(p play, upstream string) (spent, error) {
	var runs []spent
	for range gatewayRuns {
		s, _, err := m.run(process{program: m.inside, home: m.dir, args: []string{"gateway", upstream, m.database()}, serve: p.send})
		if err != nil {
			return s, err
		}
		runs = append(runs, s)
	}
	return middle(runs), nil
}

// send sends the requests to a gateway at an address, behind one that makes it warm.
func (p play) send(address string) error {
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	err := send(client, address, "warm", warm)
	for i := 0; i < len(p.bodies) && err == nil; i++ {
		session := "one"
		if p.many {
			session = fmt.Sprint("session-", i)
		}
		if err = send(client, address, session, p.bodies[i]); err != nil {
			err = fmt.Errorf("%s, request %d: %w", p.name, i, err)
		}
	}
	return err
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
func send(client *http.Client, address, session string, body []byte) error {
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
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if fault := res.Header.Get("X-Decant-Fault"); err != nil || res.StatusCode != http.StatusOK || fault != "" {
		return errors.Join(err, fmt.Errorf("status %d, fault %q: %.200s", res.StatusCode, fault, text))
	}
	return nil
}
