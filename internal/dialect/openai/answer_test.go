package openai

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/sse"
)

// readStream reads an answer that streams, one event a line.
func readStream(d dialect.Dialect, room func(int) bool, events ...string) dialect.Answer {
	a := d.ReadAnswer(room)
	r := sse.Reader{Handle: a.Event}
	for _, e := range events {
		fmt.Fprintf(&r, "data: %s\n\n", e)
	}
	return a.Answer()
}

func always(int) bool { return true }

// Where a client asks for several choices, all of them are said.
func TestAllChoicesAreCounted(t *testing.T) {
	const call = `"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]`
	stream := readStream(Chat{}, always, `{"choices":[{"index":0,"delta":{"content":"first"}},{"index":1,"delta":{"content":"second"}}]}`,
		`{"choices":[{"index":2,"delta":{`+call+`}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`)
	a := Chat{}.ReadAnswer(always)
	a.Object([]byte(`{"choices":[{"message":{"content":"first"}},{"message":{"content":"second"}},{"message":{` + call + `}}]}`))
	for name, got := range map[string]dialect.Answer{"stream": stream, "object": a.Answer()} {
		if want := len("first" + "second" + "c" + "f" + "{}"); got.Broken || got.Came != want || !strings.Contains(string(got.Content), "first") {
			t.Errorf("%s: %+v with %s, want %d bytes", name, got, got.Content, want)
		}
	}
}

// An error in place of an answer is told from an answer that broke off.
func TestErrorsInPlaceOfAnswers(t *testing.T) {
	const (
		created = `{"type":"response.created","response":{"status":"in_progress","output":[]}}`
		delta   = `{"type":"response.output_text.delta","output_index":0,"delta":"Hi."}`
		failed  = `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error"},"output":[],"usage":%s}}`
		used    = `{"input_tokens":100,"output_tokens":7}`
		chat    = `{"choices":[{"index":0,"delta":{"content":"Hi."}}]}`
		wrong   = `{"error":{"message":"overloaded","code":503}}`
	)
	for _, c := range []struct {
		d       dialect.Dialect
		events  []string
		refused bool
		prompt  int
	}{
		{Responses{}, []string{created, fmt.Sprintf(failed, "null")}, true, 0},
		{Responses{}, []string{created, `{"type":"error","code":"server_error","message":"x"}`}, true, 0},
		{Responses{}, []string{created, fmt.Sprintf(failed, used)}, false, 100},
		{Responses{}, []string{created, delta, fmt.Sprintf(failed, "null")}, false, 0},
		{Responses{}, []string{created, delta, fmt.Sprintf(failed, used)}, false, 100},
		{Responses{}, []string{created}, false, 0},
		{Chat{}, []string{wrong}, true, 0},
		{Chat{}, []string{chat, wrong}, false, 0},
		{Chat{}, []string{chat}, false, 0},
		{Chat{}, []string{`{"choices":[],"error":null}`}, false, 0},
	} {
		got := readStream(c.d, always, c.events...)
		if !got.Broken || got.Refused != c.refused || got.Usage.Prompt() != c.prompt || got.Content != nil {
			t.Errorf("%s: %+v, want that it is refused: %t, and a prompt of %d", c.events, got, c.refused, c.prompt)
		}
	}
	for _, c := range []struct {
		d    dialect.Dialect
		body string
	}{{Responses{}, `{"status":"failed","error":{"code":"x"},"output":[],"usage":null}`}, {Chat{}, wrong}} {
		a := c.d.ReadAnswer(always)
		if a.Object([]byte(c.body)); !a.Answer().Refused {
			t.Errorf("%s counts as an answer that broke off", c.body)
		}
	}
}

// The arguments of a call come in many pieces, and each is copied a few times only.
func TestPiecesAreJoinedOnce(t *testing.T) {
	a := Chat{}.ReadAnswer(always)
	piece := []byte(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"0123456789"}}]}}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const pieces = 20_000
	for range pieces {
		a.Event([]byte("message"), piece)
	}
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) / pieces; took > 20_000 {
		t.Errorf("a piece of 10 bytes takes %d bytes of memory", took)
	}
	if got := a.Answer(); got.Came != pieces*10 {
		t.Errorf("%d bytes came", got.Came)
	}
}

// The output at the end of a stream is kept where its items have not come before, and then counts.
func TestOutputAtTheEndIsCounted(t *testing.T) {
	item := `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + strings.Repeat("x", 1<<16) + `"}]}`
	end := `{"type":"response.completed","response":{"status":"completed","output":[` + item + `]}}`
	done := `{"type":"response.output_item.done","output_index":0,"item":` + item + `}`
	for name, events := range map[string][]string{"end": {end}, "items": {done, end}} {
		kept := 0
		got := readStream(Responses{}, func(n int) bool { kept += n; return true }, events...)
		if string(got.Content) != "["+item+"]" || kept < len(item) || kept > len(item)+2 || got.Came < len(item) {
			t.Errorf("%s: %d bytes of %d are counted, %d came, %d are kept", name, kept, len(item), got.Came, len(got.Content))
		}
		got = readStream(Responses{}, func(n int) bool { return false }, events...)
		if got.Broken || got.Content != nil || got.Came < len(item) {
			t.Errorf("%s: without room %d bytes are kept, and %d came", name, len(got.Content), got.Came)
		}
	}
}
