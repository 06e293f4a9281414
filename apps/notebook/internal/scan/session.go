package scan

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// A Session is what Read extracts from a recorded conversation.
type Session struct {
	ID      string `json:"id"`
	Agent   string `json:"agent"`
	Model   string `json:"model,omitempty"`   // the last that answered
	File    string `json:"file,omitempty"`    // set by the caller
	Project string `json:"project,omitempty"` // directory that the agent worked in; set by the caller

	Start       time.Time    `json:"start,omitzero"`
	End         time.Time    `json:"end,omitzero"`
	Active      Seconds      `json:"active_seconds"` // without pauses of more than half an hour
	Messages    int          `json:"messages"`
	Requests    int          `json:"requests"` // answers with a recorded usage
	Average     int          `json:"average_tokens"`
	Peak        int          `json:"peak_tokens"` // largest prompt
	Usage       decant.Usage `json:"usage"`       // of all requests
	Compactions []Compaction `json:"compactions,omitempty"`

	Tasks []Task `json:"tasks,omitempty"`
	said  []sentence
	calls []call
}

// Seconds is a length of time.
type Seconds int

// A Compaction is one compaction by the client, which replaced messages by a summary.
type Compaction struct {
	Message int `json:"message"`          // number of the first message after it
	Before  int `json:"before,omitempty"` // tokens of the last request before it with its answer, 0 when not recorded
	After   int `json:"after,omitempty"`  // prompt tokens of the first request after it, 0 when not recorded

	Time   time.Time    `json:"time,omitzero"`
	Took   Seconds      `json:"took_seconds,omitempty"`   // between the last message before it and the summary
	Active Seconds      `json:"active_seconds,omitempty"` // of the session before it
	Usage  decant.Usage `json:"usage"`                    // of all requests before it
}

// A call is one tool call in a session.
type call struct {
	tool.Call
	ID      string // see identity, of the message that makes it
	Message int    // number of the message that makes it
	Args    string // of a task tool, as the model wrote them
	Bad     bool
	Open    bool // it has no result
	Result  string
}

// idle is the longest pause that counts as work.
const idle = 30 * time.Minute

// Read returns the session of a conversation. The caller sets File and Project.
func Read(c *decant.Conversation) Session {
	s := Session{ID: c.ID, Agent: c.Agent, Model: c.Model, Messages: len(c.Messages)}
	s.measure(c.Messages)
	s.calls = calls(c.Messages)
	s.said = said(c)
	s.Tasks = tasks(c.Messages, s.calls)
	return s
}

// measure adds up times and usage.
func (s *Session) measure(ms []decant.Message) {
	last, prompts := 0, 0
	active := time.Duration(0)
	for i := range ms {
		m := &ms[i]
		if m.Compaction {
			c := Compaction{Message: m.Number, Before: last, Time: m.Time, Active: Seconds(active.Seconds()), Usage: s.Usage}
			if gap := m.Time.Sub(s.End); !s.End.IsZero() && gap > 0 && gap < idle {
				c.Took = Seconds(gap.Seconds())
			}
			s.Compactions = append(s.Compactions, c)
		}
		if t := m.Time; !t.IsZero() {
			if s.Start.IsZero() {
				s.Start, s.End = t, t
			}
			if gap := t.Sub(s.End); gap > 0 {
				s.End = t
				if gap <= idle {
					active += gap
				}
			}
		}
		if m.Usage == nil || m.Usage.Prompt() == 0 {
			continue
		}
		if n := len(s.Compactions); n > 0 && s.Compactions[n-1].After == 0 {
			s.Compactions[n-1].After = m.Usage.Prompt()
		}
		last = m.Usage.Context()
		s.Requests++
		prompts += m.Usage.Prompt()
		s.Peak = max(s.Peak, m.Usage.Prompt())
		s.Usage = s.Usage.Add(*m.Usage)
	}
	s.Active = Seconds(active.Seconds())
	if s.Requests > 0 {
		s.Average = prompts / s.Requests
	}
}

// maxResult limits what a call keeps of its result, in bytes: enough for the line in which git names a commit.
const maxResult = 2000

// calls returns the calls of a conversation in their order, with how they ended.
func calls(ms []decant.Message) (out []call) {
	open := map[string]int{}
	for i := range ms {
		for j := range ms[i].Blocks {
			b := &ms[i].Blocks[j]
			switch b.Kind {
			case decant.KindUse:
				open[b.CallID] = len(out)
				out = append(out, opened(b, &ms[i]))
			case decant.KindResult:
				at, ok := open[b.CallID]
				if !ok {
					continue
				}
				delete(open, b.CallID)
				out[at].close(b)
			}
		}
	}
	return out
}

// opened returns a call that has no result yet.
func opened(b *decant.Block, m *decant.Message) call {
	args := b.Text()
	c := call{Call: tool.Parse(b.Name, args), ID: identity(m), Message: m.Number, Open: true}
	if c.Class == tool.Todo {
		c.Args = args
	}
	return c
}

// close sets how a call ended. Results of reads and searches do not matter.
func (c *call) close(b *decant.Block) {
	c.Open, c.Bad = false, b.Error
	if c.Class != tool.Shell && c.Class != tool.Todo && c.Class != tool.Other {
		return
	}
	text := b.Text()
	o := tool.OutcomeOf(c.Call, text, b.Error)
	c.Bad = o.Bad()
	c.Result = text[:min(len(text), maxResult)]
}
