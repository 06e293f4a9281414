package book

import "testing"

func TestExtendedPrompts(t *testing.T) {
	for _, tt := range []struct {
		prompt, was, is int
		share           float64
		want            int
	}{
		{200_000, 200_000, 210_000, 1.4, 214_000},
		{200_000, 200_000, 20_000, 1.4, 20_000}, // the client went back
		{100_000, 200_000, 20_000, 4, 10_000},
		{100_000, 200_000, 0, 1, 1},
	} {
		if got := extended(tt.prompt, tt.was, tt.is, tt.share); got != tt.want {
			t.Errorf("%d, estimated %d and then %d: %d tokens, want %d", tt.prompt, tt.was, tt.is, got, tt.want)
		}
	}
}
