package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// BenchmarkFirstRequest opens a database of 10,000 conversations and serves the first request: it finds
// the conversation, loads it and commits. The aim is 100 ms.
func BenchmarkFirstRequest(b *testing.B) {
	path := filepath.Join(b.TempDir(), "decant.db")
	db := open(b, path)
	fill(b, db, 10_000)
	l := &line{Key: store.Key{ID: "conv-5000"}, size: 300}
	must(b, l.commit(b.Context(), db))
	db.Close()
	b.ResetTimer()
	for b.Loop() {
		db, err := sqlite.OpenDatabase(b.Context(), path, sqlite.Options{})
		must(b, err)
		m, err := db.Match(b.Context(), "", l.ID, []decant.Hash{l.chain, decant.HashText("new")})
		must(b, err)
		if m.Known != 1 {
			b.Fatalf("match: %+v", m)
		}
		_, err = db.Load(b.Context(), l.Key, store.Newest)
		must(b, err)
		must(b, l.commit(b.Context(), db))
		b.StopTimer()
		db.Close()
		b.StartTimer()
	}
}

// fill creates n conversations, but conv-5000.
func fill(b *testing.B, db *sqlite.Database, n int) {
	results := make(chan error, 64)
	next := atomic.Int64{}
	for range cap(results) {
		go func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				l := &line{Key: store.Key{ID: fmt.Sprint("conv-", i)}, size: 300}
				if i == 5000 {
					continue
				}
				if err := l.commit(context.Background(), db); err != nil {
					results <- err
					return
				}
			}
			results <- nil
		}()
	}
	for range cap(results) {
		must(b, <-results)
	}
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCommit commits a round: a message of 4 KB with a decision on the one before.
func BenchmarkCommit(b *testing.B) {
	for _, o := range []struct {
		name    string
		options sqlite.Options
	}{{"SurviveKill", sqlite.Options{}}, {"SurvivePowerLoss", sqlite.Options{SurvivePowerLoss: true}}} {
		b.Run(o.name+"/One", func(b *testing.B) {
			db := openWith(b, o.options)
			l := &line{Key: store.Key{ID: "conv"}, size: 4000}
			b.SetBytes(4000)
			b.ReportAllocs()
			for b.Loop() {
				must(b, l.commit(b.Context(), db))
			}
		})
		b.Run(o.name+"/Concurrent", func(b *testing.B) {
			db := openWith(b, o.options)
			next := atomic.Int64{}
			b.SetBytes(4000)
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				l := &line{Key: store.Key{ID: fmt.Sprint("conv-", next.Add(1))}, size: 4000}
				for pb.Next() {
					if err := l.commit(context.Background(), db); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

func openWith(b *testing.B, o sqlite.Options) *sqlite.Database {
	db, err := sqlite.OpenDatabase(b.Context(), filepath.Join(b.TempDir(), "decant.db"), o)
	must(b, err)
	b.Cleanup(func() { db.Close() })
	return db
}

// long makes a conversation of 600 blocks and returns its chain hashes.
func long(b *testing.B, db *sqlite.Database) (*line, []decant.Hash) {
	l := &line{Key: store.Key{ID: "conv"}, size: 1000}
	var chain []decant.Hash
	for range 600 {
		must(b, l.commit(b.Context(), db))
		chain = append(chain, l.chain)
	}
	return l, chain
}

// BenchmarkRead times what a request reads, in a conversation of 600 blocks and 599 decisions.
func BenchmarkRead(b *testing.B) {
	db := openWith(b, sqlite.Options{})
	l, chain := long(b, db)
	grown := append(chain[:len(chain):len(chain)], decant.HashText("new 1"), decant.HashText("new 2"))
	foreign := make([]decant.Hash, len(chain))
	for i := range foreign {
		foreign[i] = decant.HashText(fmt.Sprint("foreign ", i))
	}
	text := decant.HashText(l.text(300))
	for _, bm := range []struct {
		name string
		read func() error
	}{
		{"Version", func() error { _, err := db.Version(b.Context(), l.Key); return err }},
		{"MatchKnown", func() error { _, err := db.Match(b.Context(), "", l.ID, grown); return err }},
		{"MatchUnknown", func() error { _, err := db.Match(b.Context(), "", l.ID, foreign); return err }},
		{"MatchNewSession", func() error { _, err := db.Match(b.Context(), "", "new", foreign); return err }},
		{"Load", func() error { _, err := db.Load(b.Context(), l.Key, store.Newest); return err }},
		{"Blob", func() error { _, err := db.Blobs(b.Context(), "", text); return err }},
		{"Resolve", func() error { _, err := db.Resolve(b.Context(), l.Key, decant.HandleOf(text)); return err }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(b, bm.read())
			}
		})
	}
}

// BenchmarkSearch searches 10 MB of text by the index, and by reading it all.
func BenchmarkSearch(b *testing.B) {
	db := openWith(b, sqlite.Options{})
	l := &line{Key: store.Key{ID: "conv"}, size: 10_000}
	for range 1000 {
		must(b, l.commit(b.Context(), db))
	}
	_, err := db.Index(b.Context(), 0)
	must(b, err)
	for name, query := range map[string]string{"Index": `"message 500"`, "Scan": "essage 500 o"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				hits, err := db.Search(b.Context(), store.Query{Text: query})
				if err != nil || len(hits) != 1 {
					b.Fatal(hits, err)
				}
			}
		})
	}
}

