package engine_test

import (
	"testing"

	"github.com/decantdev/decant/engine"
)

// A client that marks nothing would have had nothing kept: what is booked as its own request is neither read nor written, whatever
// comes of the markers that are added, and is the same prompt.
func TestSpendsWithoutAddedMarkers(t *testing.T) {
	usage, booked := played(t, `"system":"`+longWords+`",`, "", engine.Adds{Markers: true}, 6, nil)
	if usage.CacheRead == 0 || len(booked) != 6 {
		t.Fatalf("%d requests are booked, of which so much was read: %+v", len(booked), usage)
	}
	for i, s := range booked {
		if w := s.Without; w.CacheRead+w.CacheWrite+w.Write1h != 0 || w.Prompt() != s.Usage.Prompt() || w.Output != s.Usage.Output {
			t.Errorf("request %d was billed as %+v, without the markers as %+v", i+1, s.Usage, w)
		}
	}
}
