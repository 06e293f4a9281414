package wire

import (
	"github.com/decantdev/decant/wire/internal/export"
	"github.com/decantdev/decant/wire/internal/parsing"
)

// ErrFormat means that an input is in none of the formats, or not in the one that it was said to be.
var ErrFormat = parsing.ErrFormat

// ErrReadOnly means that a format is read and not written: what holds it is an export or a log, from
// which no program goes on.
var ErrReadOnly = export.ErrReadOnly
