// Package notebook keeps what is learned in a repository: observations, rules, tasks, decisions and compacted
// sessions.
//
// The records are items of package memory in a store, one notebook for each repository. [Book.Sync] writes
// them as Markdown files into the notebook's folder, and reads back what people edit there. Observations that
// people confirm become rules, those that are not confirmed are archived, and completed tasks shrink to a row
// of a table. Scans on Sundays and on the 1st do most of that, each once ([Book.CatchUp]).
//
// Package scan reads recorded sessions; [Book.Learn] records what it finds. [RunHook] answers the hooks of
// Claude Code. It is here because a hook opens the notebook anyway: what delays an agent is the start of the
// program, not one package more.
//
// The files lie in a working tree that other people can commit to, so they are hostile input: see workTree.
package notebook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// Options say which notebook Open opens.
type Options struct {
	Memories store.Memories
	Tenant   string
	Root     string           // a folder in the repository
	Now      func() time.Time // nil: time.Now
	Settings Settings         // the zero value: those of the repository
	DryRun   bool             // change neither the store nor files
}

// Book is a repository's notebook. It is safe for concurrent use.
type Book struct {
	o     Options
	repo  repository
	scope memory.Scope
	count func(string) int
}

// Errors to test with errors.Is.
var (
	// ErrOff means that the notebook is switched off: nothing is recorded.
	ErrOff = errors.New("the notebook is off: \"decant notebook on\" switches it on")

	// ErrNotFound means that no record has the id or the text.
	ErrNotFound = errors.New("there is no such record")

	// ErrMayNot means that a confirmation comes from somebody who may not confirm.
	ErrMayNot = errors.New("only a person's words, a person's hand and a rule's check confirm something")
)

// Open opens the notebook of a repository. It writes nothing.
func Open(o Options) (*Book, error) {
	repo, err := findRepository(cmp.Or(o.Root, "."))
	if err != nil {
		return nil, err
	}
	if o.Settings == (Settings{}) {
		if o.Settings, err = loadSettings(repo.Root); err != nil {
			return nil, err
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.DryRun {
		o.Memories = &overlay{under: o.Memories}
	}
	return &Book{o: o, repo: repo, scope: scope(repo), count: token.For(token.Model{}).Count}, nil
}

func scope(repo repository) memory.Scope {
	return memory.Scope{Level: memory.Project, Name: "notebook " + repo.Key}
}

// ScopeOf returns the scope in which the notebook of a folder's repository keeps its records.
func ScopeOf(dir string) (memory.Scope, error) {
	repo, err := findRepository(cmp.Or(dir, "."))
	return scope(repo), err
}

// Dir returns the folder of the notebook's files.
func (b *Book) Dir() string { return filepath.Join(b.repo.Root, b.o.Settings.Dir) }

// file returns the name of one of the notebook's files in the working tree.
func (b *Book) file(name string) string { return filepath.Join(b.o.Settings.Dir, name) }

// tree returns the working tree.
func (b *Book) tree() workTree { return workTree(b.repo.Root) }

// Root returns the top of the repository.
func (b *Book) Root() string { return b.repo.Root }

// Name returns the name of the repository, the same in all its worktrees.
func (b *Book) Name() string { return b.repo.Name }

// Owns reports whether a folder belongs to the repository: to a worktree or a clone, or to a deleted worktree
// in which the notebook was used.
func (b *Book) Owns(ctx context.Context, dir string) bool {
	if dir == "" {
		return false
	}
	if repo, err := findRepository(dir); err == nil {
		return repo.Key == b.repo.Key
	}
	roots := []string{b.repo.Root}
	if s, err := b.State(ctx); err == nil {
		roots = append(roots, s.Roots...)
	}
	return slices.ContainsFunc(roots, func(root string) bool {
		rel, err := filepath.Rel(root, dir)
		return err == nil && filepath.IsLocal(rel)
	})
}

// Settings returns the settings in force.
func (b *Book) Settings() Settings { return b.o.Settings }

// now returns the time at the precision of stores.
func (b *Book) now() time.Time { return b.o.Now().Truncate(time.Microsecond) }

// most is the limit of records that are read.
const most = 1 << 20

// read returns the contents of the notebook.
func (b *Book) read(ctx context.Context) (*ledger, error) {
	items, err := b.o.Memories.Memories(ctx, everything(b.o.Tenant, b.scope))
	if err != nil {
		return nil, err
	}
	return b.ledger(items)
}

// everything selects all items of a scope.
func everything(tenant string, scope memory.Scope) store.MemoryQuery {
	return store.MemoryQuery{Tenant: tenant, Scopes: []memory.Scope{scope}, Archived: true, Limit: most}
}

// ledger unpacks items.
func (b *Book) ledger(items []memory.Item) (*ledger, error) {
	l := &ledger{scope: b.scope, root: b.repo.Root, now: b.now(), set: b.o.Settings}
	for i := range items {
		r, err := RecordOf(items[i])
		if err != nil {
			return nil, err
		}
		if r.Own != nil {
			l.own = r.Own
		}
		l.records = append(l.records, &r)
	}
	slices.SortFunc(l.records, func(x, y *Record) int {
		return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.ID, y.ID))
	})
	return l, nil
}

