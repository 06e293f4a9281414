package chatserver

import (
	stdjson "encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/store"
)

// A message is something that was said, with the calls that it asks for and what they returned.
type message struct {
	Index       int          `json:"index"`
	Role        string       `json:"role"`
	Text        string       `json:"text,omitzero"`
	Attachments []attachment `json:"attachments,omitempty"`
	Calls       []*call      `json:"calls,omitempty"`
}

// An attachment is what was shown beside a text.
type attachment struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
}

// A call is a call of a tool.
type call struct {
	ID        string             `json:"id"`
	Tool      string             `json:"tool"`
	Arguments stdjson.RawMessage `json:"arguments"`
	Preview   string             `json:"preview,omitzero"`
	Result    string             `json:"result,omitzero"`
	Error     bool               `json:"error,omitzero"`
	Waiting   bool               `json:"waiting,omitzero"`
}

// callOf returns a call as it is shown.
func callOf(c *agent.Call) *call {
	return &call{ID: c.ID, Tool: c.Tool, Arguments: c.Arguments, Preview: c.Preview, Error: c.Error}
}

// A block is one of the Messages API, as far as it is shown.
type block struct {
	Type   string             `json:"type"`
	Text   string             `json:"text"`
	ID     string             `json:"id"`
	Name   string             `json:"name"`
	Title  string             `json:"title"`
	Input  stdjson.RawMessage `json:"input"`
	Of     string             `json:"tool_use_id"`
	Error  bool               `json:"is_error"`
	Inside stdjson.RawMessage `json:"content"`
	Source struct {
		MediaType string `json:"media_type"`
	} `json:"source"`
}

// shown returns what was said in a session. Results stand with their calls.
func shown(s *agent.Session) []message {
	out := []message{}
	calls := map[string]*call{}
	for i, raw := range s.Messages() {
		var m struct {
			Role   string  `json:"role"`
			Blocks []block `json:"content"`
		}
		if json.Unmarshal(raw, &m, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
			continue // none that a session writes
		}
		one := message{Index: i, Role: m.Role}
		for k := range m.Blocks {
			if b := &m.Blocks[k]; b.Type != "text" || m.Role != "user" || !s.Own(b.Text) {
				one.show(b, calls)
			}
		}
		if one.Text != "" || len(one.Calls) > 0 || len(one.Attachments) > 0 {
			out = append(out, one)
		}
	}
	for _, c := range s.Waiting() {
		if call := calls[c.ID]; call != nil {
			call.Waiting, call.Preview = true, c.Preview
		}
	}
	return out
}

// show adds a block to a message, or a result to its call.
func (m *message) show(b *block, calls map[string]*call) {
	switch b.Type {
	case "text":
		if m.Text != "" {
			m.Text += "\n\n"
		}
		m.Text += b.Text
	case "tool_use":
		c := &call{ID: b.ID, Tool: b.Name, Arguments: b.Input}
		calls[b.ID] = c
		m.Calls = append(m.Calls, c)
	case "tool_result":
		if c := calls[b.Of]; c != nil {
			c.Result, c.Error = textIn(b.Inside), b.Error
		}
	case "image", "document":
		m.Attachments = append(m.Attachments, attachment{Name: b.Title, MediaType: b.Source.MediaType})
	}
}

// textIn returns the texts of a content, which is a text or a list of blocks.
func textIn(content stdjson.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []block
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}

// plain returns messages as text for people.
func plain(ms []message) string {
	var b strings.Builder
	for _, m := range ms {
		fmt.Fprintf(&b, "## %s\n\n", m.Role)
		for _, a := range m.Attachments {
			fmt.Fprintf(&b, "[%s, %s]\n\n", a.Name, a.MediaType)
		}
		if m.Text != "" {
			fmt.Fprintf(&b, "%s\n\n", m.Text)
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "%s %s\n\n%s\n\n", c.Tool, c.Arguments, c.Result)
		}
	}
	return b.String()
}

// A summary is what is known of a session as a whole.
type summary struct {
	ID          string    `json:"id"`
	Agent       string    `json:"agent"`
	Title       string    `json:"title"`
	Created     time.Time `json:"created"`
	Updated     time.Time `json:"updated"`
	Turns       int       `json:"turns"`
	Running     bool      `json:"running,omitzero"`
	Waiting     bool      `json:"waiting,omitzero"`
	Interrupted bool      `json:"interrupted,omitzero"`
	Archived    bool      `json:"archived,omitzero"`
	Spent       spent     `json:"spent"`
}

// A spent amount is what runs have used.
type spent struct {
	Turns  int     `json:"turns"`
	Tokens int     `json:"tokens"`
	USD    float64 `json:"usd"`
}

func spentOf(s agent.Spent) spent {
	return spent{Turns: s.Turns, Tokens: s.Tokens(), USD: s.Money.USD()}
}

// The labels of sessions. Those of other programs on the database name no agent: they are none of the service's.
const (
	labelAgent    = "agent"
	labelArchived = "archived"
)

// sessionKind is the kind of the journals of sessions.
const sessionKind = "session"

// summaryOf returns what a session wrote of itself.
func summaryOf(j *store.Journal) (*agent.Summary, error) {
	sum := &agent.Summary{ID: j.ID, Created: j.Created, Updated: j.Updated}
	if err := json.Unmarshal(j.Head, sum); err != nil {
		return nil, fmt.Errorf("session %s: %w: %w", j.ID, store.ErrCorrupt, err)
	}
	return sum, nil
}
