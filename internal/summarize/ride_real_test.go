package summarize_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/summarize"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
)

// scribe writes the record of talk.
type scribe struct{}

func (scribe) Answer(context.Context, *sandbox.Prompt) (sandbox.Answer, error) {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: talked}}}, nil
}

// A call on the cached prompt is billed as one: the provider reads all that the client has sent from its cache.
func TestARideReadsTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over, stop := sandbox.New(sandbox.Options{Model: scribe{}}).Pipe()
		defer stop()
		ms := talk(40)
		var w strings.Builder
		for i, m := range append(ms[:len(ms):len(ms)], user(81, "Thanks.")) {
			mark := ""
			if i == len(ms) {
				mark = `,"cache_control":{"type":"ephemeral"}`
			}
			fmt.Fprintf(&w, `,{"role":%q,"content":[{"type":"text","text":%s%s}]}`, m.Role, jsonspan.AppendQuote(nil, m.Text()), mark)
		}
		body := `{"model":"claude-opus-4-5","max_tokens":1000,"messages":[` + w.String()[1:] + `]}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/v1/messages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "X-Api-Key": {"sk-" + "ant-own"}, "Anthropic-Version": {"2023-06-01"}}
		res, err := (&http.Client{Transport: over}).Do(r)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%v, %v", err, res)
		}
		res.Body.Close()

		c, err := anthropic.New(anthropic.Options{Base: "http://127.0.0.1", Transport: over, Credential: provider.Key("x-api-key", "sk-"+"ant-own")})
		if err != nil {
			t.Fatal(err)
		}
		l := &ledger{}
		asker, err := owncalls.NewCaller(owncalls.Options{Account: &provider.Account{Client: c, Upstream: "http://127.0.0.1", Shared: true}, Ledger: l})
		if err != nil {
			t.Fatal(err)
		}
		s, err := summarize.New(summarize.Options{Asker: asker, Model: summarize.Always("claude-opus-4-5")})
		if err != nil {
			t.Fatal(err)
		}
		in := input(ms)
		in.Sent, in.Upstream = []byte(body), "http://127.0.0.1"
		out, err := s.Summarize(t.Context(), in)
		if err != nil || len(l.spends) == 0 {
			t.Fatalf("%v, %d spends", err, len(l.spends))
		}
		u := l.spends[0].Usage
		t.Logf("%d tokens read from the cache, %d others, %v", u.CacheRead, u.Input+u.CacheWrite, out.Notes)
		if u.CacheRead < 4*(u.Input+u.CacheWrite) || out.CostUSD <= 0 {
			t.Errorf("usage %+v", u)
		}
	})
}
