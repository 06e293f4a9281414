package sse_test

import (
	"bytes"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/sse"
	"github.com/google/go-cmp/cmp"
)

type event struct{ Name, Data string }

// read feeds the pieces to a new Reader and returns the events.
func read(pieces ...string) []event { return readMax(0, pieces...) }

func readMax(limit int, pieces ...string) []event {
	var out []event
	r := &sse.Reader{Max: limit, Handle: func(name, data []byte) {
		out = append(out, event{string(name), string(data)})
	}}
	for _, p := range pieces {
		io.WriteString(r, p)
	}
	return out
}

func TestReader(t *testing.T) {
	tests := []struct {
		name   string
		stream string
		want   []event
	}{
		{"NameAndData", "event: ping\ndata: {}\n\n", []event{{"ping", "{}"}}},
		{"NoNameIsMessage", "data: x\n\n", []event{{"message", "x"}}},
		{"NameDoesNotCarryOver", "event: a\ndata: 1\n\ndata: 2\n\n", []event{{"a", "1"}, {"message", "2"}}},
		{"DataLinesAreJoined", "data: a\ndata:\ndata: b\n\n", []event{{"message", "a\n\nb"}}},
		{"OneSpaceIsDropped", "data:  two\ndata:none\n\n", []event{{"message", " two\nnone"}}},
		{"CarriageReturnLineFeed", "event: a\r\ndata: 1\r\n\r\nevent: b\r\ndata: 2\r\n\r\n", []event{{"a", "1"}, {"b", "2"}}},
		{"CarriageReturnOnly", "event: a\rdata: 1\r\rdata: 2\r\r", []event{{"a", "1"}, {"message", "2"}}},
		{"CommentsAreSkipped", ": hello\ndata: 1\n:\n\n: bye\n\n", []event{{"message", "1"}}},
		{"UnknownFieldsAreSkipped", "id: 7\nretry: 10\nfoo: bar\nbaz\ndata: 1\n\n", []event{{"message", "1"}}},
		{"NoDataIsNoEvent", "event: ping\n\ndata: 1\n\n", []event{{"message", "1"}}},
		{"EmptyDataIsAnEvent", "event: ping\ndata\n\n", []event{{"ping", ""}}},
		{"ByteOrderMark", "\xef\xbb\xbfdata: 1\n\n", []event{{"message", "1"}}},
		{"UnfinishedIsDropped", "data: 1\n\ndata: 2\n", []event{{"message", "1"}}},
		{"ColonsInData", "data: a: b\n\n", []event{{"message", "a: b"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, read(tt.stream)); d != "" {
				t.Errorf("in one piece (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.want, read(strings.Split(tt.stream, "")...)); d != "" {
				t.Errorf("byte by byte (-want +got):\n%s", d)
			}
		})
	}
}

func TestReaderSkipsEventsOverMax(t *testing.T) {
	for _, size := range []int{1, 7, 1 << 10} {
		var got []string
		r := &sse.Reader{Max: 10, Handle: func(_, data []byte) { got = append(got, string(data)) }}
		stream := "data: 0123456789\n\ndata: " + strings.Repeat("x", 200) + "\n\ndata: 012345\ndata: 67890\n\ndata: ok\n\n"
		for p := range pieces(stream, size) {
			r.Write([]byte(p))
		}
		if d := cmp.Diff([]string{"0123456789", "ok"}, got); d != "" {
			t.Errorf("pieces of %d (-want +got):\n%s", size, d)
		}
		if r.Skipped != 2 {
			t.Errorf("pieces of %d: skipped %d events, want 2", size, r.Skipped)
		}
	}
}

// pieces cuts s into pieces of n bytes.
func pieces(s string, n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for len(s) > 0 {
			k := min(n, len(s))
			if !yield(s[:k]) {
				return
			}
			s = s[k:]
		}
	}
}

func TestAppendThenRead(t *testing.T) {
	for _, data := range []string{"", "{}", "a\nb", "a\r\nb\rc\n", "\n"} {
		frame := sse.Append(nil, "e", []byte(data))
		want := []event{{"e", strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(data)}}
		if d := cmp.Diff(want, read(string(frame))); d != "" {
			t.Errorf("%q (-want +got):\n%s", data, d)
		}
	}
}

func TestWriterFlushesEveryEvent(t *testing.T) {
	rec := httptest.NewRecorder()
	w := sse.NewWriter(rec)
	if err := w.Event("ping", []byte(`{"type":"ping"}`)); err != nil {
		t.Fatal(err)
	}
	if got, want := rec.Body.String(), "event: ping\ndata: {\"type\":\"ping\"}\n\n"; got != want || !rec.Flushed {
		t.Errorf("got %q, flushed %v, want %q flushed", got, rec.Flushed, want)
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	frame := sse.Append(nil, "content_block_delta", []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}`))
	n := 0
	r := &sse.Reader{Handle: func(_, data []byte) { n += len(data) }}
	feed := func() {
		r.Write(frame[:30])
		r.Write(frame[30:])
	}
	feed()
	if allocs := testing.AllocsPerRun(100, feed); allocs != 0 {
		t.Errorf("%v allocations per event, want none", allocs)
	}
}

// FuzzChunking checks that the events do not depend on how the stream was cut.
func FuzzChunking(f *testing.F) {
	f.Add([]byte("event: a\r\ndata: 1\r\n\r\n: c\ndata: 2\ndata\n\n"), uint64(0x5a5a))
	f.Add([]byte("\xef\xbb\xbfdata: 1\r\rdata: 2\n\n"), uint64(3))
	f.Fuzz(func(t *testing.T, stream []byte, cuts uint64) {
		var parts []string
		rest := string(stream)
		for len(rest) > 0 {
			n := min(int(cuts%7)+1, len(rest))
			parts, rest = append(parts, rest[:n]), rest[n:]
			cuts = cuts>>3 | cuts<<61
		}
		for _, limit := range []int{0, 9} {
			if d := cmp.Diff(readMax(limit, string(stream)), readMax(limit, parts...)); d != "" {
				t.Errorf("limit %d, cut differently (-whole +parts):\n%s", limit, d)
			}
		}
	})
}

// FuzzAppend checks that any data comes back, its line ends as line feeds.
func FuzzAppend(f *testing.F) {
	f.Add("ping", []byte("{}"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if strings.ContainsAny(name, "\r\n") || name == "" || name[0] == ' ' {
			return
		}
		got := read(string(sse.Append(nil, name, data)))
		want := bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
		if d := cmp.Diff([]event{{name, string(want)}}, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	var stream []byte
	for range 1000 {
		stream = sse.Append(stream, "content_block_delta", []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a few words of text"}}`))
	}
	r := &sse.Reader{Handle: func(_, _ []byte) {}}
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		for p := stream; len(p) > 0; {
			n := min(4096, len(p))
			r.Write(p[:n])
			p = p[n:]
		}
	}
}
