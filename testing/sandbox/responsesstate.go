package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// A shelf holds the newest responses, for clients that go on from them or ask for them.
type shelf struct {
	mu    sync.Mutex
	order []string
	all   map[string]stored
	items map[string]*node // by account and id
}

// A stored response is what the server has of it.
type stored struct {
	account string
	body    []byte
	items   []*node // all that was said up to its end
	given   int     // how many of them its request brought or went on from
}

const shelfSize = 1024

// keep stores a response, unless its request says not to, and notes which items came with reasoning.
func (x *exchange) keep(q *input, res *response) {
	said := stored{account: x.account, body: x.entry.Answer, items: slices.Clone(q.items), given: len(q.items)}
	thought := ""
	for _, it := range res.items {
		whole := it.whole
		if it.kept != nil {
			whole = it.kept
		}
		n, err := parse(marshal(whole))
		if err != nil {
			continue // it is ours, and JSON
		}
		said.items = append(said.items, n)
		switch id := n.str("id"); {
		case n.str("type") == "reasoning":
			thought = id
		case thought != "":
			x.s.memory.keep(x.account, []string{id}, []string{thought})
		}
	}
	if store := q.body.get("store"); store == nil || store.kind == 't' {
		x.s.shelf.put(res.id, said)
	}
}

func (s *shelf) put(id string, r stored) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all, s.items = map[string]stored{}, map[string]*node{}
	}
	s.all[id] = r
	for _, n := range r.items {
		if at := n.str("id"); at != "" {
			s.items[r.account+"\x00"+at] = n
		}
	}
	if s.order = append(s.order, id); len(s.order) > shelfSize {
		s.drop(s.order[0])
		s.order = s.order[1:]
	}
}

// drop forgets a response.
func (s *shelf) drop(id string) {
	for _, n := range s.all[id].items {
		delete(s.items, s.all[id].account+"\x00"+n.str("id"))
	}
	delete(s.all, id)
}

// gather puts together what a request says: what an earlier response ended with, and what is new.
func (s *shelf) gather(account string, q *input) *apiError {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, given := q.body.str("previous_response_id"), q.body.get("input")
	if before != "" {
		r, ok := s.all[before]
		if !ok || r.account != account {
			return about("previous_response_id", "previous_response_not_found",
				"Previous response with id '%s' not found.", before)
		}
		q.items, q.given = append(q.items, r.items...), len(r.items)
	}
	switch {
	case given == nil && before == "":
		return about("input",
			"missing_required_parameter", `One of "input" or "previous_response_id" or 'prompt' or 'conversation' must be provided.`)
	case given == nil:
	case given.kind == '"':
		q.items = append(q.items, spokenText(given))
	case given.kind == '[':
		q.items = append(q.items, given.items...)
	default:
		return about("input", "invalid_type", "Invalid type for 'input': expected one of a string or array of input items.")
	}
	for i, n := range q.items {
		q.paths = append(q.paths, fmt.Sprintf("input[%d]", i-q.given))
		it := shownItem{node: n}
		kind, id := it.kindOf(), n.str("id")
		bare := kind == "item_reference" || kind == "reasoning" && n.get("encrypted_content") == nil
		if held := s.items[account+"\x00"+id]; held != nil && bare {
			q.items[i] = held
		} else if kind == "item_reference" {
			return lost(id)
		}
	}
	return nil
}

// spokenText returns the message that a plain string stands for.
func spokenText(text *node) *node {
	n, _ := parse(marshal(object{"type", "message", "role", "user", "content", text})) // it is part of what was parsed
	return n
}

// oneResponse is GET and DELETE of a response that is stored, and GET of what it was given.
func (x *exchange) oneResponse(id, more string) *apiError {
	s := &x.s.shelf
	s.mu.Lock()
	r, ok := s.all[id]
	s.mu.Unlock()
	switch {
	case !ok || r.account != x.account:
		return &apiError{status: http.StatusNotFound, kind: kindInvalid, message: "Response with id '" + id + "' not found."}
	case more == "input_items":
		return x.only(http.MethodGet, func() *apiError {
			all := list{}
			for _, n := range r.items[:r.given] {
				all = append(all, n)
			}
			page := object{"object", "list", "data", all, "first_id", nil, "last_id", nil, "has_more", false}
			return x.send(http.StatusOK, marshal(page))
		})
	case more != "":
		return x.unknownURL()
	case x.r.Method == http.MethodDelete:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(id)
		return x.send(http.StatusOK, marshal(object{"id", id, "object", "response", "deleted", true}))
	}
	return x.only(http.MethodGet, func() *apiError { return x.send(http.StatusOK, r.body) })
}
