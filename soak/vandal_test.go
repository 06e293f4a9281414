package soak

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"time"
)

// vandalise sends what no client should.
func (c *client) vandalise(ctx context.Context) {
	defer c.http.CloseIdleConnections()
	large := append(bytes.Repeat([]byte(" "), 33<<20), `{"model":"claude-sonnet-4-5"}`...)
	for n := 0; pause(ctx, 2*time.Second); n++ {
		q := &question{method: http.MethodPost, path: "/v1/messages", who: bob, session: "vandal"}
		switch n % 9 {
		case 0:
			q.body = []byte(`{"model":"claude-sonnet-4-5","max_tokens":10,"messages":[{"role":`)
		case 1:
			q.body = large
		case 2:
			q.body, q.header = bomb(), []string{"Content-Encoding", "gzip"}
		case 3:
			q.body, q.header = []byte("no gzip at all"), []string{"Content-Encoding", "gzip"}
		case 4:
			q.body = []byte(`{"model":"claude-sonnet-4-5","max_tokens":10,"messages":[{"role":"user","content":"a","content":"b"}]}`)
		case 5:
			q.path, q.body = "/v1/chat/completions", []byte(`{}`)
		case 6:
			q.who, q.body = &tenant{"nobody", "dk_wrong"}, []byte(`{}`)
		case 7:
			q.body = bytes.Repeat([]byte("["), 1<<20)
		case 8:
			q.method, q.path = http.MethodGet, "/v1/models"
		}
		c.s.tally.add(q, c.ask(q))
	}
}

// bomb is 40 MB of nothing, packed.
func bomb() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range 40 {
		z.Write(make([]byte, 1<<20)) // to memory: cannot fail
	}
	z.Close()
	return b.Bytes()
}
