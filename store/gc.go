package store

import "time"

// A Policy says what GC may remove. Conversations go whole. Never removed are pinned ones, and
// ones that a remaining fork shares its beginning with. What belongs to another tenant is neither
// removed nor counted, unless AllTenants is set.
type Policy struct {
	Tenant     string
	AllTenants bool // of the whole database; Tenant is not looked at
	Now        time.Time
	MaxAge     time.Duration // unchanged for longer is removed; 0: no limit. The default of the commands is 30 days
	Size       int64         // bytes that the database may have without what other tenants keep in it: beyond, the longest unchanged go first; 0: no limit
	Lines      int           // conversations of one session: beyond, the longest unchanged of it go first; 0: no limit
	Spends     time.Duration // age at which spends are removed; 0: never
	DryRun     bool          // report only
}

// A Forgetting says what Forget removes.
type Forgetting struct {
	Tenant        string
	Conversations []string // ids; their forks go with them. Nil: all of the tenant
	DryRun        bool     // report only
}

// Collected is what GC removed, or would remove.
type Collected struct {
	Conversations []Key // longest unchanged first
	Pinned        int   // due, but kept because pinned
	Shared        int   // due, but kept because a fork needs them
	Blobs         int
	Bytes         int64 // of those blobs, as stored
	Spends        int
	Proof         *Proof // of a Forget; nil: it was a dry run
}

// A Proof says what looking for removed content in the raw bytes of the database's files has found. The pieces that
// were looked for are samples of all that was removed, as text and as it was stored, taken before it went and kept in
// memory only; what remains and holds the same bytes does not count.
type Proof struct {
	Pieces int      // that were looked for
	Bytes  int64    // that were looked through
	Left   int      // pieces that were found
	Where  []string // files in which they were
}
