package store

import (
	"time"

	"github.com/decantdev/decant"
)

// A Query is a search in the archived text of a tenant.
type Query struct {
	Tenant       string
	Conversation string // empty: all
	Text         string // words or beginnings of words, which must all occur; text in double quotes must occur exactly. No other syntax
	Limit        int    // 0: 20
}

// A Hit is a block that a search found, in the first conversation that held it.
type Hit struct {
	Conversation string
	Session      string
	Entry        Entry     // Entry.Message is the message's number
	Snippet      string    // the text around the first match, on one line
	Match        [2]int    // where in Snippet the first match is, in bytes: [start, end)
	Time         time.Time // when the conversation last changed
}

// An Original is what a handle refers to, exactly.
type Original struct {
	Key                      // the conversation that holds it
	Decision decant.Decision // decision that replaced it; zero when none did
	Entries  []Entry         // for a block one entry; for a checkpoint all that it covers, in order
}
