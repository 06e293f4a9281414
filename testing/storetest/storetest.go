// Package storetest defines what a store does, as a test suite that every implementation runs. A failure says which
// rule is broken. Whoever writes a store reads it as the specification, and extends it before adding a behaviour.
//
// The suite has one group of tests for each part of a store. Begin with the core, for example with
// "go test -run TestStore/Commit". Tests of parts that the store lacks are skipped.
package storetest

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// Open opens one database. Each call is what another process would get; the suite closes it.
type Open func(t *testing.T) store.Core

// Run runs the suite. create makes a new, empty database for each test and returns how to open it.
func Run(t *testing.T, create func(t *testing.T) Open) {
	for _, group := range []struct {
		name  string
		needs func(*bench) // skips the group's tests if the store lacks the part; nil: it is the core
		tests []test
	}{
		{"Commit", nil, commitTests},
		{"Load", nil, loadTests},
		{"Match", nil, matchTests},
		{"Fork", nil, forkTests},
		{"Blobs", nil, blobTests},
		{"Resolve", nil, resolveTests},
		{"Record", nil, recordTests},
		{"Conversations", nil, listTests},
		{"Findings", nil, findingTests},
		{"Tenants", nil, tenantTests},
		{"Concurrency", nil, concurrencyTests},
		{"Model", nil, modelTests},

		{"Search", need[store.Searcher], searchTests},
		{"Memories", need[store.Memories], memoryTests},
		{"Claims", need[store.Claims], claimTests},
		{"Journals", need[store.Journals], journalTests},
		{"Keys", need[store.Keyring], keyTests},
		{"Audit", need[store.Auditor], auditTests},
		{"Collect", need[store.Collector], gcTests},
		{"Check", need[store.Checker], checkTests},
		{"Backup", need[store.Backuper], backupTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, tt := range group.tests {
				t.Run(tt.name, func(t *testing.T) {
					b := newBench(t, create(t))
					if group.needs != nil {
						group.needs(b)
					}
					tt.run(b)
				})
			}
		})
	}
}

// need skips the test if the store lacks a part.
func need[Part any](b *bench) {
	b.Helper()
	if _, ok := b.core.(Part); !ok {
		b.Skipf("the store is no %s", reflect.TypeFor[Part]())
	}
}

type test struct {
	name string
	run  func(*bench)
}

// epoch is when the suite's clock begins.
var epoch = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

// A bench is what a test works with: an open store and a line of conversation in it.
type bench struct {
	*testing.T
	store.Store
	core store.Core // what the store was made of
	open Open
	ctx  context.Context
	ids  int
}

func newBench(t *testing.T, open Open) *bench {
	b := &bench{T: t, open: open, ctx: t.Context()}
	b.core = open(t)
	b.Store = b.complete(b.core)
	return b
}

// complete returns a store whose missing parts fail, and closes it at the end of the test.
func (b *bench) complete(c store.Core) store.Store {
	b.Cleanup(func() { c.Close() })
	return store.Complete(c)
}

// another opens the database once more.
func (b *bench) another() store.Store {
	return b.complete(b.open(b.T))
}

// reopen closes the store and opens the database again, as after a restart.
func (b *bench) reopen() {
	b.Helper()
	if err := b.Close(); err != nil {
		b.Fatalf("close: %v", err)
	}
	b.Store = b.another()
}

func (b *bench) id(prefix string) string {
	b.ids++
	return fmt.Sprintf("%s-%03d", prefix, b.ids)
}

// A line is a conversation as its only writer sees it.
type line struct {
	*bench
	store.Key
	session string
	version int64
	chain   []store.Entry
	time    time.Time
}

// line returns a conversation that is still to be created.
func (b *bench) line(tenant, session string) *line {
	return &line{bench: b, Key: store.Key{Tenant: tenant, ID: b.id("conv")}, session: session, time: epoch}
}

// talk returns a conversation of tenant "" with the given texts, user and assistant by turns.
func (b *bench) talk(session string, texts ...string) *line {
	b.Helper()
	l := b.line("", session)
	l.must(l.say(texts...))
	return l
}

// batch returns a commit of what is given, for the line's version. Chain hashes and places follow
// the last entry, or entry replace-1 where replace is not 0.
func (l *line) batch(replace int, entries ...block) *store.Batch {
	l.time = l.time.Add(time.Second)
	b := &store.Batch{Key: l.Key, Version: l.version, Time: l.time, Replace: replace}
	if l.version == 0 {
		b.Create = &store.Creation{Session: l.session, Agent: "test"}
	}
	chain := l.chain
	if replace > 0 {
		chain = chain[:replace-1]
	}
	var last store.Entry
	if len(chain) > 0 {
		last = chain[len(chain)-1]
	}
	for _, x := range entries {
		last = x.after(last)
		b.Entries = append(b.Entries, last)
		b.Blobs = append(b.Blobs, x.raw(), []byte(x.text))
	}
	return b
}

