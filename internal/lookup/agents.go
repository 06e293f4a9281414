package lookup

import (
	"slices"
	"time"

	"github.com/decantdev/decant/store"
)

// subAgents returns which conversations of a tenant are a sub-agent's, and the id that the sub-agent goes by: that of the first
// of them. Clients send one session id with the requests of an agent and of its sub-agents, whose conversations are told
// apart by what they begin with. The agent that a user talks with is the one that began first; a request for a title, of
// which there is one, may come before it. It goes on in another conversation after a client's own compaction: one that
// begins when the one before has ended. A fork is whose conversation it has left.
func subAgents(found []store.Summary) map[string]string {
	byID, mains := map[string]*store.Summary{}, map[string]*store.Summary{}
	for i := range found {
		c := &found[i]
		byID[c.ID] = c
		if c.Session == "" || c.Origin != nil {
			continue
		}
		if m := mains[c.Session]; m == nil || earlier(c, m) {
			mains[c.Session] = c
		}
	}
	names, goesOn := map[string]string{}, successors(found, mains)
	for i := range found {
		root := &found[i]
		for range found { // at most so many forks of forks
			if root.Origin == nil || byID[root.Origin.Parent] == nil {
				break
			}
			root = byID[root.Origin.Parent]
		}
		if m := mains[root.Session]; m != nil && root.Origin == nil && root != m && !goesOn[root.ID] {
			names[found[i].ID] = root.ID
		}
	}
	return names
}

// successors returns the conversations in which main agents have gone on: each began when the one before had had its last
// request, which no sub-agent does whose result its main agent reads.
func successors(found []store.Summary, mains map[string]*store.Summary) map[string]bool {
	out, ends := map[string]bool{}, map[string]time.Time{}
	for session, m := range mains {
		ends[session] = m.Updated
	}
	byStart := slices.SortedFunc(slices.Values(found), func(a, b store.Summary) int { return a.Created.Compare(b.Created) })
	for i := range byStart {
		c := &byStart[i]
		if end, ok := ends[c.Session]; ok && c.Origin == nil && c.Requests > 1 && c.Created.After(end) {
			out[c.ID], ends[c.Session] = true, c.Updated
		}
	}
	return out
}

// earlier reports whether a conversation is rather the one that a user began a session with than another.
func earlier(c, than *store.Summary) bool {
	if goesOn := c.Requests > 1; goesOn != (than.Requests > 1) {
		return goesOn
	}
	return c.Created.Before(than.Created)
}
