package store

import (
	"context"
	"time"

	"github.com/decantdev/decant"
)

// Failed stands in for a database that cannot be opened: every method fails with Err. So its users do what they do
// when a database fails, and a gateway can start without one.
type Failed struct{ Err error }

// Match implements Matcher.
func (f Failed) Match(context.Context, string, string, []decant.Hash) (Match, error) {
	return Match{}, f.Err
}

// Decided implements Matcher.
func (f Failed) Decided(context.Context, string, string, []decant.Hash, int) ([]Key, error) {
	return nil, f.Err
}

// Version implements Loader.
func (f Failed) Version(context.Context, Key) (int64, error) { return 0, f.Err }

// Load implements Loader.
func (f Failed) Load(context.Context, Key, int64) (*State, error) { return nil, f.Err }

// Branch implements Loader.
func (f Failed) Branch(context.Context, Key, int64, int, int) (*Branch, error) { return nil, f.Err }

// Fixed implements Loader.
func (f Failed) Fixed(context.Context, string, decant.Hash) (*Fixed, error) { return nil, f.Err }

// Commit implements Committer.
func (f Failed) Commit(context.Context, *Batch) (int64, error) { return 0, f.Err }

// Record implements Committer.
func (f Failed) Record(context.Context, Key, *Events) error { return f.Err }

// Blobs implements Blobs.
func (f Failed) Blobs(context.Context, string, ...decant.Hash) ([][]byte, error) { return nil, f.Err }

// Resolve implements Blobs.
func (f Failed) Resolve(context.Context, Key, decant.Handle) (*Original, error) { return nil, f.Err }

// Requests implements Log.
func (f Failed) Requests(context.Context, Key) ([]Request, error) { return nil, f.Err }

// Standing implements Log.
func (f Failed) Standing(context.Context, Key, int) ([]Request, error) { return nil, f.Err }

// Spending implements Log.
func (f Failed) Spending(context.Context, SpendQuery) ([]Total, error) { return nil, f.Err }

// Spent implements Log.
func (f Failed) Spent(context.Context, SpendQuery) (Sum, error) { return Sum{}, f.Err }

// Book implements Committer.
func (f Failed) Book(context.Context, Key, []Spend) error { return f.Err }

// Claim implements Claims.
func (f Failed) Claim(context.Context, Key, string, time.Time) (bool, error) { return false, f.Err }

// AddSteps implements Journals.
func (f Failed) AddSteps(context.Context, *Addition) error { return f.Err }

// Journal implements Journals.
func (f Failed) Journal(context.Context, Key) (*Journal, error) { return nil, f.Err }

// Journals implements Journals.
func (f Failed) Journals(context.Context, JournalQuery) ([]Journal, error) { return nil, f.Err }

// Steps implements Journals.
func (f Failed) Steps(context.Context, Key, int, int) ([][]byte, error) { return nil, f.Err }

// DropJournal implements Journals.
func (f Failed) DropJournal(context.Context, Key) error { return f.Err }

// Claimed implements Claims.
func (f Failed) Claimed(context.Context, Key) ([]string, error) { return nil, f.Err }

// Findings implements Findings.
func (f Failed) Findings(context.Context, string, string) ([]Finding, error) { return nil, f.Err }

// Find implements Findings.
func (f Failed) Find(context.Context, ...Finding) error { return f.Err }

// Ping says why nothing works.
func (f Failed) Ping(context.Context) error { return f.Err }

// Close does nothing.
func (f Failed) Close() error { return nil }

// AddKey implements Keyring.
func (f Failed) AddKey(context.Context, TenantKey, Act) error { return f.Err }

// RevokeKey implements Keyring.
func (f Failed) RevokeKey(context.Context, string, Act) error { return f.Err }

// TenantKeys implements Keyring.
func (f Failed) TenantKeys(context.Context) ([]TenantKey, error) { return nil, f.Err }
