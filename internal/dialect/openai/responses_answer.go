package openai

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A response is what the model said, put together from what passed by.
type response struct {
	keep   func(n int) bool
	lost   bool // it was too large: nothing of its content is kept
	items  []item
	bytes  int    // of whole items
	came   int    // bytes of what was said, kept or not
	spoken int    // index of the item of which the newest delta is
	said   []byte // of an answer in one piece that broke off
	output []byte // of the end, where no item came before it
	end    *responseEnd
	failed bool // an error has come
}

// An item is one item of the output of a stream.
type item struct {
	index int
	text  []byte // of its deltas, until it is whole
	whole []byte
}

// A responseEnd is what is read of a response object.
type responseEnd struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Detail struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage responseUsage `json:"usage"`
}

// A responseUsage is what the API reports. What was read from the cache and written to it is part of the input.
type responseUsage struct {
	Input   int `json:"input_tokens"`
	Details struct {
		Read  int `json:"cached_tokens"`
		Write int `json:"cache_write_tokens"`
		Lives struct {
			Long int `json:"ttl_12h_tokens"`
		} `json:"cache_write_tokens_details"`
	} `json:"input_tokens_details"`
	Output int `json:"output_tokens"`
}

// tokens returns the same as Decant counts: each token once.
func (u *responseUsage) tokens() decant.Usage {
	read := max(0, min(u.Details.Read, u.Input))
	write := max(0, min(u.Details.Write, u.Input-read))
	return decant.Usage{
		Input: max(0, u.Input) - read - write, CacheRead: read, CacheWrite: write,
		Write1h: max(0, min(u.Details.Lives.Long, write)), Output: max(0, u.Output),
	}
}

// ReadAnswer implements dialect.Answers.
func (Responses) ReadAnswer(room func(n int) bool) dialect.AnswerReader {
	return &response{keep: room, spoken: -1}
}

// Event implements dialect.AnswerReader.
func (a *response) Event(name, data []byte) {
	kind := dialect.KindOfEvent(name, data)
	switch {
	case a.end != nil:
	case strings.HasSuffix(kind, ".delta"):
		a.delta(data)
	case kind == "response.output_item.done":
		a.done(data)
	case kind == "response.completed", kind == "response.incomplete", kind == "response.failed":
		a.failed = kind == "response.failed"
		a.finish(data)
	case kind == "error":
		a.failed = true
	}
}

// Ended implements dialect.AnswerReader.
func (a *response) Ended() bool { return a.end != nil }

// finish takes the end of a stream. Its output is wanted only where no item has come whole before.
func (a *response) finish(data []byte) {
	var e struct {
		Response responseEnd `json:"response"`
	}
	if json.Unmarshal(data, &e, lenient) != nil {
		return
	}
	a.end = &e.Response
	if at := jsonspan.Member(data, 0, "response"); a.bytes == 0 && !at.IsZero() && data[at.Start] == '{' {
		output := outputOf(data, at.Start)
		if a.came = max(a.came, len(output)-len("[]")); a.room(len(output)) {
			a.output = bytes.Clone(output)
		}
	}
}

// outputOf returns the output of a response object in place, nil when there is none.
func outputOf(src []byte, object int) []byte {
	if at := jsonspan.Member(src, object, "output"); !at.IsZero() && src[at.Start] == '[' {
		return at.Of(src)
	}
	return nil
}

// maxItems bounds the output of one answer, whatever index a stream names.
const maxItems = 10_000

// at returns the item with an index, nil when there can be none.
func (a *response) at(index int) *item {
	if n := len(a.items); n > 0 && a.items[n-1].index == index {
		return &a.items[n-1]
	}
	for i := range a.items {
		if a.items[i].index == index {
			return &a.items[i]
		}
	}
	if len(a.items) >= maxItems {
		return nil
	}
	a.items = append(a.items, item{index: index})
	return &a.items[len(a.items)-1]
}

func (a *response) delta(data []byte) {
	var e struct {
		Index int    `json:"output_index"`
		Delta string `json:"delta"`
	}
	if json.Unmarshal(data, &e, lenient) != nil {
		return
	}
	a.came, a.spoken = a.came+len(e.Delta), e.Index
	if !a.room(len(e.Delta)) {
		return
	}
	if it := a.at(e.Index); it != nil {
		it.text = append(it.text, e.Delta...)
	}
}

func (a *response) done(data []byte) {
	var e struct {
		Index int            `json:"output_index"`
		Item  jsontext.Value `json:"item"`
	}
	if json.Unmarshal(data, &e, lenient) != nil || e.Item.Kind() != '{' {
		return
	}
	if e.Index != a.spoken {
		a.came += len(e.Item) // it came in one piece
	}
	if a.bytes += len(e.Item); !a.room(len(e.Item)) {
		return
	}
	if it := a.at(e.Index); it != nil {
		it.whole, it.text = e.Item, nil
	}
}

// room reports whether n bytes more of content may be kept, and lets go of what there is when they may not.
func (a *response) room(n int) bool {
	if a.lost || !a.keep(n) {
		a.lost, a.items = true, nil
		return false
	}
	return true
}

// Object implements dialect.AnswerReader.
func (a *response) Object(src []byte) {
	var end responseEnd
	if json.Unmarshal(src, &end, lenient) != nil {
		a.said = src
		return
	}
	switch end.Status {
	case "", "completed", "incomplete", "failed":
		a.end, a.output, a.failed = &end, outputOf(src, 0), end.Status == "failed"
	default:
		a.said = src
	}
}

// Answer implements dialect.AnswerReader.
func (a *response) Answer() dialect.Answer {
	if a.end == nil || a.failed {
		return a.broken()
	}
	return dialect.Answer{
		Usage: a.end.Usage.tokens(), Stop: cmp.Or(a.end.Detail.Reason, a.end.Status, "completed"), Content: a.content(),
		ID: a.end.ID, Came: a.came,
	}
}

// broken returns an answer that ended before its end, or failed.
func (a *response) broken() dialect.Answer {
	out := dialect.Answer{Broken: true, Partial: a.said, Came: a.came}
	for i := range a.items {
		out.Partial = append(append(out.Partial, a.items[i].whole...), a.items[i].text...)
	}
	if a.end != nil {
		out.Usage = a.end.Usage.tokens()
		if len(a.output) > len("[]") {
			out.Partial = a.output
		}
	}
	out.Refused = a.failed && a.came == 0 && len(out.Partial) == 0 && out.Usage == decant.Usage{}
	return out
}

// content returns the items as a JSON list. Where a stream has told them one by one, its end need not have them.
func (a *response) content() []byte {
	if a.lost {
		return nil
	}
	out := append(make([]byte, 0, a.bytes+len(a.items)+2), '[')
	for i := range a.items {
		if w := a.items[i].whole; w != nil {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, w...)
		}
	}
	if len(out) == 1 && a.output != nil {
		return a.output
	}
	return append(out, ']')
}
