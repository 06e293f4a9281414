package sandbox

import (
	"context"
	stdjson "encoding/json"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A Script plays the assistant side of a recorded conversation. After its last answer it says that
// it is over.
type Script struct {
	// Answers are played in order.
	Answers []Answer

	// Count chooses the answer by the number of answers in the request, which makes the script free
	// of state but fit only for requests that hold the whole history. Otherwise each request gets
	// the next answer, whatever became of the history; one script then serves one conversation.
	Count bool

	mu   sync.Mutex
	next int
}

// NewScript returns a script of the answers in a recorded conversation: their text, thinking and
// calls. A call id that the recording
// uses again is replaced by a fresh one, because ids must be unique.
func NewScript(c *decant.Conversation) *Script {
	s := &Script{}
	used := map[string]bool{}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role != decant.RoleAssistant {
			continue
		}
		if i == 0 || c.Messages[i-1].Role != decant.RoleAssistant {
			s.Answers = append(s.Answers, Answer{})
		}
		a := &s.Answers[len(s.Answers)-1]
		for k := range m.Blocks {
			switch b := &m.Blocks[k]; b.Kind {
			case decant.KindText, decant.KindThinking, decant.KindUse:
				a.Blocks = append(a.Blocks, recorded(b, used))
			}
		}
	}
	return s
}

// recorded returns a block of a recording as a block of an answer.
func recorded(b *decant.Block, used map[string]bool) Block {
	out := Block{Kind: b.Kind, Text: b.Text()}
	if b.Kind != decant.KindUse {
		return out
	}
	out.Name, out.Input, out.Text = b.Name, arguments(out.Text), ""
	if !used[b.CallID] && callID.MatchString(b.CallID) {
		out.ID = b.CallID
		used[b.CallID] = true
	}
	return out
}

// arguments returns recorded arguments as an object. Tools of other APIs that take plain text get it
// as the member "input".
func arguments(text string) stdjson.RawMessage {
	if n, err := parse([]byte(text)); err == nil && n.kind == '{' {
		return stdjson.RawMessage(text)
	}
	return append(jsonspan.AppendQuote([]byte(`{"input":`), text), '}')
}

// Seek makes the n-th answer, counted from 0, the next one.
func (s *Script) Seek(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = n
}

// Answer plays the next answer.
func (s *Script) Answer(_ context.Context, p *Prompt) (Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.next
	if s.Count {
		n = p.Answers()
	} else {
		s.next++
	}
	if n < 0 || n >= len(s.Answers) {
		return Answer{Blocks: []Block{{Kind: decant.KindText, Text: "The recording is over."}}}, nil
	}
	return s.Answers[n], nil
}
