package soak

import (
	"bytes"
	"slices"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// A line is a conversation as its client knows it.
type line struct {
	tenant  *tenant
	session string
	fixed   []byte
	said    [][]byte // all messages of the recording, the first ones made this line's own
	at      int      // messages of the newest request
	faulty  bool     // something of Decant's own failed during it

	mu     sync.Mutex
	key    store.Key     // of the conversation, as the gateway names it
	acked  []decant.Hash // blocks of the last request that was answered to its end, without a fault
	answer string        // id of that answer
	forked bool          // another line begins with it
	gone   bool          // it was forgotten
}

// body returns the request with so many messages.
func (l *line) body(n int, stream bool) []byte {
	var b bytes.Buffer
	b.Write(l.fixed)
	if stream {
		b.WriteString(`,"stream":true`)
	}
	b.WriteString(`,"cache_control":{"type":"ephemeral"},"messages":[`)
	b.Write(bytes.Join(l.said[:n], []byte{','}))
	b.WriteString("]}")
	return b.Bytes()
}

// ack notes that a request was answered.
func (l *line) ack(body []byte, o *outcome) error {
	blocks, err := blocksOf(body)
	if err != nil {
		return err
	}
	hashes := make([]decant.Hash, len(blocks))
	for i, b := range blocks {
		hashes[i] = decant.HashText(string(b))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.key, l.acked, l.answer = store.Key{Tenant: l.tenant.name, ID: o.conversation}, hashes, o.id
	return nil
}

// own returns the messages of a recording with a first one that no other line has.
func (r *recording) own(tag string) [][]byte {
	said := slices.Clone(r.messages)
	mark := []byte(`"content":[{"type":"text","text":"This is run ` + tag + `."},`)
	said[0] = bytes.Replace(said[0], []byte(`"content":[`), mark, 1)
	return said
}

// A book holds all lines.
type book struct {
	mu       sync.Mutex
	all      []*line
	finished []*line // nobody goes on with them
}

func (b *book) add(l *line) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, l)
}

func (b *book) finish(l *line) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.finished = append(b.finished, l)
}

// pick returns one of the finished lines that fits, nil when there is none.
func (b *book) pick(n int, fits func(*line) bool) *line {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.finished {
		l := b.finished[(n+i)%len(b.finished)]
		l.mu.Lock()
		ok := l.acked != nil && !l.gone && fits(l)
		l.mu.Unlock()
		if ok {
			return l
		}
	}
	return nil
}
