package sandbox

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
)

// A keptBatch is a batch as it is kept in a folder.
type keptBatch struct {
	ID      string         `json:"id"`
	Account []byte         `json:"account"` // identifies who made it, without the key
	Version string         `json:"version"`
	Betas   []string       `json:"betas"`
	Body    []byte         `json:"body"`
	Created time.Time      `json:"created"`
	Cancel  time.Time      `json:"cancel,omitzero"`
	Ended   time.Time      `json:"ended,omitzero"`
	Counts  map[string]int `json:"counts"`
	Results []byte         `json:"results"`
}

// keep keeps a batch in a folder; empty: it does nothing. The batch is locked, or new.
func (b *batch) keep(dir string) {
	if dir == "" {
		return
	}
	k := keptBatch{ID: b.id, Account: []byte(b.from.account), Version: b.from.version, Betas: b.header, Body: b.body, Created: b.created, Cancel: b.cancelled, Ended: b.ended, Counts: b.counts, Results: b.results}
	keepAs(dir, b.id+".json", &k)
	if !b.ended.IsZero() {
		b.from.s.cache.keep(dir)
	}
}

// keepAs keeps something in a folder.
func keepAs(dir, name string, what any) {
	src, err := json.Marshal(what)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	at := filepath.Join(dir, name)
	if err == nil {
		err = os.WriteFile(at+".new", src, 0o600)
	}
	if err == nil {
		err = os.Rename(at+".new", at)
	}
	if err != nil {
		panic(fmt.Sprintf("sandbox: %s cannot be kept: %v", name, err)) // the request fails, as it must
	}
}

// A keptEntry is an entry of the prompt cache as it is kept.
type keptEntry struct {
	Expires time.Time `json:"expires"`
	Life    int64     `json:"life"` // nanoseconds
}

const keptCache = "cache.json"

// keep keeps the prompt cache in a folder.
func (c *cache) keep(dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]keptEntry{}
	for p, e := range c.entries {
		all[hex.EncodeToString(p[:])] = keptEntry{e.expires, int64(e.ttl)}
	}
	keepAs(dir, keptCache, all)
}

// load reads a prompt cache that was kept. What cannot be read is not in it.
func (c *cache) load(dir string) {
	var all map[string]keptEntry
	src, err := os.ReadFile(filepath.Join(dir, keptCache))
	if err != nil || json.Unmarshal(src, &all) != nil {
		return
	}
	c.entries = map[prefix]entry{}
	for name, e := range all {
		if b, err := hex.DecodeString(name); err == nil && len(b) == len(prefix{}) {
			c.entries[prefix(b)] = entry{e.Expires, time.Duration(e.Life)}
		}
	}
}

// drop removes a batch from a folder.
func (b *batch) drop(dir string) {
	if dir != "" {
		os.Remove(filepath.Join(dir, b.id+".json")) // what stays is only there again
	}
}

// load reads the batches that are kept. One that cannot be read is left out.
func (bs *batches) load(s *Server) {
	if s.opts.Batches == "" {
		return
	}
	s.cache.load(s.opts.Batches)
	names, _ := filepath.Glob(filepath.Join(s.opts.Batches, "msgbatch_*.json")) // the pattern is right
	bs.byID = map[string]*batch{}
	for _, name := range names {
		var k keptBatch
		src, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(src, &k) != nil {
			continue
		}
		if b := k.batch(s); b != nil {
			bs.byID[b.id] = b
		}
		var n int
		if _, err := fmt.Sscanf(k.ID, "msgbatch_sandbox_%d", &n); err == nil {
			bs.made = max(bs.made, n)
		}
	}
}

// batch returns a batch that was kept, nil where it cannot be read.
func (k *keptBatch) batch(s *Server) *batch {
	root, err := parse(k.Body)
	if err != nil {
		return nil
	}
	items, bad := batchItems(root)
	betas, wrong := readBetas(http.Header{"Anthropic-Beta": k.Betas}, s.opts.Betas)
	if bad != nil || wrong != nil {
		return nil
	}
	return &batch{id: k.ID, items: items, created: k.Created, cancelled: k.Cancel, ended: k.Ended, counts: k.Counts, results: k.Results, body: k.Body, header: k.Betas,
		from: exchange{s: s, account: string(k.Account), version: k.Version, betas: betas}}
}
