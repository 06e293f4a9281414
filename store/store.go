package store

import (
	"context"
	"time"

	"github.com/decantdev/decant"
)

// A Store is a database of conversations with everything that Decant can keep in it. All methods are safe for
// concurrent use and return when their context ends.
//
// Who writes a store need not write all of it: [Complete] makes a Store of a [Core] and of those optional parts
// that come with it. The methods of a missing part return an error that wraps [errors.ErrUnsupported].
type Store interface {
	Core

	// The optional parts.
	Searcher
	Memories
	Claims
	Journals
	Keyring
	Auditor
	Collector
	Checker
	Backuper
}

// Core is the part that every store has: what an engine needs, and a list of what is stored.
type Core interface {
	Matcher
	Loader
	Committer
	Blobs
	Log
	Directory
	Findings

	// Ping reports whether the database can be read and, as far as the store has noticed lately, written. It must be
	// cheap: readiness probes call it. A database that was opened for reading only is ErrReadOnly.
	Ping(ctx context.Context) error

	// Close waits for commits under way and closes the database. Afterwards every method returns ErrClosed.
	Close() error
}

// A Matcher finds the conversation that a request belongs to.
type Matcher interface {
	// Match returns the longest known prefix of chain within the tenant and the client's session,
	// and the lines that hold it. chain is h(1), h(2), ... of the request's blocks (docs/INTERNALS.md,
	// "Whose conversation a request is"). Match.Known is 0 and there are no lines when even h(1) is unknown.
	Match(ctx context.Context, tenant, session string, chain []decant.Hash) (Match, error)

	// Decided returns the conversations of the session that have decisions on blocks whose content is
	// among hashes, at most limit of them, last changed first. A request may continue one of them without
	// sharing a chain with it, if the client truncates or summarises its history.
	Decided(ctx context.Context, tenant, session string, hashes []decant.Hash, limit int) ([]Key, error)
}

// A Loader reads the state of one conversation.
type Loader interface {
	// Version returns the conversation's current version. It is one indexed read, cheap enough to
	// verify a cached state on every request. An unknown conversation is ErrNotFound.
	Version(ctx context.Context, k Key) (int64, error)

	// Load returns the conversation as it was at the given version, or as it is when version is
	// Newest. The caller owns the result.
	Load(ctx context.Context, k Key, version int64) (*State, error)

	// Branch returns what a fork takes over if it shares the first position entries of the conversation
	// as of version: everything that was in force when the conversation had only the first seen entries
	// of that chain, and nothing that was decided later. seen is position, or more if the fork has
	// entries of the parent behind a difference. position is at least 1.
	Branch(ctx context.Context, k Key, version int64, position, seen int) (*Branch, error)

	// Fixed returns a version of system prompt and tools.
	Fixed(ctx context.Context, tenant string, version decant.Hash) (*Fixed, error)
}

// Newest asks Load for the current version.
const Newest int64 = 0

// A Committer writes.
type Committer interface {
	// Commit applies all of b or nothing and returns the conversation's new version. When it
	// returns nil, everything in b survives the death of the process.
	//
	// The errors to branch on: ErrConflict when the conversation is no longer at b.Version, or when
	// b creates a line that another commit has created; ErrNotFound when b.Version is not 0 and the
	// conversation does not exist (it may have been collected), or when b refers to a blob, a parent
	// or a fixed part that is neither in b nor in the store; ErrFull and ErrReadOnly.
	Commit(ctx context.Context, b *Batch) (int64, error)

	// Record stores what happened around a conversation without changing what any view depends on:
	// it needs no version and makes none. The conversation must exist.
	Record(ctx context.Context, k Key, e *Events) error

	// Book stores spends of calls that belong to no stored conversation; the key names what they are for. A spend
	// with the id of an earlier one replaces it and keeps its time, so that the real cost can replace an
	// estimate.
	Book(ctx context.Context, k Key, spends []Spend) error
}

