package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant/memory"
)

// full returns a scope with as many items as it may have, of a length that is usual.
func full(b *testing.B) (have []memory.Item) {
	b.Helper()
	for i := range memory.MaxActive + memory.MaxArchived {
		it := item(b, fmt.Sprintf("m:%04d", i), memory.KindMemory, fmt.Sprintf("memory number %d of store/sqlite/file%d.go: %s", i, i, strings.Repeat("some words ", 20)), epoch)
		if i >= memory.MaxActive {
			it, _ = memory.Archive(it, epoch)
		}
		have = append(have, it)
	}
	return have
}

// BenchmarkSave saves twenty items, as much as a flush brings, into a full scope. It runs while the store is locked.
func BenchmarkSave(b *testing.B) {
	have := full(b)
	var items []memory.Item
	for i := range 20 {
		items = append(items, item(b, fmt.Sprint("m:new", i), memory.KindMemory, fmt.Sprintf("something new, number %d", i), epoch))
	}
	do := memory.Save(items...)
	for b.Loop() {
		if _, err := do(have); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRank looks for words in a full scope.
func BenchmarkRank(b *testing.B) {
	have := full(b)
	for b.Loop() {
		if len(memory.Rank(have, "sqlite file77")) == 0 {
			b.Fatal("nothing found")
		}
	}
}
