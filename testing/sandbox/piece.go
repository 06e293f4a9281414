package sandbox

import "github.com/decantdev/decant"

// A piece is one position of the prompt: a tool, a block of the system prompt or a block of a
// message, in the order in which the model reads them (docs/reference/anthropic.md, "The prompt cache").
type piece struct {
	*node  // as the model reads it
	sent   *node
	level  level
	kind   string // type of a block, "tool" of a tool
	role   string // of a message's block
	path   string
	loads  []*node // definitions of tools that it brings in
	starts bool    // the first block of its turn
	ttl    string  // of the cache marker on it: "", "5m" or "1h"
	tokens int
}

// A level is one of the three parts of a prompt.
type level uint8

const (
	levelTools level = iota
	levelSystem
	levelMessages
)

// thinking reports whether the piece is thinking, which carries no marker and no part of a prefix
// that signatures cover.
func (p *piece) thinking() bool { return p.kind == "thinking" || p.kind == "redacted_thinking" }

// pieces returns the prompt as an edit leaves it; nil: as it was sent. The definition of a tool that is
// loaded later is part of what refers to it.
func (q *request) pieces(e *edited) []piece {
	var out []piece
	for i, t := range q.tools {
		if !t.is("defer_loading") {
			out = append(out, piece{node: t, sent: t, level: levelTools, kind: "tool", path: index("tools", i)})
		}
	}
	for i, b := range q.system {
		out = append(out, piece{node: b, sent: b, level: levelSystem, kind: b.str("type"), path: index("system", i)})
	}
	for _, t := range q.turns {
		for i, b := range t.blocks {
			if n := e.shown(b.node); n != nil {
				out = append(out, piece{node: n, sent: b.node, level: levelMessages, kind: b.kind, role: t.role, path: b.path, loads: q.loads(n), starts: i == 0})
			}
		}
	}
	for i := range out {
		for _, m := range out[i].markers() {
			out[i].ttl = lifetime(m)
		}
	}
	q.markLast(out)
	return out
}

// markers returns the cache markers on a piece, as it was sent, and on the blocks within it.
func (p *piece) markers() []*node {
	var out []*node
	for _, inner := range p.sent.get("content").list() {
		if m := inner.get("cache_control"); m != nil {
			out = append(out, m)
		}
	}
	if m := p.sent.get("cache_control"); m != nil {
		out = append(out, m)
	}
	return out
}

// lifetime returns what a marker asks for.
func lifetime(marker *node) string {
	if ttl := marker.str("ttl"); ttl != "" {
		return ttl
	}
	return "5m"
}

// markLast puts the automatic breakpoint on the last piece that can carry one.
func (q *request) markLast(ps []piece) {
	if auto := q.body.get("cache_control"); auto != nil {
		if last := lastCacheable(ps); last != nil && last.ttl == "" {
			last.ttl = lifetime(auto)
		}
	}
}

func lastCacheable(ps []piece) *piece {
	for i := len(ps) - 1; i >= 0; i-- {
		if !ps[i].thinking() {
			return &ps[i]
		}
	}
	return nil
}

// maxMarkers is the most breakpoints a request may have, the automatic one included.
const maxMarkers = 4

// checkMarkers is the rules cache-markers-many and cache-lifetimes-order.
func (q *request) checkMarkers() *apiError {
	n, short := 0, ""
	see := func(path, ttl string) *apiError {
		n++
		if ttl == "5m" {
			short = path
		} else if short != "" {
			return invalid("%s.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block (%s). Note that blocks are processed in the following order: `tools`, `system`, `messages`.", path, short)
		}
		return nil
	}
	ps := q.pieces(nil)
	for i := range ps {
		marks := ps[i].markers()
		for _, m := range marks {
			if err := see(ps[i].path, lifetime(m)); err != nil {
				return err
			}
		}
		if len(marks) == 0 && ps[i].ttl != "" {
			if err := see(ps[i].path, ps[i].ttl); err != nil {
				return err
			}
		}
	}
	if n > maxMarkers {
		return invalid("A maximum of %d blocks with cache_control may be provided. Found %d.", maxMarkers, n)
	}
	return q.checkAutomatic(ps)
}

// checkAutomatic refuses an automatic breakpoint that contradicts the marker in its place.
func (q *request) checkAutomatic(ps []piece) *apiError {
	auto, last := q.body.get("cache_control"), lastCacheable(ps)
	if auto == nil || last == nil || last.ttl == lifetime(auto) {
		return nil
	}
	return invalid("cache_control.ttl: the automatic breakpoint has ttl='%s', the block it falls on (%s) has ttl='%s'", lifetime(auto), last.path, last.ttl)
}

// estimate is the default counter: one token for every three bytes, rounded up. It is simple on
// purpose; texts of one length count alike, so that tests can be computed by hand.
type estimate struct{}

var _ decant.Counter = estimate{}

// Count returns a third of the length of text.
func (estimate) Count(text string) int { return (len(text) + 2) / 3 }

// What the framing of pieces and what is not text count, in tokens.
const (
	turnFrame  = 4
	toolFrame  = 8
	callFrame  = 30
	mediaCount = 1500
)

// count sets the tokens of all pieces and returns their sum.
func count(ps []piece, c decant.Counter) int {
	sum := 0
	for i := range ps {
		ps[i].tokens = tokens(ps[i].node, ps[i].kind, c)
		for _, t := range ps[i].loads {
			ps[i].tokens += tokens(t, "tool", c)
		}
		if ps[i].starts {
			ps[i].tokens += turnFrame
		}
		sum += ps[i].tokens
	}
	return sum
}

// tokens returns the size of one block or tool. A signature is not counted.
func tokens(n *node, kind string, c decant.Counter) int {
	switch kind {
	case "tool":
		return toolFrame + c.Count(string(n.raw))
	case "text":
		return c.Count(n.str("text"))
	case "thinking":
		return c.Count(n.str("thinking"))
	case compactionKind:
		return c.Count(n.str("content"))
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return callFrame + c.Count(n.str("name")) + c.Count(string(n.get("input").raw))
	case "tool_result", "search_result":
		sum := callFrame
		for _, b := range n.get("content").blocks() {
			sum += tokens(b, b.str("type"), c)
		}
		return sum
	case "document":
		if s := n.get("source"); s.str("type") == "text" {
			return c.Count(s.str("data"))
		}
		return mediaCount
	case "image":
		return mediaCount
	}
	return c.Count(string(n.raw))
}