// say returns a commit that appends texts, user and assistant by turns.
func (l *line) say(texts ...string) *store.Batch {
	return l.batch(0, l.blocks(len(l.chain), texts...)...)
}

func (l *line) blocks(n int, texts ...string) []block {
	var out []block
	for i, text := range texts {
		role := decant.RoleUser
		if (n+i)%2 == 1 {
			role = decant.RoleAssistant
		}
		out = append(out, block{role: role, kind: decant.KindText, text: text})
	}
	return out
}

// must commits and keeps the line's version and chain up to date.
func (l *line) must(b *store.Batch) {
	l.Helper()
	v, err := l.Commit(l.ctx, b)
	if err != nil {
		l.Fatalf("commit: %v", err)
	}
	if v != b.Version+1 {
		l.Fatalf("a commit of version %d made version %d, want the next one", b.Version, v)
	}
	l.version = v
	if b.Replace > 0 {
		l.chain = l.chain[: b.Replace-1 : b.Replace-1]
	}
	for _, e := range b.Entries {
		e.Position = len(l.chain) + 1
		l.chain = append(l.chain, e)
	}
}

// load returns the line's state.
func (l *line) load(version int64) *store.State {
	l.Helper()
	s, err := l.Load(l.ctx, l.Key, version)
	if err != nil {
		l.Fatalf("load version %d: %v", version, err)
	}
	return s
}

// hashes returns the first n chain hashes.
func (l *line) hashes(n int) []decant.Hash {
	var out []decant.Hash
	for _, e := range l.chain[:n] {
		out = append(out, e.Chain)
	}
	return out
}

// shrink returns a decision that replaces the line's n-th entry.
func (l *line) shrink(n int, text string) decant.Decision {
	e := l.chain[n-1]
	return decant.Decision{
		ID: l.id("dec"), Kind: decant.Shrink, Reason: "test", Text: text, Handle: decant.HandleOf(e.Text),
		Target:  decant.Target{Ref: e.Ref, CallID: e.CallID, Hash: e.Text},
		Created: l.time, Before: 100, After: 10,
	}
}

// cover returns a checkpoint of messages from to to.
func (l *line) cover(number, from, to int) decant.Decision {
	return decant.Decision{
		ID: l.id("dec"), Kind: decant.Cover, Reason: "test", Created: l.time,
		Checkpoint: &decant.Checkpoint{
			Number: number, From: from, To: to, Messages: to - from + 1, Placement: decant.PlaceMessage,
			Summary: "what happened \xff\u2028 so far", Rung: decant.RungExtractive, Score: 0.75, Original: 1000, Compressed: 250, CostUSD: 0.001,
			Facts: []decant.Fact{{Kind: decant.FactPath, Text: "store/a.go", Weight: 2, Message: from, Author: decant.AuthorTool}},
			Pins:  []decant.Ref{{Message: from, Block: 0}},
			Segments: []decant.Segment{{
				From: from, To: to, Of: decant.HashText("what happened"), Text: "It began with\n  a test.", Rung: decant.RungPartial, Model: "m-1",
				Gaps: []decant.Gap{{From: to, To: to, Why: "too large"}},
			}},
		},
	}
}

// A block is a block to be.
type block struct {
	role   decant.Role
	kind   decant.Kind
	text   string
	callID string
}

func (x block) raw() []byte {
	return []byte(`{"type":"` + string(x.kind) + `","text":` + strconv.Quote(x.text) + `}`)
}

// after returns the entry of x after the entry last, zero for none: the next block of its message
// if the role stays, else the next message. Thinking does not move the chain on.
func (x block) after(last store.Entry) store.Entry {
	e := store.Entry{
		Raw: decant.HashText(string(x.raw())), Text: decant.HashText(x.text),
		Role: x.role, Kind: x.kind, Author: decant.AuthorUser, CallID: x.callID, Tokens: len(x.text),
		Ref: decant.Ref{Message: last.Message, Block: last.Block + 1},
	}
	if e.Role != last.Role {
		e.Ref = decant.Ref{Message: last.Message + 1}
	}
	e.Chain = last.Chain
	if x.kind != decant.KindThinking {
		e.Chain = decant.HashText(last.Chain.String() + string(x.role) + x.text)
	}
	return e
}

// equal compares what was read with what was written: times by the moment, nil and empty alike.
func (b *bench) equal(rule string, got, want any) {
	b.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		b.Errorf("%s (-want +got):\n%s", rule, d)
	}
}
