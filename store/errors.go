package store

import (
	"errors"
	"fmt"
	"strings"
)

// Conditions that callers branch on. Test with errors.Is.
var (
	// ErrConflict means that somebody else was first: load again and decide again.
	ErrConflict = errors.New("the conversation has moved on")

	// ErrNotFound means that a conversation, a blob, a handle, a journal or a memory does not exist.
	ErrNotFound = errors.New("not found")

	// ErrInvalid means that a batch contradicts itself.
	ErrInvalid = errors.New("invalid batch")

	// ErrBadHandle means that a text is not a handle.
	ErrBadHandle = errors.New("not a handle")

	// ErrFull means that there is no space left to write to.
	ErrFull = errors.New("no space left for the database")

	// ErrReadOnly means that the database cannot be written.
	ErrReadOnly = errors.New("the database is read-only")

	// ErrMoved means that the database file was removed or replaced while it was open, so that what is written to it
	// is lost. The store writes nothing any more; open the file again.
	ErrMoved = errors.New("the database is no longer the file that was opened")

	// ErrBusy means that another process was writing for longer than the store waits: try again.
	ErrBusy = errors.New("another process keeps the database busy")

	// ErrUnreachable means that there is no connection to the server of the database: try again later.
	ErrUnreachable = errors.New("the database cannot be reached")

	// ErrCorrupt means that the file is damaged or is not a Decant database. Restore a backup, or move
	// the file away; conversations then begin again.
	ErrCorrupt = errors.New("the database is damaged")

	// ErrNewer means that a newer version of Decant has changed the database's format.
	ErrNewer = errors.New("the database was written by a newer version of decant")

	// ErrSealed means that the database is encrypted and no key was given.
	ErrSealed = errors.New("the database is encrypted")

	// ErrUnsealed means that a key was given for a database that is not encrypted.
	ErrUnsealed = errors.New("the database is not encrypted")

	// ErrWrongKey means that the database is encrypted under another key.
	ErrWrongKey = errors.New("the database is encrypted under another key")

	// ErrClosed means that the store has been closed.
	ErrClosed = errors.New("the store is closed")
)

// An AmbiguousError says that a handle or a name matches several things.
type AmbiguousError struct {
	Name       string
	Candidates []string // what it may mean, each unambiguous
}

// Error lists the candidates.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s is ambiguous: it may be %s", e.Name, strings.Join(e.Candidates, ", "))
}
