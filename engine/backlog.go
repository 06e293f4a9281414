package engine

import (
	"fmt"

	"github.com/decantdev/decant/engine/internal/prompt"
)

// A backlog bounds what waits for the store. A store that hangs must not take the process down with it: what is
// refused here is lost as by a crash, and comes back with the client's next request as it does then.
type backlog struct {
	limit int  // bytes
	lost  int  // answers that found no room
	since int  // of them, when the store could follow last
	full  bool // the last answer found no room, or what waits has not gone down since
	told  bool // that it is full
}

// room reports whether an answer that takes n bytes may wait beside others that take used. One that is alone may.
// The pending queues are locked.
func (b *backlog) room(used, n int) bool {
	if used == 0 || used+n <= b.limit {
		return true
	}
	b.full = true
	b.lost++
	return false
}

// news returns what must be told about a backlog in which answers now take used bytes, each once: that it is full,
// or how many were lost since it was. It is full until half of it is free.
func (b *backlog) news(used int) (full bool, lost int) {
	switch {
	case !b.full:
	case !b.told:
		b.told = true
		return true, 0
	case used <= b.limit/2:
		lost, b.since = b.lost-b.since, b.lost
		b.full, b.told = false, false
	}
	return false, lost
}

// tellBacklog tells those who run the engine when the store cannot follow any longer, and when it can again.
func (e *Engine) tellBacklog() {
	p := &e.pending
	p.mu.Lock()
	full, lost := p.news(p.bytes)
	p.mu.Unlock()
	if full {
		e.opts.Fault(fmt.Errorf("%d MB of answers wait for the database, which cannot follow: until it can, answers are not archived, and what they brought comes back with their clients' next requests", p.limit>>20))
	}
	if lost > 0 {
		e.opts.Notice(fmt.Sprintf("the database can follow again; %d answers were not archived meanwhile", lost))
	}
}

// Backlog returns how many bytes answers take that wait for the store, and how many answers were not archived
// because there was no room for them.
func (e *Engine) Backlog() (bytes, lost int) {
	e.pending.mu.Lock()
	defer e.pending.mu.Unlock()
	return e.pending.bytes, e.pending.lost
}

// footprint returns about how many bytes an answer takes that waits for its archive, with its request.
func (f *finished) footprint() int {
	n := prompt.Footprint(f.ticket.r.Doc.Source, 2*len(f.ticket.r.Blocks)) + len(f.res.Content)
	if !prompt.SameBytes(f.Body, f.ticket.req.Body) {
		n += len(f.Body)
	}
	return n
}
