package anthropic

import (
	"strconv"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/provider"
)

// body returns a request for one answer, without tools.
func (c *Client) body(r *provider.Request) []byte {
	b := jsonspan.AppendQuote([]byte(`{"model":`), r.Model)
	b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(r.MaxTokens), 10)
	if m, _ := c.opts.Catalog.Lookup(r.Model); r.Cool && m.TakesTemperature() {
		b = append(b, `,"temperature":0`...)
	}
	if long(r.MaxTokens) {
		b = append(b, `,"stream":true`...)
	}
	if r.System != "" {
		b = jsonspan.AppendQuote(append(b, `,"system":`...), r.System)
	}
	b = jsonspan.AppendQuote(append(b, `,"messages":[{"role":"user","content":`...), r.Prompt)
	return append(b, `}]}`...)
}

// long reports whether an answer of so many tokens may take longer than a connection is sure to last without a byte: the SDK
// wants a stream for what may take more than ten minutes, at 128,000 tokens an hour.
func long(tokens int) bool { return tokens > 128_000/6 }
