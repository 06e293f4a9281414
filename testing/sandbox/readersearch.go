package sandbox

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/lazyregexp"
)

var (
	searchFor = lazyregexp.New(`(?i)\bsearch(?: the web)? for\s+([^\n.,;:?!]+)`)
	searches  = lazyregexp.New(`(?i)search|find`)
	openEach  = lazyregexp.New(`(?i)\b(?:open|read|fetch|visit|look at)\s+(?:each|every|all)\b`)
)

// search returns the call that searches for what the user orders to be searched for, and when that has been found, the calls that open
// each address of it, if they are to be opened.
func (p *Prompt) search(asked string) []Block {
	m := searchFor.FindStringSubmatch(asked)
	if m == nil {
		return nil
	}
	if calls := p.call(searches, strings.TrimSpace(m[1])); len(calls) > 0 || !openEach.MatchString(asked) {
		return calls
	}
	var calls []Block
	for _, url := range p.found() {
		calls = append(calls, p.call(fetches, url)...)
	}
	return calls
}

// found returns the addresses in the results of searches in this turn, each once, in their order.
func (p *Prompt) found() (out []string) {
	turn := p.Messages
	for i := len(turn) - 1; i >= 0; i-- {
		if turn[i].Role == decant.RoleUser && turn[i].text() != "" {
			turn = turn[i:]
			break
		}
	}
	searched, known := map[string]bool{}, map[string]bool{}
	for _, m := range turn {
		for _, b := range m.Blocks {
			if b.Kind == decant.KindUse && searches.MatchString(b.Name) {
				searched[b.ID] = true
			}
			if b.Kind != decant.KindResult || !searched[b.ID] {
				continue
			}
			for _, url := range address.FindAllString(b.Text, -1) {
				if url = strings.TrimRight(url, ".:!?"); !known[url] {
					known[url], out = true, append(out, url)
				}
			}
		}
	}
	return out
}
