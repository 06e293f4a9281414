package tools

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
)

// What is held of the output of a command: its beginning and its end. What is longer than an answer is also written to a file.
const (
	mostHead  = 128 << 10
	mostTail  = 128 << 10
	mostSpill = 64 << 20
	shortest  = 20_000 // bytes from which on there is a file
)

// A capture takes the output of a command while it comes. It never holds more than its limits, whatever comes.
type capture struct {
	dir string // for the file

	mu    sync.Mutex
	head  []byte
	tail  []byte // at most twice mostTail
	total int64
	file  *os.File
}

// Write takes a piece of the output. It never fails, so that a command does not stop for what nobody reads.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spill(p)
	c.total += int64(len(p))
	n := min(len(p), mostHead-len(c.head))
	c.head = append(c.head, p[:n]...)
	c.tail = append(c.tail, p[max(n, len(p)-mostTail):]...)
	if over := len(c.tail) - mostTail; over > mostTail {
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
	return len(p), nil
}

// spill writes a piece of the output to a file, from the moment on that there is much of it.
func (c *capture) spill(p []byte) {
	if c.file == nil {
		if c.total+int64(len(p)) <= shortest || c.total > shortest {
			return // there is little of it, or no file could be made
		}
		f, err := os.CreateTemp(c.dir, "output-*.txt")
		if err != nil {
			return // what is held is all that there is
		}
		c.file = f
		c.file.Write(c.head)
	}
	if room := mostSpill - c.total; room > 0 {
		c.file.Write(p[:min(int64(len(p)), room)])
	}
}

// text returns what is held, and how to get the rest.
func (c *capture) text() (text, rest string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := c.tail[max(0, len(c.tail)-mostTail):]
	var b strings.Builder
	b.Write(c.head)
	if missing := c.total - int64(len(c.head)+len(tail)); missing > 0 {
		fmt.Fprintf(&b, "\n[... %d bytes are left out here ...]\n", missing)
	}
	b.Write(tail)
	if c.file != nil {
		rest = fmt.Sprintf("the output is in %s: print parts of it with sed -n '100,200p' in bash", c.file.Name())
	}
	return strings.ToValidUTF8(b.String(), "\ufffd"), rest
}

// last returns the newest line that has come to its end.
func (c *capture) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := c.tail
	if len(from) == 0 {
		from = c.head
	}
	from = bytes.TrimRight(from[:bytes.LastIndexByte(from, '\n')+1], "\r\n")
	line := from[bytes.LastIndexByte(from, '\n')+1:]
	return strings.ToValidUTF8(string(line[max(0, len(line)-200):]), "\ufffd")
}

// close closes the file, which stays.
func (c *capture) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil {
		c.file.Close()
	}
}
