package chat

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"errors"
	"slices"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/remember"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

// An Undone is what was taken back, or what stands in its place.
type Undone struct {
	Text     string   // what the user had said
	Files    []string // that are now what they were
	Memories []string // texts of memories that are now what they were
	Stays    []string // tools whose calls may have changed what nothing can take back
	Session  string   // that is gone back to, empty: it is the same
}

// errNothing means that nothing was said.
var errNothing = errors.New("there is nothing to take back: nothing was said yet")

// UndoTurn takes back the newest thing that the user said, with the changes that its calls have made to files and memories; directly after Keep,
// what that has done. Where files have changed since, nothing is taken back.
func (c *Chat) UndoTurn(ctx context.Context) (*Undone, error) {
	if c.kept != nil {
		return c.unkeep(ctx)
	}
	s := c.Session()
	turns := s.Turns()
	if len(turns) == 0 {
		return nil, errNothing
	}
	last := turns[len(turns)-1]
	b, err := c.takeBack(ctx, s, last.First, nil)
	if err != nil {
		return nil, err
	}
	if err := s.Rewind(last.First); err != nil {
		return nil, errors.Join(err, c.putBack(ctx, b))
	}
	c.rewound, c.trial = true, nil
	b.undone.Text = last.Text
	return &b.undone, nil
}

// A back is what was taken back of files and memories, and how it is put back.
type back struct {
	undone Undone
	files  string // of Options.Restore; empty: nothing was changed
	taken  remember.Taken
}

// changesFiles are the tools whose changes Options.Restore takes back.
var changesFiles = []string{"write", "edit"}

// takeBack takes back what the calls of a session have changed in files and memories from a message on, but for some of them.
func (c *Chat) takeBack(ctx context.Context, s *agent.Session, first int, but []string) (b back, err error) {
	messages := s.Messages()
	made := slices.DeleteFunc(calls(messages[first:]), func(x call) bool { return slices.Contains(but, x.ID) })
	var files []call
	for _, x := range made {
		switch {
		case slices.Contains(changesFiles, x.Name) && c.opts.Restore != nil:
			files = append(files, x)
		case c.changes(x.Name) && x.Name != saves && !slices.Contains(b.undone.Stays, x.Name):
			b.undone.Stays = append(b.undone.Stays, x.Name)
		}
	}
	if len(files) > 0 {
		if b.files, b.undone.Files, err = c.restore(files); err != nil {
			return b, err
		}
		if i := slices.IndexFunc(files, func(x call) bool { return !x.Failed }); i >= 0 && len(b.undone.Files) == 0 {
			b.undone.Stays = append(b.undone.Stays, files[i].Name) // nothing is kept of it: another process has changed the file
		}
	}
	if slices.ContainsFunc(made, func(x call) bool { return x.Name == saves }) {
		b.taken, err = c.forget(ctx, s, messages, first, but)
	}
	if err != nil {
		return b, errors.Join(err, c.putBack(ctx, b))
	}
	b.undone.Memories = textsOf(b.taken.Items)
	return b, nil
}

// saves is the tool whose changes package remember takes back.
const saves = "save_memory"

// changes reports whether calls of a tool may change something.
func (c *Chat) changes(name string) bool {
	i := slices.IndexFunc(c.tools, func(t agent.Tool) bool { return t.Name == name })
	return i >= 0 && !c.tools[i].ReadOnly
}

// forget takes back what a session has saved from a message on.
func (c *Chat) forget(ctx context.Context, s *agent.Session, messages []stdjson.RawMessage, first int, but []string) (remember.Taken, error) {
	if err := c.db.Engine().Flush(ctx); err != nil {
		return remember.Taken{}, err
	}
	found, err := c.db.Store().Conversations(ctx, store.Filter{Session: s.Root()})
	if err != nil {
		return remember.Taken{}, err
	}
	var ids []string
	for i := range found {
		ids = append(ids, found[i].ID)
	}
	return remember.TakeBack(ctx, c.memory, ids, messages, first, but...)
}

// putBack makes what was taken back what it was.
func (c *Chat) putBack(ctx context.Context, b back) error {
	err := remember.PutBack(ctx, c.memory, b.taken)
	if b.files == "" {
		return err
	}
	_, _, fault := c.opts.Restore(b.files)
	return errors.Join(err, fault)
}

// textsOf returns what items say.
func textsOf(items []memory.Item) (out []string) {
	for i := range items {
		out = append(out, cmp.Or(items[i].Text, items[i].ID))
	}
	return out
}
