package engine

// tellBacklog tells those who run the engine when the store cannot follow any longer, and when it can again.
func (e *Engine) tellBacklog(full bool, lost int) {
	if full {
		e.opts.Logger.Error("the database cannot follow: until it can, answers are not archived, and what they brought comes back with their clients' next requests", "waiting_mb", e.opts.Backlog>>20)
	}
	if lost > 0 {
		e.opts.Logger.Warn("the database can follow again", "not_archived", lost)
	}
}

// Backlog returns how many bytes answers take that wait for the store, and how many answers were not archived
// because there was no room for them.
func (e *Engine) Backlog() (bytes, lost int) { return e.outbox.Size() }
