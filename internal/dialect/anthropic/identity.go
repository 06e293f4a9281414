package anthropic

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
)

var identifier = dialect.Identifier{
	Ignored: map[string]bool{"cache_control": true}, Nested: map[string]bool{"content": true},
}

// Identity implements dialect.Requests.
func (Dialect) Identity(raw []byte) decant.Hash { return identifier.Identity(raw) }
