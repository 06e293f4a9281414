package session

// A chain links the lines of a file: each names the one before it as its parent. Ids are as they are written, quotes
// included.
type chain struct {
	gone    map[string]bool // ids of lines that are left out
	written map[string]bool // ids of lines that are written
	last    []byte          // id of the newest line of the conversation, null before the first
	broken  bool            // the next line of the source has to name last as its parent, whatever it names
}

func newChain() chain {
	return chain{gone: map[string]bool{}, written: map[string]bool{}, last: []byte("null")}
}

// leave notes that a line is left out.
func (c *chain) leave(id []byte) { c.gone[string(id)] = true }

// follow makes a new line the newest one.
func (c *chain) follow(id []byte) { c.last, c.broken = id, true }

// begun reports whether there is a line that the next one can name.
func (c *chain) begun() bool { return string(c.last) != "null" }