// BenchmarkEncryption does the same with a database as it is and with one that is encrypted: commits of 4 KB, a
// conversation of 2,000 rounds loaded, blobs of 5 KB read, and searches in 20 MB of text.
func BenchmarkEncryption(b *testing.B) {
	for _, o := range []struct {
		name    string
		options sqlite.Options
	}{{"Clear", sqlite.Options{}}, {"Encrypted", sqlite.Options{Key: key(b, "01").Secret}}} {
		db := openWith(b, o.options)
		l := &line{Key: store.Key{ID: "conv"}, size: 5_000}
		for range 2000 {
			must(b, l.commit(b.Context(), db))
		}
		_, err := db.Index(b.Context(), 0)
		must(b, err)
		var texts []decant.Hash
		for n := range int64(400) {
			texts = append(texts, decant.HashText(l.text(n+1)))
		}
		for _, bm := range []struct {
			name string
			do   func() error
		}{
			{"Load", func() error { _, err := db.Load(b.Context(), l.Key, store.Newest); return err }},
			{"Blob", func() error { _, err := db.Blobs(b.Context(), "", texts[100]); return err }},
			{"Blobs400", func() error { _, err := db.Blobs(b.Context(), "", texts...); return err }},
			{"Match", func() error { _, err := db.Match(b.Context(), "", l.ID, []decant.Hash{l.chain}); return err }},
			{"SearchWord", func() error { return one(db.Search(b.Context(), store.Query{Text: `"message 500"`})) }},
			{"SearchPart", func() error { return one(db.Search(b.Context(), store.Query{Text: "essage 1500 o"})) }},
			{"Commit", func() error { return l.commit(b.Context(), db) }},
		} {
			b.Run(bm.name+"/"+o.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					must(b, bm.do())
				}
			})
		}
	}
}

// one insists on one hit.
func one(hits []store.Hit, err error) error {
	if err == nil && len(hits) != 1 {
		err = fmt.Errorf("%d hits, want 1", len(hits))
	}
	return err
}

// BenchmarkRevise saves one text to a scope that has as many items as it may have, ten of them confirmed often. Nobody
// else writes meanwhile.
func BenchmarkRevise(b *testing.B) {
	for name, k := range map[string]*seal.Key{"InClear": nil, "Encrypted": key(b, "01")} {
		b.Run(name, func(b *testing.B) {
			db, at := openAs(b, filepath.Join(b.TempDir(), "decant.db"), sqlite.Options{Key: secret(k)}), memory.Scope{Level: memory.User}
			now := time.Unix(1_800_000_000, 0)
			n := 0
			one := func() memory.Item {
				n++
				it, err := memory.New(fmt.Sprintf("m:%012x", n), memory.KindMemory, at, fmt.Sprintf("item %d of store/sqlite/file%d.go says something", n, n), memory.Source{}, now)
				must(b, err)
				return it
			}
			must(b, db.Revise(b.Context(), "", at, func([]memory.Item) (all []memory.Item, _ error) {
				for i := range memory.MaxActive {
					it := one()
					for k := 0; i < 10 && k < memory.MaxEvidence; k++ {
						it = memory.Confirm(it, memory.Confirmation{Evidence: fmt.Sprint("said again ", k), Time: now})
					}
					all = append(all, it)
				}
				return all, nil
			}))
			for b.Loop() {
				must(b, db.Revise(b.Context(), "", at, memory.Save(one())))
			}
		})
	}
}