// change changes the contents of the notebook. While it is off the error is ErrOff, unless always is set. If
// the store lacks a conversation that a source names, do runs again without conversations in sources.
func (b *Book) change(ctx context.Context, always bool, do func(*ledger) error) error {
	try := func(rootless bool) error {
		return b.o.Memories.Revise(ctx, b.o.Tenant, b.scope, func(items []memory.Item) ([]memory.Item, error) {
			l, err := b.ledger(items)
			if err != nil {
				return nil, err
			}
			if l.state(); !always && (l.own.Off || !b.o.Settings.Enabled) {
				return nil, ErrOff
			}
			l.rootless = rootless
			if err := do(l); err != nil {
				return nil, err
			}
			return l.items()
		})
	}
	err := try(false)
	if errors.Is(err, store.ErrNotFound) {
		err = try(true)
	}
	return err
}

// A ledger is the contents of a notebook during a change.
type ledger struct {
	records  []*Record
	own      *State
	scope    memory.Scope
	root     string // of the working tree
	now      time.Time
	set      Settings
	rootless bool // leave conversations out of sources
}

// state returns the notebook's own state, which the first call makes.
func (l *ledger) state() *State {
	if l.own == nil {
		const text = "The notebook itself: its files and its scans."
		it := memory.Item{Kind: memory.KindMemory, Scope: l.scope, Text: text, Created: l.now, Confirmed: l.now}
		r := &Record{Item: it}
		r.ID = recordID(r.Kind, l.scope.Name, time.Time{}, "")
		r.Type = stateType
		r.Own = &State{Since: l.now, Weekly: l.now, Monthly: l.now}
		l.own = r.Own
		l.records = append(l.records, r)
	}
	if l.own.Trees == nil {
		l.own.Trees = map[string]map[string]pageState{}
	}
	if l.own.Trees[l.root] == nil {
		l.own.Trees[l.root] = map[string]pageState{}
	}
	return l.own
}

// pages returns the state of the files of this working tree. Each tree has its own: a record that only one
// tree lacks was not deleted there.
func (l *ledger) pages() map[string]pageState { return l.state().Trees[l.root] }

// items packs the records for the store.
func (l *ledger) items() (out []memory.Item, err error) {
	for _, r := range l.records {
		it, err := r.Packed()
		if err != nil {
			return nil, err
		}
		out = append(out, it)
	}
	return out, nil
}

// source returns a source that the store accepts.
func (l *ledger) source(s memory.Source) memory.Source {
	if l.rootless {
		s.Conversation = ""
	}
	return s
}

// add adds a record.
func (l *ledger) add(kind memory.Kind, text string, from memory.Source) (*Record, error) {
	it, err := memory.New("", kind, l.scope, text, l.source(from), l.now)
	if err != nil {
		return nil, err
	}
	it.ID = recordID(kind, it.Text, l.now, from.Conversation)
	for n := 0; l.byID(it.ID) != nil; n++ {
		it.ID = recordID(kind, it.Text, l.now, fmt.Sprint(from.Conversation, n))
	}
	r := &Record{Item: it}
	r.Session = from.Conversation
	l.records = append(l.records, r)
	l.noteSession(from.Conversation)
	return r, nil
}

// noteSession counts a session once.
func (l *ledger) noteSession(session string) {
	s := l.state()
	if session == "" || slices.Contains(s.Recent, session) {
		return
	}
	s.Sessions++
	s.Recent = append(s.Recent, session)
	s.Recent = s.Recent[max(0, len(s.Recent)-mostSessions):]
}

// mostSessions is how many ids of sessions are kept, so that each is counted once.
const mostSessions = 200

// byID returns the record with an id, or nil.
func (l *ledger) byID(id string) *Record {
	if i := slices.IndexFunc(l.records, func(r *Record) bool { return r.ID == id }); i >= 0 {
		return l.records[i]
	}
	return nil
}

// named returns the record with an id or the beginning of one, a rule's number (#3), or a task's name.
func (l *ledger) named(name string) (*Record, error) {
	if name = strings.TrimSpace(name); name == "" {
		return nil, fmt.Errorf("%w: name one by its id", ErrNotFound)
	}
	var found []*Record
	for _, r := range l.records {
		switch {
		case r.Own != nil:
		case r.Task != nil && strings.EqualFold(r.Task.Ref, name), r.Number > 0 && name == fmt.Sprintf("#%d", r.Number):
			return r, nil
		case strings.HasPrefix(r.ID, name), strings.HasPrefix(r.ID, "m:"+name):
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w as %q: \"decant notebook list --all\" shows what there is", ErrNotFound, name)
	case 1:
		return found[0], nil
	}
	const several = "%q may be %d records, such as %s and %s: give more of the id"
	return nil, fmt.Errorf(several, name, len(found), found[0].ID, found[1].ID)
}
