package wire

import "github.com/decantdev/decant/wire/internal/source"

// ErrFormat means that an input is in none of the formats, or not in the one that it was said to be.
var ErrFormat = source.ErrFormat
