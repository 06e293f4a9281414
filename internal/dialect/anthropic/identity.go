package anthropic

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
)

// Identity implements dialect.Requests.
func (Dialect) Identity(raw []byte) decant.Hash { return decant.HashBytes(dialect.Canonical(raw)) }
