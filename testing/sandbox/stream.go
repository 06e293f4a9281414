package sandbox

import (
	"strconv"

	"github.com/decantdev/decant/internal/jsonspan"
)

// A frame is one server-sent event of an answer.
type frame struct {
	name string
	data []byte
}

// frames returns the answer as the events of a stream (docs/reference/anthropic.md, "The stream"). Deltas carry about chunk bytes each.
func (r *reply) frames(chunk int) []frame {
	var fs []frame
	add := func(name string, data []byte) { fs = append(fs, frame{name, append(data, '}')}) }

	begun := *r
	begun.passes = nil
	start := r.head([]byte(`{"type":"message_start","message":`))
	start = append(start, `,"content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null`...)
	start = append(append(start, r.changes...), `,"usage":`...)
	add("message_start", append(begun.appendUsage(start, min(r.usage.Output, 1)), '}'))
	add("ping", []byte(`{"type":"ping"`))
	for i, o := range r.blocks {
		at := append(strconv.AppendInt([]byte(`,"index":`), int64(i), 10), ',')
		open := append(append([]byte(`{"type":"content_block_start"`), at...), `"content_block":`...)
		add("content_block_start", o.appendEmpty(open))
		for _, d := range o.deltas(chunk) {
			delta := append(append([]byte(`{"type":"content_block_delta"`), at...), `"delta":`...)
			add("content_block_delta", append(delta, d...))
		}
		stop := append([]byte(`{"type":"content_block_stop"`), at[:len(at)-1]...)
		add("content_block_stop", stop)
	}
	end := r.appendStop([]byte(`{"type":"message_delta","delta":{`))
	if r.stop == "refusal" {
		end = r.appendDetails(end)
	}
	end = append(r.appendUsage(append(end, `},"usage":`...), r.usage.Output), r.changes...)
	add("message_delta", append(end, r.edits...))
	add("message_stop", []byte(`{"type":"message_stop"`))
	return fs
}

// appendEmpty appends the block as it stands in content_block_start.
func (o *out) appendEmpty(b []byte) []byte {
	switch o.kind {
	case "thinking":
		return append(b, `{"type":"thinking","thinking":"","signature":""}`...)
	case "redacted_thinking":
		return append(b, o.json...)
	case compactionKind:
		if o.signature != "" {
			return append(b, o.json...)
		}
		return append(b, `{"type":"compaction","content":null}`...)
	case "tool_use":
		b = jsonspan.AppendQuote(append(b, `{"type":"tool_use","id":`...), o.id)
		b = jsonspan.AppendQuote(append(b, `,"name":`...), o.name)
		return append(b, `,"input":{}}`...)
	}
	return append(b, `{"type":"text","text":""}`...)
}

// deltas returns the delta objects that complete the block.
func (o *out) deltas(chunk int) [][]byte {
	switch o.kind {
	case "redacted_thinking":
		return nil
	case compactionKind:
		if o.signature != "" {
			return nil
		}
		return [][]byte{append(append([]byte(`{"type":"compaction_delta","content":`), quoteOrNull(o.text)...), '}')}
	case "thinking":
		ds := pieceDeltas(`{"type":"thinking_delta","thinking":`, o.text, chunk)
		d := jsonspan.AppendQuote([]byte(`{"type":"signature_delta","signature":`), o.signature)
		return append(ds, append(d, '}'))
	case "tool_use":
		input := string(o.input)
		if input == "{}" {
			input = ""
		}
		// Like the API, begin with an empty piece.
		ds := [][]byte{[]byte(`{"type":"input_json_delta","partial_json":""}`)}
		return append(ds, pieceDeltas(`{"type":"input_json_delta","partial_json":`, input, chunk)...)
	}
	return pieceDeltas(`{"type":"text_delta","text":`, o.text, chunk)
}

// pieceDeltas cuts text into deltas of about chunk bytes.
func pieceDeltas(head, text string, chunk int) (out [][]byte) {
	for _, d := range pieces(text, chunk) {
		out = append(out, append(jsonspan.AppendQuote([]byte(head), d), '}'))
	}
	return out
}
