package chat

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/team"
	"github.com/decantdev/decant/apps/chat/internal/whatif"
	"github.com/decantdev/decant/store"
)

// A Back says what Rewind takes back.
type Back struct{ Talk, Files bool }

// Rewind goes back to before the newest n things that the user said, and returns the oldest of them, with the files that are again what they
// were then. What was said since then stays in the store.
func (c *Chat) Rewind(n int, what Back) (text string, files []string, err error) {
	s := c.Session()
	turns := s.Turns()
	if n < 1 || n > len(turns) {
		return "", nil, fmt.Errorf("there are %d turns to go back: /rewind 1 takes back the newest", len(turns))
	}
	back := turns[len(turns)-n]
	if what.Files {
		if _, files, err = c.restore(calls(s.Messages()[back.First:])); err != nil {
			return "", nil, err
		}
	}
	if what.Talk {
		if err := s.Rewind(back.First); err != nil {
			return "", files, err
		}
		c.rewound, c.kept, c.trial = true, nil, nil
	}
	return back.Text, files, nil
}

// restore takes back what calls have changed in files.
func (c *Chat) restore(calls []call) (id string, files []string, err error) {
	if c.opts.Restore == nil {
		return "", nil, errors.New("nothing is kept of files here")
	}
	ids := make([]string, len(calls))
	for i := range calls {
		ids[i] = calls[i].ID
	}
	return c.opts.Restore(ids...)
}

// A call is a call in a message of the model.
type call struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Name    string `json:"name"`
	Answers string `json:"tool_use_id"` // of a result
	Failed  bool   `json:"is_error"`
}

// calls returns the calls of messages, and which of them have failed.
func calls(messages []stdjson.RawMessage) (out []call) {
	for _, m := range messages {
		var in struct {
			Blocks []call `json:"content"`
		}
		if json.Unmarshal(m, &in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
			continue // a text alone makes no calls
		}
		for _, b := range in.Blocks {
			switch {
			case b.Type == "tool_use":
				out = append(out, b)
			case b.Type == "tool_result" && b.Failed:
				if i := slices.IndexFunc(out, func(c call) bool { return c.ID == b.Answers }); i >= 0 {
					out[i].Failed = true
				}
			}
		}
	}
	return out
}

// Clear begins a new conversation. The old one stays in the store.
func (c *Chat) Clear() { c.begin(c.agent.Session("")) }

// begin makes a session the one that is talked in.
func (c *Chat) begin(s *agent.Session) {
	c.keep(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.rewound, c.kept, c.trial = s, false, nil, nil
	c.meter.Size, c.meter.Pours = 0, 0
}

// SetModel goes on with another model of the same provider.
func (c *Chat) SetModel(ctx context.Context, id string) error {
	was, s := c.meter.Model, c.Session()
	if err := c.use(id); err != nil {
		return err
	}
	next, err := c.agent.Open(ctx, s.ID())
	if errors.Is(err, store.ErrNotFound) { // nothing was said in it yet
		next, err = c.agent.Session(s.ID()), nil
	}
	if err != nil {
		return errors.Join(err, c.use(was))
	}
	size, pours, rewound := c.meter.Size, c.meter.Pours, c.rewound
	c.begin(next)
	c.meter.Size, c.meter.Pours, c.rewound = size, pours, rewound
	return nil
}

// Open goes on with a session that was kept, by its id or the beginning of it; Last names the newest one of the project. With fork it stays as
// it is, and what is said goes into a new one. An unknown one is store.ErrNotFound.
func (c *Chat) Open(ctx context.Context, name string, fork bool) error {
	id, err := c.named(ctx, name)
	if err != nil {
		return err
	}
	s, err := c.agent.Open(ctx, id)
	if err == nil && fork {
		if s, err = s.Fork(""); err == nil {
			c.keepFork(id, s)
		}
	}
	if err != nil {
		return err
	}
	c.begin(s)
	return nil
}

// named returns the id of the session that a name means. One that may mean several is taken for an id.
func (c *Chat) named(ctx context.Context, name string) (string, error) {
	if name == Last {
		return c.last(ctx)
	}
	found, err := c.db.Store().Journals(ctx, store.JournalQuery{Kind: "session", Name: name, Limit: 2})
	if err != nil || len(found) != 1 {
		return name, err
	}
	return found[0].ID, nil
}

// Last stands for the session of the project that changed last.
const Last = "last"

// mostSessions is how many sessions are looked at for one of the project.
const mostSessions = 1000

// last returns the id of the session of the project that changed last.
func (c *Chat) last(ctx context.Context) (string, error) {
	all, err := c.agent.Sessions(ctx, time.Time{}, mostSessions)
	if err != nil {
		return "", err
	}
	for i := range all {
		if all[i].Project == c.opts.Project.Root && all[i].Labels[team.LabelTo] == "" && all[i].Labels[whatif.Label] == "" { // none of a delegate, and none that only answers a what-if
			return all[i].ID, nil
		}
	}
	return "", fmt.Errorf("a session of %s: %w", c.opts.Project.Root, store.ErrNotFound)
}
