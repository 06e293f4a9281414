package store

import "time"

// A Policy says what GC may remove. It removes whole conversations, but never a pinned one, or one
// whose beginning a remaining fork shares. It neither removes nor counts what belongs to another
// tenant, unless AllTenants is set.
type Policy struct {
	Tenant     string
	AllTenants bool // cover the whole database and ignore Tenant
	Now        time.Time
	MaxAge     time.Duration // conversations that have not changed for longer are removed; 0: no limit. The commands' default is 30 days
	Size       int64         // most bytes of the database, without what other tenants keep; conversations that have not changed for longest go first; 0: no limit
	Lines      int           // most conversations of one session; those that have not changed for longest go first; 0: no limit
	Spends     time.Duration // age at which spends are removed; 0: never
	DryRun     bool          // report only
}

// A Forgetting says what Forget removes. With neither conversations nor memories it is everything of the tenant.
type Forgetting struct {
	Tenant        string
	Conversations []string // ids; their forks are removed too, and what is remembered from them
	Memories      []string // ids; the conversations that they come from stay
	KeepMemories  bool     // what is remembered from the conversations stays, as GC leaves it
	DryRun        bool     // report only
}

// Collected is what GC removed, or would remove.
type Collected struct {
	Conversations []Key // longest unchanged first
	Pinned        int   // due, but kept because pinned
	Shared        int   // due, but kept because a fork needs them
	Blobs         int
	Bytes         int64 // size of these blobs, as stored
	Spends        int
	Memories      int    // removed; one that another conversation has confirmed stays, in the words of that conversation
	Journals      int    // removed with their conversation, or because they are as old as one that is removed
	Proof         *Proof // of a Forget; nil after a dry run
}

// A Proof is the result of searching the raw bytes of the database's files for removed content. The pieces are samples
// of everything that was removed, as text and as it was stored. They are taken before the removal and kept in memory
// only. Remaining content with the same bytes does not count.
type Proof struct {
	Pieces int      // that were searched for
	Bytes  int64    // that were searched
	Left   int      // pieces that were found
	Where  []string // files in which they were
}
