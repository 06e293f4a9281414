package main

import "testing"

func TestMemoryLimitLeavesRoomAboveWhatIsInUse(t *testing.T) {
	for _, live := range []int64{0, 10 << 20, 200 << 20, 1 << 30, 8 << 30} {
		if got := memoryLimit(live); got < 320<<20 || got < live*5/4 || got > live*2+320<<20 {
			t.Errorf("limit %d MB with %d MB in use", got>>20, live>>20)
		}
	}
}
