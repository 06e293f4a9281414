package store_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

func TestIDsRiseWhateverTheClockDoes(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	g := store.NewIDs(func() time.Time { return now }, rand.Reader)
	var ids []string
	for i := range 10_000 {
		switch {
		case i == 5000:
			now = now.Add(-time.Hour) // set back
		case i%1000 == 0:
			now = now.Add(time.Millisecond)
		}
		id, err := g.Next()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Error("ids do not rise strictly")
	}
}

func TestIDsAreUUIDsOfVersion7(t *testing.T) {
	now := time.UnixMilli(0x0123456789ab)
	g := store.NewIDs(func() time.Time { return now }, bytes.NewReader(bytes.Repeat([]byte{0xff}, 8)))
	id, err := g.Next()
	if want := "01234567-89ab-7000-bfff-ffffffffffff"; id != want || err != nil {
		t.Errorf("got %s, %v; want %s", id, err, want)
	}
	if _, err := g.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("without random bytes: got %v, want io.EOF", err)
	}
}

func TestIDsAreUniqueAcrossGoroutines(t *testing.T) {
	g := store.NewIDs(time.Now, rand.Reader)
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				id, err := g.Next()
				mu.Lock()
				if err != nil || seen[id] {
					t.Errorf("id %s: %v, seen %t", id, err, seen[id])
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestParseHandle(t *testing.T) {
	for _, tt := range []struct {
		handle     decant.Handle
		digits     string
		checkpoint int
	}{
		{"d:1f2e3d4c", "1f2e3d4c", 0},
		{"d:1F2E3D", "1f2e3d", 0},
		{"d:1f2e3d4", "1f2e3d4", 0},
		{decant.HandleOf(decant.HashText("x")), decant.HashText("x").Short(), 0},
		{"c:3", "", 3},
	} {
		digits, checkpoint, err := store.ParseHandle(tt.handle)
		if digits != tt.digits || checkpoint != tt.checkpoint || err != nil {
			t.Errorf("%s: %q, %d, %v; want %q, %d", tt.handle, digits, checkpoint, err, tt.digits, tt.checkpoint)
		}
	}
}

func TestHashRange(t *testing.T) {
	h := decant.HashText("x")
	for n := 6; n <= 32; n++ {
		low, high := store.HashRange(h.String()[:n])
		if bytes.Compare(low[:], h[:]) > 0 || bytes.Compare(h[:], high[:]) > 0 || !strings.HasPrefix(low.String(), h.String()[:n]) {
			t.Errorf("%d digits: %s is not in [%s, %s]", n, h, low, high)
		}
	}
}

func TestInherit(t *testing.T) {
	entry := func(message, block int) store.Entry {
		ref := decant.Ref{Message: message, Block: block}
		return store.Entry{Ref: ref, Text: decant.HashText(string(rune(message)) + string(rune(block)))}
	}
	chain := []store.Entry{entry(1, 0), entry(2, 0), entry(2, 1), entry(3, 0)}
	edit := func(id string, e store.Entry) decant.Decision {
		return decant.Decision{ID: id, Kind: decant.Stub, Target: decant.Target{Ref: e.Ref, Hash: e.Text}}
	}
	other := edit("other content", chain[0])
	other.Target.Hash = decant.HashText("other")
	ds := []decant.Decision{
		edit("on m1", chain[0]), edit("on m2 block 1", chain[2]), edit("on m3", chain[3]), other,
		{ID: "covers m1", Kind: decant.Cover, Checkpoint: &decant.Checkpoint{From: 1, To: 1}},
		{ID: "covers m1 m2", Kind: decant.Cover, Checkpoint: &decant.Checkpoint{From: 1, To: 2}},
		{ID: "undo on m1", Kind: decant.Revoke, Revokes: "on m1"},
		{ID: "undo on m3", Kind: decant.Revoke, Revokes: "on m3"},
		{ID: "hold", Kind: decant.Hold},
		{ID: "nowhere", Kind: decant.Insert},
	}
	for position, want := range []string{
		"hold",
		"on m1, covers m1, undo on m1, hold",
		"on m1, covers m1, undo on m1, hold",
		"on m1, on m2 block 1, covers m1, covers m1 m2, undo on m1, hold",
		"on m1, on m2 block 1, on m3, covers m1, covers m1 m2, undo on m1, undo on m3, hold",
	} {
		var got []string
		for _, d := range store.Inherit(ds, chain, position) {
			got = append(got, d.ID)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("a fork at position %d inherits %q, want %q", position, strings.Join(got, ", "), want)
		}
	}
}
