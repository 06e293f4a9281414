//go:build unix

package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// An agent makes the commits by which the engine archives a coding agent's requests: each round is a
// tool call and its result, each block a blob in the client's bytes and another one of its text.
type agent struct {
	random *rand.Rand
	batch  store.Batch
	rounds int
	chain  decant.Hash
}

func newAgent(id int) *agent {
	a := &agent{random: rand.New(rand.NewPCG(1, uint64(id)))}
	a.batch.Key = store.Key{ID: fmt.Sprintf("0194a7c2-0000-7000-8000-%012d", id)}
	return a
}

// vocabulary makes text that compresses as source code does, to about a third.
var vocabulary = strings.Fields(`return if err nil func range string context error int byte for := != == var type struct package
	import request response client server handler options config value index buffer reader writer length count result session token`)

// code returns about n bytes of text.
func (a *agent) code(n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%s%s %s.%s%d(%s)\n", strings.Repeat("\t", a.random.IntN(3)), a.word(), a.word(), a.word(), a.random.IntN(1000), a.word())
	}
	return b.String()
}

func (a *agent) word() string { return vocabulary[a.random.IntN(len(vocabulary))] }

// add appends a block to the batch.
func (a *agent) add(role decant.Role, kind decant.Kind, raw, text string) {
	b := &a.batch
	a.chain = decant.HashText(a.chain.String() + raw)
	b.Entries = append(b.Entries, store.Entry{
		Chain: a.chain, Raw: decant.HashText(raw), Text: decant.HashText(text), Role: role, Kind: kind, Author: decant.AuthorTool,
		CallID: fmt.Sprint("toolu_01", a.rounds), Name: "Bash", Ref: decant.Ref{Message: 2*a.rounds + 1}, Tokens: len(text) / 4,
	})
	b.Blobs = append(b.Blobs, []byte(raw), []byte(text))
	b.Hashes = append(b.Hashes, decant.HashText(raw), decant.HashText(text))
}

