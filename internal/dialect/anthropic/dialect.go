package anthropic

import (
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// Dialect is the dialect of the Messages API.
type Dialect struct{}

var _ interface {
	dialect.Dialect
	dialect.Clearer
	dialect.Compacter
	dialect.Dropper
	dialect.Batcher
} = Dialect{}

// about is asked for several times by every request.
var about = dialect.About{
	Format: wire.Anthropic, Provider: token.Anthropic, Metered: []string{pathMessages, pathBatches},
	BetaHeader: "Anthropic-Beta", HeldBeta: "message-threads-2026-08-12", OrganizationHeader: "Anthropic-Organization-Id", RequestHeader: "Request-Id",
}

// About implements dialect.API.
func (Dialect) About() dialect.About { return about }
