package dialecttest

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/sse"
)

// An event is one event of a stream.
type event struct{ name, data string }

// eventsOf takes a stream apart.
func eventsOf(stream []byte) (out []event) {
	r := sse.Reader{Handle: func(name, data []byte) { out = append(out, event{string(name), string(data)}) }}
	r.Write(stream) // never fails
	return out
}

func always(int) bool { return true }
func never(int) bool  { return false }

// streamed reads events.
func streamed(d dialect.Dialect, room func(int) bool, events []event) dialect.Answer {
	r := d.ReadAnswer(room)
	for _, e := range events {
		name, data := []byte(e.name), []byte(e.data)
		r.Event(name, data)
		clear(name) // they are good during the call only
		clear(data)
	}
	return r.Answer()
}

// whole reads one object.
func whole(d dialect.Dialect, body []byte) dialect.Answer {
	r := d.ReadAnswer(always)
	r.Object(body)
	return r.Answer()
}

// runAnswer checks how an answer is read.
func runAnswer(t *testing.T, d dialect.Dialect, a Answer) {
	events := eventsOf(a.Stream)
	if len(events) < 3 {
		t.Fatalf("the stream has %d events, so that it tests nothing", len(events))
	}
	stream, object := streamed(d, always, events), whole(d, a.Object)
	if stream.Broken || object.Broken {
		t.Fatalf("the stream counts as broken: %t, the object: %t", stream.Broken, object.Broken)
	}
	if stream.Usage != object.Usage || stream.Stop != object.Stop || stream.Usage.Output == 0 {
		t.Errorf("the stream says %+v, %q, the object %+v, %q", stream.Usage, stream.Stop, object.Usage, object.Stop)
	}
	if s, o := canonical(t, stream.Content), canonical(t, object.Content); s != o {
		t.Errorf("the stream says\n%s, the object\n%s", s, o)
	}
	goesBack(t, d, stream.Content)
	t.Run("UnknownEvents", func(t *testing.T) {
		var more []event
		for _, e := range events {
			more = append(more, event{"something_new", `{"type":"something_new"}`}, event{"message", `{"type":"another"}`}, e)
		}
		if got := streamed(d, always, more); got.Broken || got.Usage != stream.Usage ||
			string(got.Content) != string(stream.Content) {
			t.Error("events that nobody knows change what is read")
		}
	})
	t.Run("EventsWithoutNames", func(t *testing.T) {
		var bare []event
		for _, e := range events {
			bare = append(bare, event{"message", e.data})
		}
		if got := streamed(d, always, bare); got.Broken || got.Usage != stream.Usage || string(got.Content) != string(stream.Content) {
			t.Errorf("where a server names no events %+v is read, %s", got.Usage, got.Content)
		}
	})
	t.Run("NoRoom", func(t *testing.T) {
		if got := streamed(d, never, events); got.Broken || got.Content != nil || got.Usage != stream.Usage ||
			got.Stop != stream.Stop || got.Came == 0 || got.Came != stream.Came {
			t.Errorf("without room %+v is read, want everything but the content", got)
		}
	})
	t.Run("Broken", func(t *testing.T) { broken(t, d, events, a.Object) })
}

// broken checks that an answer which ends before its end counts as none.
func broken(t *testing.T, d dialect.Dialect, events []event, object []byte) {
	said := false
	for n := range events {
		got := streamed(d, always, events[:n])
		if !got.Broken {
			// what comes behind the end says nothing more
			if rest := streamed(d, always, events); string(rest.Content) != string(got.Content) || rest.Usage != got.Usage {
				t.Errorf("after %d of %d events the answer counts as whole", n, len(events))
			}
			break
		}
		if got.Content != nil {
			t.Errorf("after %d of %d events a broken answer has content", n, len(events))
		}
		if (got.Came > 0) != (len(got.Partial) > 0) {
			t.Errorf("after %d of %d events %d bytes have come, and %d were kept", n, len(events), got.Came, len(got.Partial))
		}
		said = said || got.Came > 0
	}
	if !said {
		t.Error("nothing is said in an answer that breaks off")
	}
	for _, n := range []int{0, 1, len(object) / 2, len(object) - 1} {
		if got := whole(d, object[:n]); !got.Broken || got.Content != nil {
			t.Errorf("%d of %d bytes of an answer count as all of it", n, len(object))
		}
	}
	if got := whole(d, nil); !got.Broken {
		t.Error("an answer that was not kept counts as read")
	}
}

// goesBack checks that an answer is what a client sends back.
func goesBack(t *testing.T, d dialect.Dialect, content []byte) {
	t.Helper()
	doc, err := d.Parse(d.Assemble(&dialect.Parts{Answer: content}))
	if err != nil {
		t.Fatalf("the content is no message: %v", err)
	}
	ms := doc.Conversation.Messages
	if len(ms) != 1 || ms[0].Role != decant.RoleAssistant || len(ms[0].Blocks) == 0 {
		t.Errorf("the content is %d messages, want one of the assistant", len(ms))
	}
}

// canonical returns a JSON value as text that is the same however it is written.
func canonical(t *testing.T, v []byte) string {
	t.Helper()
	out := jsontext.Value(v).Clone()
	if err := out.Canonicalize(); err != nil {
		t.Fatalf("%.200s: %v", v, err)
	}
	return string(out)
}
