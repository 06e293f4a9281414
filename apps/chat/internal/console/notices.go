package console

import "sync"

// notices are lines beside what happens: about pours, and about what a chat could not have. They are written by whoever has something to
// say, also by the goroutine of the talk, so that a write never waits for it.
type notices struct {
	came chan struct{} // has an element while there are some, with room for it

	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (n *notices) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.text = append(n.text, b...)
	select {
	case n.came <- struct{}{}:
	default:
	}
	return len(b), nil
}

// take returns what was written since it was called last.
func (n *notices) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := string(n.text)
	n.text = nil
	return text
}

// notice shows what was written.
func (t *talk) notice() {
	if text := t.notices.take(); text != "" {
		t.screen.line("%s", text)
	}
}
