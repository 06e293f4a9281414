package wire

import (
	"github.com/decantdev/decant/wire/internal/session"
	"github.com/decantdev/decant/wire/internal/source"
)

// ErrFormat means that an input is in none of the formats, or not in the one that it was said to be.
var ErrFormat = source.ErrFormat

// ErrReadOnly means that a format is read and not written: what holds it is an export or a log, from
// which no program goes on.
var ErrReadOnly = session.ErrReadOnly
