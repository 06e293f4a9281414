package memory

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

// An Item is one thing to remember.
type Item struct {
	ID     string `json:"id"` // NewID makes one
	Kind   Kind   `json:"kind"`
	Scope  Scope  `json:"scope"`
	Text   string `json:"text"` // one line
	Source Source `json:"source"`

	// Confirmations are the newest occasions on which it was said or seen again, oldest first, at most MaxEvidence.
	// Times counts all of them.
	Confirmations []Confirmation `json:"confirmations,omitempty"`
	Times         int            `json:"times"`

	// Created is when it was saved, Confirmed when it was last confirmed, or Created. The others are zero until it happens.
	Created   time.Time `json:"created"`
	Confirmed time.Time `json:"confirmed"`
	Escalated time.Time `json:"escalated,omitzero"`
	Archived  time.Time `json:"archived,omitzero"`
	Restored  time.Time `json:"restored,omitzero"`

	Became string `json:"became,omitempty"` // id of the rule that an observation has become, or of the item that has corrected this one
	From   string `json:"from,omitempty"`   // id of the observation that a rule was, or of the item that this one corrects

	// Extra is what the program that saved the item keeps with it, such as JSON. Nothing here reads it. It goes with the text
	// when the conversation is forgotten that the text comes from.
	Extra string `json:"extra,omitempty"`
}

// Kind is what sort of thing an item is.
type Kind string

// The kinds of items.
const (
	KindMemory      Kind = "memory"      // a fact, a preference, a decision
	KindObservation Kind = "observation" // a pattern that was seen and may become a rule
	KindRule        Kind = "rule"        // a pattern that was confirmed often enough to be followed
	KindTask        Kind = "task"
	KindError       Kind = "error" // what is known of an error: its cause, its cure
)

// known reports whether k is one of the kinds.
func (k Kind) known() bool {
	switch k {
	case KindMemory, KindObservation, KindRule, KindTask, KindError:
		return true
	}
	return false
}

// A Scope is where an item holds.
type Scope struct {
	Level Level  `json:"level"`
	Name  string `json:"name,omitempty"` // of the conversation, the project, the user; a tenant's only user has none
}

// Level is how far a scope reaches.
type Level string

// The levels of scopes.
const (
	Conversation Level = "conversation"
	Project      Level = "project"
	User         Level = "user"
)

// known reports whether l is one of the levels.
func (l Level) known() bool { return l == Conversation || l == Project || l == User }

// String returns the scope as people read it: "project /src/decant".
func (s Scope) String() string {
	if s.Name == "" {
		return string(s.Level)
	}
	return string(s.Level) + " " + s.Name
}

// A Source says where something is known from: the messages From to To of a conversation, 0 when it is not known which.
type Source struct {
	Conversation string `json:"conversation,omitempty"`
	From         int    `json:"from,omitzero"`
	To           int    `json:"to,omitzero"`
}

// A Confirmation is one occasion on which an item was said or seen again.
type Confirmation struct {
	Source
	Evidence string    `json:"evidence"` // what was said there, one line
	Time     time.Time `json:"time"`
}

// idBytes is how many random bytes an id has: enough for the items of one tenant.
const idBytes = 6

// NewID returns a new id, such as m:1f2e3d4c5b6a. It fails only if reading random bytes does.
func NewID(rand io.Reader) (string, error) {
	var b [idBytes]byte
	if _, err := io.ReadFull(rand, b[:]); err != nil {
		return "", fmt.Errorf("make the id of a memory: %w", err)
	}
	return "m:" + hex.EncodeToString(b[:]), nil
}

// New returns a new item. Its text is put on one line, cut to MaxText characters, and its credentials are masked; if
// nothing else is in it the error is ErrSecret, and ErrEmpty if there is nothing at all.
func New(id string, kind Kind, scope Scope, text string, from Source, at time.Time) (Item, error) {
	switch {
	case !kind.known():
		return Item{}, fmt.Errorf("kind %q: want memory, observation, rule, task or error", kind)
	case !scope.Level.known():
		return Item{}, fmt.Errorf("scope %q: want conversation, project or user", scope.Level)
	case scope.Name == "" && scope.Level != User:
		return Item{}, fmt.Errorf("scope %s: say which one", scope.Level)
	}
	text, err := clean(text)
	if err != nil {
		return Item{}, err
	}
	return Item{ID: id, Kind: kind, Scope: scope, Text: text, Source: from, Created: at, Confirmed: at}, nil
}
