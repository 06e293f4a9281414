package book

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
// The box is locked.
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