// round adds a call and a result of n bytes.
func (a *agent) round(n int) {
	a.rounds++
	id := fmt.Sprint("toolu_01", a.rounds)
	input := fmt.Sprintf(`{"command":"go test ./%s"}`, a.word()) // which many conversations have in common
	a.add(decant.RoleAssistant, decant.KindUse, fmt.Sprintf(`{"type":"tool_use","id":"%s","name":"Bash","input":%s}`, id, input), input)
	text := a.code(n)
	quoted := jsonspan.AppendQuote(nil, text)
	a.add(decant.RoleUser, decant.KindResult, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"%s","content":%s}`, id, quoted), text)
}

// next returns the commit of what was added, with the request that brought it.
func (a *agent) next() *store.Batch {
	b := a.batch
	now := time.Date(2026, 11, 20, 12, 0, a.rounds, 0, time.UTC)
	b.Time = now
	fixed := decant.HashText("fixed")
	if b.Version == 0 {
		b.Create = &store.Creation{Session: "session-" + b.ID, Agent: "claude-code", Project: "/src/project"}
		b.Fixed = &store.Fixed{Version: fixed, System: []byte(strings.Repeat("You are careful. ", 500)), Tools: []byte(strings.Repeat(`{"name":"Bash"}`, 500)), Tokens: 4000}
	}
	b.Head = &store.Head{Model: "claude-sonnet-4-5", Fixed: fixed}
	frame, answer := `{"model":"claude-sonnet-4-5","max_tokens":8000,"stream":true}`, `[{"type":"text","text":"`+a.code(300)+`"}]`
	usage := decant.Usage{Input: 10, CacheRead: 100_000, CacheWrite: 2000, Output: 100}
	id := fmt.Sprint(b.ID, "-", a.rounds)
	b.Events = store.Events{
		Blobs: [][]byte{[]byte(frame), []byte(answer)},
		Requests: []store.Request{{
			ID: id, Time: now, Length: 2 * a.rounds, API: "anthropic", Model: b.Head.Model, Fixed: fixed, Frame: decant.HashText(frame),
			View: decant.HashText(answer), Status: 200, Answer: decant.HashText(answer), Stop: "tool_use", Usage: usage,
		}},
		Spends: []store.Spend{{ID: id, Time: now, Model: b.Head.Model, Usage: usage, Without: usage, Cost: 1000, Bare: 1000}},
		Anchor: &store.Anchor{Usage: usage, Version: b.Version + 1, Length: 2 * a.rounds, Time: now, Calibration: []byte(`{"ratio":1.02}`)},
	}
	a.batch = store.Batch{Key: b.Key, Version: b.Version + 1}
	return &b
}

// BenchmarkArchive commits what a gateway archives behind each request: a conversation that is new to
// it, and one that has grown by a round. It reports the processor's time, which is what the gateway
// lacks meanwhile. To reach: 4 ms for 528 KB, 0.2 ms for a round.
func BenchmarkArchive(b *testing.B) {
	for _, kb := range []int{13, 106, 528} {
		b.Run(fmt.Sprintf("New%dKB", kb), func(b *testing.B) {
			n := 0
			archive(b, kb<<10, openWith(b, sqlite.Options{}), func() *store.Batch {
				n++
				a := newAgent(n)
				for range kb << 10 / 4000 {
					a.round(3600)
				}
				return a.next()
			})
		})
	}
	for _, kb := range []int{1, 5} {
		b.Run(fmt.Sprintf("Round%dKB", kb), func(b *testing.B) {
			db, a := openWith(b, sqlite.Options{}), newAgent(1)
			for range 130 {
				a.round(3600)
			}
			_, err := db.Commit(b.Context(), a.next())
			must(b, err)
			archive(b, kb<<10, db, func() *store.Batch {
				a.round(kb << 10)
				return a.next()
			})
		})
	}
}

// archive commits one batch after the other, each of about size bytes of a request.
func archive(b *testing.B, size int, db *sqlite.Database, next func() *store.Batch) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	var used time.Duration
	for b.Loop() {
		b.StopTimer()
		batch := next()
		b.StartTimer()
		begin := processor(b)
		_, err := db.Commit(b.Context(), batch)
		used += processor(b) - begin
		must(b, err)
	}
	b.ReportMetric(float64(used.Microseconds())/float64(b.N), "cpu-µs/op")
}

// BenchmarkOpen opens and closes a database: a new one, one that is there, and one that is there and then read and
// written. It reports the processor's time: every command opens one.
func BenchmarkOpen(b *testing.B) {
	nothing := func(*sqlite.Database) {}
	there := func(b *testing.B) func() string {
		path := filepath.Join(b.TempDir(), "decant.db")
		opened(b, path, nothing)
		return func() string { return path }
	}
	n := 0
	for name, bm := range map[string]struct {
		at func(*testing.B) func() string
		do func(*sqlite.Database)
	}{
		"New": {func(b *testing.B) func() string {
			dir := b.TempDir()
			return func() string { n++; return filepath.Join(dir, fmt.Sprint(n, ".db")) }
		}, nothing},
		"Existing": {there, nothing},
		"Used": {there, func(db *sqlite.Database) {
			_, err := db.Tenants(b.Context())
			must(b, err)
			n++
			must(b, (&line{Key: store.Key{ID: fmt.Sprint("conv-", n)}}).commit(b.Context(), db))
		}},
	} {
		b.Run(name, func(b *testing.B) {
			path := bm.at(b)
			begin := processor(b)
			for b.Loop() {
				opened(b, path(), bm.do)
			}
			b.ReportMetric(float64((processor(b)-begin).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// opened calls do with an open database and closes it.
func opened(b *testing.B, path string, do func(*sqlite.Database)) {
	db, err := sqlite.OpenDatabase(b.Context(), path, sqlite.Options{})
	must(b, err)
	do(db)
	must(b, db.Close())
}

// processor returns the time that this process has had a processor for.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
