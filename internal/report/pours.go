package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant"
)

// A PourRow is a pour in a list: what it changed and what that freed.
type PourRow struct {
	ID         string                   `json:"id"`
	Created    time.Time                `json:"created"`
	Checkpoint decant.Handle            `json:"checkpoint,omitempty"` // of the record that it made
	From       int                      `json:"from,omitempty"`       // messages that the record stands for
	To         int                      `json:"to,omitempty"`
	Blocks     map[decant.Reduction]int `json:"blocks,omitempty"` // that it made smaller, by what
	Freed      int                      `json:"freed_tokens"`
	CostUSD    float64                  `json:"cost_usd,omitempty"` // of its record
	Undone     bool                     `json:"undone,omitempty"`
}

// pours returns the pours among the decisions of a conversation, oldest first.
func pours(ds []decant.Decision) (out []PourRow) {
	revoked := map[string]bool{}
	for i := range ds {
		revoked[ds[i].Revokes] = true
	}
	at := map[string]int{}
	for i := range ds {
		d := &ds[i]
		if d.Pour == "" || d.Kind == decant.Revoke {
			continue
		}
		k, known := at[d.Pour]
		if !known {
			k = len(out)
			at[d.Pour] = k
			out = append(out, PourRow{ID: d.Pour, Created: d.Created, Blocks: map[decant.Reduction]int{}, Undone: true})
		}
		out[k].add(d, revoked[d.ID])
	}
	return out
}

// add counts a decision of the pour. One that is in force keeps the pour from being undone.
func (p *PourRow) add(d *decant.Decision, revoked bool) {
	p.Undone = p.Undone && revoked
	p.Freed += d.Before - d.After
	if cp := d.Checkpoint; cp != nil {
		p.Checkpoint, p.From, p.To, p.CostUSD = d.Handle, cp.From, cp.To, cp.CostUSD
		return
	}
	p.Blocks[d.Reduction]++
}

// text returns the pour in words: what left the view, what stands for it, and what that freed and cost.
func (p *PourRow) text(zone *time.Location) string {
	var did []string
	if p.Checkpoint != "" {
		did = append(did, fmt.Sprintf("m%d to m%d became %s", p.From, p.To, p.Checkpoint))
	}
	names := slices.SortedFunc(maps.Keys(p.Blocks), func(a, b decant.Reduction) int {
		return cmp.Or(p.Blocks[b]-p.Blocks[a], strings.Compare(string(a), string(b)))
	})
	for _, name := range names {
		did = append(did, fmt.Sprintf("%s by %s", Count(p.Blocks[name], "block"), name))
	}
	out := fmt.Sprintf("%s  %s: %s left the view", p.Created.In(zone).Format("2006-01-02 15:04"), strings.Join(did, ", "), Count(p.Freed, "token"))
	if p.CostUSD > 0 {
		out += fmt.Sprintf("; its record cost $%.4f", p.CostUSD)
	}
	if p.Undone {
		out += "; taken back"
	}
	return out
}
