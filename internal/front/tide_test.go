package front

import (
	"runtime/debug"
	"testing"
)

func TestMemoryLimitLeavesRoomAboveWhatIsInUse(t *testing.T) {
	for _, live := range []int64{0, 10 << 20, 200 << 20, 1 << 30, 8 << 30} {
		if got := memoryLimit(live); got < 320<<20 || got < live*5/4 || got > live*2+320<<20 {
			t.Errorf("limit %d MB with %d MB in use", got>>20, live>>20)
		}
	}
}

// Memory is given back when it has become quiet after work, not while there is work, and not again for nothing.
func TestMemoryIsGivenBackAfterWork(t *testing.T) {
	const mb = 1 << 20
	var tide tide
	ask := func(step string, want bool, n int, use memoryUse) {
		t.Helper()
		for range n {
			use.made += mb / 10
			if got := tide.ebbs(use); got != want {
				t.Errorf("%s: %t", step, got)
			}
		}
	}
	ask("it has just begun", false, leastTicks, memoryUse{held: 20 * mb, cycles: 1, made: 100 * mb})
	for i := range int64(10) {
		ask("at work", false, 1, memoryUse{held: 900 * mb, cycles: 2 + i, made: 1000*mb + 100*i*mb})
	}
	ask("it is quiet", true, 1, memoryUse{held: 900 * mb, cycles: 11, made: 2000 * mb})
	tide.gave(memoryUse{held: 500 * mb, cycles: 12, made: 2000 * mb})
	ask("nothing has happened", false, 3*leastTicks, memoryUse{held: 500 * mb, cycles: 12, made: 2000 * mb})
	tide.gave(memoryUse{held: 500 * mb, cycles: 12, made: 2000 * mb})
	ask("again so soon", false, leastTicks-1, memoryUse{held: 510 * mb, cycles: 12, made: 2010 * mb})
	ask("what was in use is not any longer", true, 1, memoryUse{held: 510 * mb, cycles: 12, made: 2010 * mb})
}

func TestMemoryThatIsGivenBackIsNotHeld(t *testing.T) {
	peak := make([]byte, 128<<20)
	for i := 0; i < len(peak); i += 4096 {
		peak[i] = 1
	}
	before := readMemory()
	peak = nil
	debug.FreeOSMemory()
	if after := readMemory(); after.held > before.held-100<<20 || after.cycles == before.cycles {
		t.Errorf("%+v at the peak and %+v after it", before, after)
	}
	_ = peak
}
