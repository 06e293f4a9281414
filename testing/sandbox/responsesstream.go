package sandbox

import "slices"

// Events are what a stream of the Responses API brings: named frames with rising numbers.
type responseEvents struct {
	frames []frame
	chunk  int
	hides  bool // deltas carry some characters that hide how long they are
}

func (e *responseEvents) add(name string, members ...any) {
	o := append(object{"type", name}, members...)
	e.frames = append(e.frames, frame{name, marshal(append(o, "sequence_number", len(e.frames)))})
}

// deltas brings a text in pieces, and then whole under a name.
func (e *responseEvents) deltas(event, member, text string, at ...any) {
	for i, d := range pieces(text, e.chunk) {
		o := append(slices.Clone(at), "delta", d)
		if e.hides {
			o = append(o, "obfuscation", "xxxxxxxx"[:1+i%8])
		}
		e.add("response."+event+".delta", o...)
	}
	e.add("response."+event+".done", append(slices.Clone(at), member, text)...)
}

// frames returns the answer as the events of a stream.
func (r *response) frames(chunk int) []frame {
	e := r.opening(chunk)
	for i := range r.items {
		e.item(i, &r.items[i])
	}
	e.add("response."+r.status, "response", r.object())
	return e.frames
}

// opening returns the events before the first item.
func (r *response) opening(chunk int) *responseEvents {
	e := &responseEvents{chunk: chunk, hides: true}
	if n := r.q.body.get("stream_options").get("include_obfuscation"); n != nil && n.kind == 'f' {
		e.hides = false
	}
	begun := *r
	begun.status, begun.items, begun.why, begun.err = "in_progress", nil, "", nil
	e.add("response.created", "response", begun.object())
	e.add("response.in_progress", "response", begun.object())
	return e
}

// failed returns the events of a request that is refused when its answer has begun.
func (x *exchange) failed(q *input, err *apiError) []frame {
	r := &response{q: q, id: x.itemID("resp", 0), created: int(x.entry.Time.Unix()), status: "failed", err: err}
	x.entry.Error = err.message
	e := r.opening(x.s.opts.Chunk)
	e.add("response.failed", "response", r.object())
	return e.frames
}

// with returns an object in which members have other values.
func (o object) with(members ...any) object {
	o = slices.Clone(o)
	for i := 0; i < len(members); i += 2 {
		for k := 0; k < len(o); k += 2 {
			if o[k] == members[i] {
				o[k+1] = members[i+1]
			}
		}
	}
	return o
}

// of returns the value of a member, nil when there is none.
func (o object) of(name string) any {
	for i := 0; i < len(o); i += 2 {
		if o[i] == name {
			return o[i+1]
		}
	}
	return nil
}

// item brings one item.
func (e *responseEvents) item(i int, it *outItem) {
	id, kind, begun := it.whole.of("id"), it.whole.of("type"), it.whole.with("status", "in_progress")
	at := []any{"item_id", id, "output_index", i}
	add := func(begun object) { e.add("response.output_item.added", "output_index", i, "item", begun) }
	switch kind {
	case "message":
		add(begun.with("content", list{}))
		e.message(it, append(at, "content_index", 0))
	case "reasoning":
		begun = begun.with("summary", list{})
		if sealed, ok := it.whole.of("encrypted_content").(string); ok {
			begun = begun.with("encrypted_content", sealed[:len(sealed)/2]) // all of it comes at the end
		}
		add(begun)
		if it.streams != "" {
			at = append(at, "summary_index", 0)
			part := object{"type", "summary_text", "text", it.streams}
			e.add("response.reasoning_summary_part.added", append(slices.Clone(at), "part", part.with("text", ""))...)
			e.deltas("reasoning_summary_text", "text", it.streams, at...)
			e.add("response.reasoning_summary_part.done", append(slices.Clone(at), "part", part)...)
		}
	case "function_call":
		add(begun.with("arguments", ""))
		e.deltas("function_call_arguments", "arguments", it.streams, append(at, "name", it.whole.of("name"))...)
	case "custom_tool_call":
		add(begun.with("input", ""))
		e.deltas("custom_tool_call_input", "input", it.streams, at...)
	case "compaction":
		add(begun)
		e.add("response.compaction.compacting", at...)
	default:
		add(begun)
	}
	e.add("response.output_item.done", "output_index", i, "item", it.whole)
}

// message brings the one part of a message.
func (e *responseEvents) message(it *outItem, at []any) {
	part := it.whole.of("content").(list)[0].(object)
	event, member, more := "output_text", "text", []any{"logprobs", list{}}
	if part.of("type") == "refusal" {
		event, member, more = "refusal", "refusal", nil
	}
	e.add("response.content_part.added", append(slices.Clone(at), "part", part.with(member, ""))...)
	e.deltas(event, member, it.streams, append(slices.Clone(at), more...)...)
	e.add("response.content_part.done", append(slices.Clone(at), "part", part)...)
}
