package store

import (
	"context"
	"io"

	"github.com/decantdev/decant"
)

// A Store is a database of conversations. All methods are safe for concurrent use and return when
// their context ends.
type Store interface {
	Matcher
	Loader
	Committer
	Blobs
	Log
	Directory
	Searcher
	Findings
	Keyring
	Auditor
	Keeper
	io.Closer // waits for commits under way; afterwards every method returns ErrClosed
}

// A Matcher finds the conversation that a request belongs to.
type Matcher interface {
	// Match returns the longest known prefix of chain within the tenant and the client's session,
	// and the lines that hold it. chain is h(1), h(2), ... of the request's blocks (docs/ARCHITECTURE.md,
	// "Whose conversation a request is"). Match.Known is 0 and there are no lines when even h(1) is unknown.
	Match(ctx context.Context, tenant, session string, chain []decant.Hash) (Match, error)

	// Decided returns the conversations of the session that have decided about blocks whose content
	// is among hashes, at most limit of them, last changed first: those that a request may go on from
	// which shares no chain with them, because the client truncates or summarises its history.
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

	// Branch returns what a fork takes over that shares the first position entries of the
	// conversation as of version: everything that was in force when it had nothing but the first seen
	// entries of that chain, and nothing that was decided later. seen is position, or more when the
	// fork has entries of the parent behind a difference. position is at least 1.
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

	// Book stores spends of calls that belong to no conversation that is stored; the key names what they are
	// for. One with the id of an earlier one takes its place and keeps its time: so an estimate becomes what it
	// came to.
	Book(ctx context.Context, k Key, spends []Spend) error
}

// Blobs reads content by hash.
type Blobs interface {
	// Blobs returns the contents with the given hashes, in that order. The caller owns them.
	// A hash that the tenant has no content for is ErrNotFound, which names it.
	Blobs(ctx context.Context, tenant string, hashes ...decant.Hash) ([][]byte, error)

	// Resolve returns what a handle stands for. With a conversation it looks there and in the
	// conversations that it was forked from; with an empty Key.ID in all of the tenant. A handle
	// of a block may have more than 8 digits; one that fits several contents is an
	// *AmbiguousError. The handle of a checkpoint, "c:3", needs a conversation.
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

	// Spent returns the sum of what the query selects, own calls included, at a cost that does not grow with
	// what was booked. It goes by whole days, UTC: those from that of q.Since to the one before that of q.Until.
	// With q.Conversation it is all that this one has spent, whenever; of one that is not there it is nothing.
	Spent(ctx context.Context, q SpendQuery) (Sum, error)
}

// A Directory lists conversations.
type Directory interface {
	// Conversations returns the conversations that f selects, last changed first.
	Conversations(ctx context.Context, f Filter) ([]Summary, error)

	// Tenants returns all tenants that something was kept or booked for, in the order of their names.
	Tenants(ctx context.Context) ([]string, error)
}

// A Searcher finds text in the archive. The index is filled by Index and, for what is still
// missing, by the first Search; a commit only notes what has to be indexed.
type Searcher interface {
	// Search returns the blocks that hold every word of q.Text, best first.
	Search(ctx context.Context, q Query) ([]Hit, error)

	// Index adds up to limit texts to the index (all when limit is 0) and returns how many it
	// added. Call it when idle.
	Index(ctx context.Context, limit int) (int, error)
}

// Findings keeps what was found out about providers, for all tenants and nodes alike.
type Findings interface {
	// Findings returns what is known about an account, ordered by topic. Whoever reads it decides when a
	// finding is too old.
	Findings(ctx context.Context, upstream, organization string) ([]Finding, error)

	// Find stores findings, each in place of one on the same topic that is not newer.
	Find(ctx context.Context, fs ...Finding) error
}

// A Keeper looks after the database itself.
type Keeper interface {
	// GC removes conversations by the policy and the blobs that nothing refers to any longer, and
	// reports what it removed. An original is kept as long as a decision on it.
	GC(ctx context.Context, p Policy) (*Collected, error)

	// Forget removes conversations, pinned ones too, with everything that only they hold, and leaves nothing of
	// it in the files of the database; Collected.Proof says what looking for it there has found. What was spent
	// stays, as figures.
	Forget(ctx context.Context, f Forgetting) (*Collected, error)

	// Check examines the database and returns what is wrong with it, nothing when it is sound.
	// It reads everything.
	Check(ctx context.Context) ([]string, error)

	// Backup writes a consistent copy of the database to a new file while others go on writing.
	Backup(ctx context.Context, path string) error
}
