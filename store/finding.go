package store

import "time"

// A Finding is something that was learned about a provider by trying. It is about an account there, not about
// a tenant or a conversation.
type Finding struct {
	Upstream     string // base URL of the provider
	Organization string // the account, as the provider names it in its answers; empty when it names none
	Topic        string // what it is about
	Value        string
	Time         time.Time // when it was learned
}
