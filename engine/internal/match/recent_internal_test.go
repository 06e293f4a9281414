package match

import (
	"fmt"
	"hash/maphash"
	"runtime"
	"testing"

	"github.com/decantdev/decant/internal/dialect/index"
)

// What is kept of requests is bounded by what it takes in memory, also when each of them says a few words.
func TestMemoriesOfTinyRequestsAreBounded(t *testing.T) {
	const most = 2 * mostRecent
	seed := maphash.MakeSeed()
	var c Recent
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 20_000 // 150 MB, if all are kept
	for i := range n {
		body := fmt.Appendf(nil, `{"model":"x","messages":[{"role":"user","content":"%d"}]}`, i)
		r, err := Read(index.Default, body, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Put(Key{session: fmt.Sprint(i)}, r.Remember(), nil)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > most {
		t.Errorf("%d MB are in use for %d memories, want at most %d", used>>20, c.order.Len(), most>>20)
	}
	if c.order.Len() < 1000 || len(c.of) != c.order.Len() {
		t.Errorf("%d memories are kept under %d keys", c.order.Len(), len(c.of))
	}
	for c.order.Len() > 0 {
		c.drop(c.order.Back())
	}
	if c.bytes != 0 || len(c.of) != 0 {
		t.Errorf("%d bytes are counted of nothing", c.bytes)
	}
}
