package tracing

import (
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/secret"
)

// names is the form of models' names. Bedrock has the longest.
var names = lazyregexp.New(`^[A-Za-z][A-Za-z0-9._:/@\[\]-]{0,127}$`)

// unknown replaces a value that must not be shown.
const unknown = "_OTHER"

// modelName returns the name of a model for spans. A client may write anything there, so a value that does not look
// like a name, or looks like a credential, is not shown.
func modelName(s string) string {
	if s == "" || names.MatchString(s) && secret.Mask(s) == s {
		return s
	}
	return unknown
}