// Blobs reads content by hash.
type Blobs interface {
	// Blobs returns the contents with the given hashes, in that order. The caller owns them. If the
	// tenant has no content for a hash, the error wraps ErrNotFound and names the hash.
	Blobs(ctx context.Context, tenant string, hashes ...decant.Hash) ([][]byte, error)

	// Resolve returns what a handle refers to. It looks in the conversation of the key and those that
	// it was forked from, or in everything of the tenant if Key.ID is empty. A block's handle may have
	// more than 8 digits; if it matches several contents, the error is an *AmbiguousError. The handle
	// of a checkpoint, "c:3", needs a conversation.
	Resolve(ctx context.Context, k Key, h decant.Handle) (*Original, error)
}

// A Log reads what Record and Commit wrote about requests and money.
type Log interface {
	// Requests returns the conversation's requests, oldest first. Each names the version whose
	// decisions were in force: Load with it gives the state that its view was made from.
	Requests(ctx context.Context, k Key) ([]Request, error)

	// Standing returns the newest requests of the conversation, newest first and at most limit of
	// them, whose entries are still the first Length ones of its chain.
	Standing(ctx context.Context, k Key, limit int) ([]Request, error)

	// Spending returns the sums of what the query selects, by day and model, in that order.
	Spending(ctx context.Context, q SpendQuery) ([]Total, error)

	// Spent returns the sum of what the query selects, own calls included, in a time that does not depend on how
	// much was booked. It counts whole days (UTC), from the day of q.Since to the day before that of q.Until.
	// With q.Conversation it returns all that this conversation has ever spent, nothing if it does not exist.
	Spent(ctx context.Context, q SpendQuery) (Sum, error)
}

// A Directory lists conversations.
type Directory interface {
	// Conversations returns the conversations that f selects, last changed first.
	Conversations(ctx context.Context, f Filter) ([]Summary, error)

	// Tenants returns all tenants with stored conversations, spends, memories or journals, in the order of their names.
	Tenants(ctx context.Context) ([]string, error)
}

// A Searcher finds text in stored conversations. Index fills the index, and the first Search adds what is
// still missing; a commit only notes what must be indexed.
type Searcher interface {
	// Search returns the blocks that hold every word of q.Text, best first.
	Search(ctx context.Context, q Query) ([]Hit, error)

	// Index adds up to limit texts to the index (all when limit is 0) and returns how many it
	// added. Call it when idle.
	Index(ctx context.Context, limit int) (int, error)
}

// Claims settles who does work that must be done once, by whichever process comes first.
type Claims interface {
	// Claim claims a piece of work about a conversation, and reports whether it is the first to do so. A claim lasts as
	// long as the conversation: work that fails is not done again. An unknown conversation is ErrNotFound.
	Claim(ctx context.Context, k Key, work string, at time.Time) (first bool, err error)

	// Claimed returns the work about a conversation that was claimed, in the order of its names.
	Claimed(ctx context.Context, k Key) ([]string, error)
}

// Findings stores what was learned about providers, for all tenants and nodes.
type Findings interface {
	// Findings returns what is known about an account, ordered by topic. The caller decides when a finding
	// is too old.
	Findings(ctx context.Context, upstream, organization string) ([]Finding, error)

	// Find stores findings. Each replaces one on the same topic that is not newer.
	Find(ctx context.Context, fs ...Finding) error
}

// A Collector removes what is stored.
type Collector interface {
	// GC removes conversations by the policy, and blobs that nothing refers to any more, and reports what
	// it removed. An original is kept as long as a decision on it. What is remembered in the scope of a conversation goes
	// with it, and so do its journals. What is remembered of a project or a user stays.
	GC(ctx context.Context, p Policy) (*Collected, error)

	// Forget removes conversations, pinned ones too, with everything that only they hold. Journals of them go, and so
	// does what is remembered from them, unless another conversation has confirmed it: then that one becomes its
	// source. Spending stays, as figures. A store that can examine its own files leaves nothing in them and reports
	// in Collected.Proof what a search for the removed content has found.
	Forget(ctx context.Context, f Forgetting) (*Collected, error)
}

// A Checker examines itself.
type Checker interface {
	// Check examines the database and returns what is wrong with it, nothing if it is sound. It reads everything.
	Check(ctx context.Context) ([]string, error)
}

// A Backuper copies itself to a file. A database on a server is backed up with the tools of that server instead.
type Backuper interface {
	// Backup writes a consistent copy of the database to a new file, while others write. It overwrites nothing.
	Backup(ctx context.Context, path string) error
}
