package engine

import "fmt"

// tellBacklog tells those who run the engine when the store cannot follow any longer, and when it can again.
func (e *Engine) tellBacklog(full bool, lost int) {
	if full {
		e.opts.Fault(fmt.Errorf("%d MB of answers wait for the database, which cannot follow: until it can, answers are not archived, and what they brought comes back with their clients' next requests", e.opts.Backlog>>20))
	}
	if lost > 0 {
		e.opts.Notice(fmt.Sprintf("the database can follow again; %d answers were not archived meanwhile", lost))
	}
}

// Backlog returns how many bytes answers take that wait for the store, and how many answers were not archived
// because there was no room for them.
func (e *Engine) Backlog() (bytes, lost int) { return e.outbox.Size() }
