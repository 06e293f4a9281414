package sandbox

import (
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
	src, err := json.Marshal(&k)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	at := filepath.Join(dir, b.id+".json")
	if err == nil {
		err = os.WriteFile(at+".new", src, 0o600)
	}
	if err == nil {
		err = os.Rename(at+".new", at)
	}
	if err != nil {
		panic(fmt.Sprintf("sandbox: batch %s cannot be kept: %v", b.id, err)) // the request fails, as it must
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
