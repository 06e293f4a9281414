package tracing

import (
	"regexp"

	"github.com/decantdev/decant/internal/secret"
)

// names is how names of models look. Those of Bedrock are the longest.
var names = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._:/@\[\]-]{0,127}$`)

// unknown stands for a value that is not one of those that can be shown.
const unknown = "_OTHER"

// modelName returns the name of a model as spans may hold it. A client may write anything there, so what does not
// look like a name, or looks like a credential, is not shown.
func modelName(s string) string {
	if s == "" || names.MatchString(s) && secret.Mask(s) == s {
		return s
	}
	return unknown
}
