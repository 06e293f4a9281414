package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// bulk makes batches under a budget, cancels some, and fetches the results of the others, so that all of them are
// settled.
func (c *client) bulk(ctx context.Context) {
	defer c.http.CloseIdleConnections()
	for n := 0; pause(ctx, 5*time.Second); n++ {
		id := c.makeBatch(n)
		if id == "" {
			continue
		}
		if n%4 == 0 {
			c.about(http.MethodPost, id+"/cancel")
		}
		time.Sleep(2 * time.Second) // it is booked behind the answer, also on a database that is locked for a second
		c.about(http.MethodGet, id)
		c.about(http.MethodGet, id+"/results")
	}
}

// makeBatch makes a batch of some questions and returns its id.
func (c *client) makeBatch(n int) string {
	var b bytes.Buffer
	b.WriteString(`{"requests":[`)
	for i := range 5 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"custom_id":"q-%d","params":{"model":"claude-sonnet-4-5","max_tokens":%d,"messages":[{"role":"user","content":"Question %d of batch %d"}]}}`, i, 100+100*i, i, n)
	}
	b.WriteString("]}")
	q := &question{method: http.MethodPost, path: "/v1/messages/batches", body: b.Bytes(), who: c.s.gate.bulk}
	o := c.ask(q)
	c.s.tally.add(q, o)
	var made struct{ ID string }
	if json.Unmarshal(o.body, &made) != nil {
		return ""
	}
	return made.ID
}

// about asks for something below the batches.
func (c *client) about(method, path string) {
	q := &question{method: method, path: "/v1/messages/batches/" + path, who: c.s.gate.bulk}
	c.s.tally.add(q, c.ask(q))
}
