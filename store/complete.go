package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/memory"
)

// Complete makes a Store of a core and of the optional parts that it implements: a core that is a [Searcher] searches,
// and so on. The methods of each part that it lacks return an error that wraps [errors.ErrUnsupported] and names what
// the database cannot do.
func Complete(c Core) Store {
	if s, ok := c.(Store); ok {
		return s
	}
	return &completed{
		Core:      c,
		Searcher:  part[Searcher](c, "search text"),
		memories:  part[Memories](c, "keep memories"),
		Claims:    part[Claims](c, "settle who does what is done once"),
		journals:  part[Journals](c, "keep journals of sessions"),
		Keyring:   part[Keyring](c, "keep keys of tenants"),
		Auditor:   part[Auditor](c, "record who changed it"),
		Collector: part[Collector](c, "remove conversations"),
		Checker:   part[Checker](c, "check itself"),
		Backuper:  part[Backuper](c, "copy itself to a file; use the tools of its server"),
	}
}

// completed is a store made of parts.
type completed struct {
	Core
	Searcher
	memories
	Claims
	journals
	Keyring
	Auditor
	Collector
	Checker
	Backuper
}

// These have a method of their own name, which an embedded field of that name would hide.
type (
	memories interface{ Memories }
	journals interface{ Journals }
)

// part returns a part of a core. If the core lacks it, each method of the result says that the database cannot do it.
func part[P any](c Core, does string) P {
	p, ok := c.(P)
	if !ok {
		p = any(failed{fmt.Errorf("this database cannot %s: %w", does, errors.ErrUnsupported)}).(P) // failed has every part
	}
	return p
}

// Failed returns a store in place of a database that cannot be opened: every method fails with err. So a gateway can
// start without its database, and treats it like one that fails later.
func Failed(err error) Store { return failed{err} }

// failed fails with its error, whatever it is asked.
type failed struct{ err error }

func (f failed) Ping(context.Context) error { return f.err }
func (f failed) Close() error               { return nil }

func (f failed) Match(context.Context, string, string, []decant.Hash) (m Match, err error) {
	return m, f.err
}
func (f failed) Decided(context.Context, string, string, []decant.Hash, int) ([]Key, error) {
	return nil, f.err
}

func (f failed) Version(context.Context, Key) (int64, error)                   { return 0, f.err }
func (f failed) Load(context.Context, Key, int64) (*State, error)              { return nil, f.err }
func (f failed) Branch(context.Context, Key, int64, int, int) (*Branch, error) { return nil, f.err }
func (f failed) Fixed(context.Context, string, decant.Hash) (*Fixed, error)    { return nil, f.err }

func (f failed) Commit(context.Context, *Batch) (int64, error)                   { return 0, f.err }
func (f failed) Record(context.Context, Key, *Events) error                      { return f.err }
func (f failed) Book(context.Context, Key, []Spend) error                        { return f.err }
func (f failed) Blobs(context.Context, string, ...decant.Hash) ([][]byte, error) { return nil, f.err }
func (f failed) Resolve(context.Context, Key, decant.Handle) (*Original, error)  { return nil, f.err }

func (f failed) Requests(context.Context, Key) ([]Request, error)         { return nil, f.err }
func (f failed) Standing(context.Context, Key, int) ([]Request, error)    { return nil, f.err }
func (f failed) Spending(context.Context, SpendQuery) ([]Total, error)    { return nil, f.err }
func (f failed) Spent(context.Context, SpendQuery) (s Sum, err error)     { return s, f.err }
func (f failed) Conversations(context.Context, Filter) ([]Summary, error) { return nil, f.err }
func (f failed) Tenants(context.Context) ([]string, error)                { return nil, f.err }

func (f failed) Findings(context.Context, string, string) ([]Finding, error) { return nil, f.err }
func (f failed) Find(context.Context, ...Finding) error                      { return f.err }

func (f failed) Search(context.Context, Query) ([]Hit, error) { return nil, f.err }
func (f failed) Index(context.Context, int) (int, error)      { return 0, f.err }

func (f failed) Memories(context.Context, MemoryQuery) ([]memory.Item, error) { return nil, f.err }
func (f failed) Revise(context.Context, string, memory.Scope, func([]memory.Item) ([]memory.Item, error)) error {
	return f.err
}

func (f failed) Claim(context.Context, Key, string, time.Time) (bool, error) { return false, f.err }
func (f failed) Claimed(context.Context, Key) ([]string, error)              { return nil, f.err }

func (f failed) AddSteps(context.Context, *Addition) error                 { return f.err }
func (f failed) Journal(context.Context, Key) (*Journal, error)            { return nil, f.err }
func (f failed) Journals(context.Context, JournalQuery) ([]Journal, error) { return nil, f.err }
func (f failed) Steps(context.Context, Key, int, int) ([][]byte, error)    { return nil, f.err }
func (f failed) DropJournal(context.Context, Key) error                    { return f.err }

func (f failed) AddKey(context.Context, TenantKey, Act) error           { return f.err }
func (f failed) RevokeKey(context.Context, string, Act) error           { return f.err }
func (f failed) TenantKeys(context.Context) ([]TenantKey, error)        { return nil, f.err }
func (f failed) Audit(context.Context, Act) error                       { return f.err }
func (f failed) Acts(context.Context, ActQuery) ([]Act, error)          { return nil, f.err }
func (f failed) GC(context.Context, Policy) (*Collected, error)         { return nil, f.err }
func (f failed) Forget(context.Context, Forgetting) (*Collected, error) { return nil, f.err }
func (f failed) Check(context.Context) ([]string, error)                { return nil, f.err }
func (f failed) Backup(context.Context, string) error                   { return f.err }
