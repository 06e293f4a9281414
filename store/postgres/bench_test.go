package postgres

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// BenchmarkCommit appends three messages of 2 KB and a decision, by several clients, each with a conversation of its own.
func BenchmarkCommit(b *testing.B) {
	address := anyDatabase(b)
	sign := "?"
	if strings.Contains(address, "?") {
		sign = "&"
	}
	db := openTest(b, address+sign+"pool_max_conns=32")
	for _, clients := range []int{1, 8, 32} {
		b.Run(fmt.Sprint("Clients=", clients), func(b *testing.B) {
			ids := store.NewIDs(time.Now, strings.NewReader(strings.Repeat("decant", 1<<20)))
			var left atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() { commits(b, db, ids, &left) })
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

// commits commits to one conversation until none are left.
func commits(b *testing.B, db *database, ids *store.IDs, left *atomic.Int64) {
	id, err := ids.Next()
	if err != nil {
		b.Error(err)
		return
	}
	var chain decant.Hash
	for version := int64(0); left.Add(-1) >= 0; version++ {
		batch := &store.Batch{Key: store.Key{ID: id}, Version: version, Time: time.Now()}
		if version == 0 {
			batch.Create = &store.Creation{Session: id}
		}
		for i := range 3 {
			text := []byte(fmt.Sprint(id, version, i) + strings.Repeat(fmt.Sprintf("%x ", version*3+int64(i)), 2000)[:2000])
			chain = decant.HashText(chain.String() + string(text[:80]))
			h := decant.HashText(string(text))
			batch.Blobs = append(batch.Blobs, text)
			batch.Entries = append(batch.Entries, store.Entry{Chain: chain, Raw: h, Text: h, Role: decant.RoleUser, Kind: decant.KindText,
				Ref: decant.Ref{Message: int(version)*3 + i + 1}, Tokens: 500})
		}
		batch.Decisions = []decant.Decision{{ID: fmt.Sprint("d", version), Kind: decant.Shrink, Text: "short",
			Target: decant.Target{Ref: batch.Entries[0].Ref, Hash: batch.Entries[0].Text}}}
		if _, err := db.Commit(b.Context(), batch); err != nil {
			b.Error(err)
			return
		}
	}
}
