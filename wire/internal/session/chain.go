package session

// A chain links the lines of a file: each names the one before it as its parent, directly or by lines without a message.
// The client follows parents from the newest message, so what is not in the chain is lost to it. Ids are as they are
// written, quotes included.
type chain struct {
	gone map[string]bool // ids of lines that are left out
	seen map[string]bool // ids of those and of lines that are written
	tip  map[string]bool // ids of the newest line with a message and of those that follow it
	last []byte          // id of the newest line in the chain, null before the first
}

func newChain() chain {
	return chain{gone: map[string]bool{}, seen: map[string]bool{}, tip: map[string]bool{"null": true}, last: []byte("null")}
}

// leave notes that a line is left out.
func (c *chain) leave(id []byte) { c.gone[string(id)] = true }

// take notes that a line with an id was written or left out. It reports false when one with that id was before.
func (c *chain) take(id []byte) bool {
	if len(id) == 0 {
		return true
	}
	was := c.seen[string(id)]
	c.seen[string(id)] = true
	return !was
}

// follow makes a line with a message, or one that begins a chain, the newest one.
func (c *chain) follow(id []byte) {
	if len(id) > 0 {
		c.last, c.tip = id, map[string]bool{string(id): true}
	}
}

// join makes a line without a message the newest one.
func (c *chain) join(id []byte) {
	if len(id) > 0 {
		c.last, c.tip[string(id)] = id, true
	}
}

// begun reports whether there is a line that the next one can name.
func (c *chain) begun() bool { return string(c.last) != "null" }
