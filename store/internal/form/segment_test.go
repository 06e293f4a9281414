package form_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// segmentEntries are entries at the limits of what a segment has to hold.
var segmentEntries = []store.Entry{
	{Chain: decant.HashText("c"), Raw: decant.HashText("r"), Text: decant.HashText("t"), Role: decant.RoleUser, Kind: decant.KindText,
		Author: decant.AuthorUser, CallID: "toolu_1", Name: "Bash", Ref: decant.Ref{Message: 12, Block: 3}, Tokens: 456},
	{Chain: decant.HashText("c"), Raw: decant.HashText("r")},
	{Chain: decant.HashText("d"), Raw: decant.HashText("r"), CallID: "\x00\xff", Name: string(make([]byte, 300)),
		Ref: decant.Ref{Message: math.MaxInt64, Block: math.MinInt64}, Tokens: -1},
}

func TestSegmentHoldsEntries(t *testing.T) {
	got, err := form.AppendSegment(nil, encode(segmentEntries))
	if err != nil {
		t.Fatal(err)
	}
	want := append([]store.Entry{}, segmentEntries...)
	for i := range want {
		want[i].Position = i + 1
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestSegmentThatIsCutIsAnError(t *testing.T) {
	data := encode(segmentEntries[:1])
	for n := range data {
		_, err := form.AppendSegment(nil, data[:n])
		if n != 1 && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrNewer) {
			t.Errorf("%d bytes of %d: got %v, want ErrCorrupt", n, len(data), err)
		}
	}
}

// FuzzSegment guards that no data crashes the decoder, and that what it takes for entries is written as
// entries that say the same.
func FuzzSegment(f *testing.F) {
	f.Add(encode(segmentEntries))
	f.Add(encode(nil))
	f.Add([]byte{1, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := form.AppendSegment(nil, data)
		if err != nil {
			return
		}
		again, err := form.AppendSegment(nil, encode(entries))
		if diff := cmp.Diff(entries, again); diff != "" || err != nil {
			t.Errorf("written again (-first +again), %v:\n%s", err, diff)
		}
	})
}

// encode returns the data of a segment with the entries.
func encode(entries []store.Entry) []byte {
	data := form.NewSegment(len(entries))
	for i := range entries {
		data = form.AppendEntry(data, &entries[i])
	}
	return data
}
