package openai

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/wire"
)

// body returns a request for one answer, without tools.
func (c *Client) body(r *provider.Request) []byte {
	b := append(jsonspan.AppendQuote([]byte(`{"model":`), r.Model), c.limit()...)
	b = strconv.AppendInt(b, int64(r.MaxTokens), 10)
	if m, _ := c.opts.Catalog.Lookup(r.Model); r.Cool && (!c.own || m.TakesTemperature()) {
		b = append(b, `,"temperature":0`...)
	}
	b = append(b, `,"messages":[`...)
	if r.System != "" {
		b = append(jsonspan.AppendQuote(append(b, `{"role":"system","content":`...), r.System), "},"...)
	}
	b = jsonspan.AppendQuote(append(b, `{"role":"user","content":`...), r.Prompt)
	return append(b, `}]}`...)
}

// newLimit is how OpenAI's own API writes the limit of an answer. Other servers keep the old name.
const newLimit = `,"max_completion_tokens":`

// limit returns how the server writes the limit of an answer.
func (c *Client) limit() string {
	if c.own {
		return newLimit
	}
	return `,"max_tokens":`
}

// modelOf returns the model of a turn; empty where it names none.
func modelOf(t *provider.Turn) string {
	var asked struct {
		Model string `json:"model"`
	}
	_ = json.Unmarshal(t.Body, &asked, lenient) // translated refuses what is not a request
	return asked.Model
}

// translated returns a turn as a request of Chat Completions whose answer comes as a stream. Without images, each is
// replaced by a line of text.
func (c *Client) translated(t *provider.Turn, images bool) ([]byte, error) {
	d, err := wire.ParseAs(wire.Anthropic, t.Body)
	if err != nil {
		return nil, fmt.Errorf("a turn must be a request of the Messages API: %w", err)
	}
	var b []byte
	if images {
		b, err = wire.EncodeShown(d)
	} else {
		b, err = wire.Encode(d.Conversation, wire.OpenAIChat)
	}
	if err != nil {
		return nil, err
	}
	b = bytes.Replace(b, []byte(newLimit), []byte(c.limit()), 1) // the first one is before all text
	var asked struct {
		Stream      jsontext.Value `json:"stream"`
		Temperature jsontext.Value `json:"temperature"`
		Stop        jsontext.Value `json:"stop_sequences"`
		Choice      struct {
			Type   string `json:"type"`
			Name   string `json:"name"`
			Serial bool   `json:"disable_parallel_tool_use"`
		} `json:"tool_choice"`
	}
	if err := json.Unmarshal(t.Body, &asked, lenient); err != nil {
		return nil, fmt.Errorf("a turn must be a request of the Messages API: %w", err)
	}
	if asked.Stream != nil {
		return nil, errors.New("a turn must not have the member stream")
	}
	b = bytes.TrimSuffix(b, []byte{'}'})
	if asked.Temperature != nil {
		b = append(append(b, `,"temperature":`...), asked.Temperature...)
	}
	if asked.Stop != nil {
		b = append(append(b, `,"stop":`...), asked.Stop...)
	}
	if len(d.Conversation.Fixed.Tools) > 0 {
		b = appendChoice(b, asked.Choice.Type, asked.Choice.Name)
		if asked.Choice.Serial {
			b = append(b, `,"parallel_tool_calls":false`...)
		}
	}
	return append(b, `,"stream":true,"stream_options":{"include_usage":true}}`...), nil
}

// appendChoice appends the choice of tools.
func appendChoice(b []byte, kind, name string) []byte {
	switch kind {
	case "none":
		return append(b, `,"tool_choice":"none"`...)
	case "any":
		return append(b, `,"tool_choice":"required"`...)
	case "tool":
		b = jsonspan.AppendQuote(append(b, `,"tool_choice":{"type":"function","function":{"name":`...), name)
		return append(b, `}}`...)
	}
	return b
}
