// Package index is the table of the dialects that there are.
package index

import (
	"fmt"
	"net/http"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/internal/dialect/openai"
)

// Default is the dialect of requests and conversations that name none.
var Default dialect.Dialect = anthropic.Dialect{}

// dialects are all that there are. Of several that know a door the first counts: a key of OpenAI's makes it theirs.
var dialects = []dialect.Dialect{openai.Responses{}, openai.Chat{}, Default}

// Find returns the dialect that knows the door of a request, and the door. Where none does it returns Default
// and a door of the kind dialect.Unknown.
func Find(r *http.Request) (dialect.Dialect, dialect.Door) {
	for _, d := range dialects {
		if door := d.Door(r); door.Kind != dialect.Unknown {
			return d, door
		}
	}
	return Default, dialect.Door{}
}

// Named returns the dialect with a name: that of its format, as a store keeps it. The empty name is that of Default.
func Named(name string) (dialect.Dialect, error) {
	if name == "" {
		return Default, nil
	}
	for _, d := range dialects {
		if string(d.About().Format) == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("API %q is not known to this version", name)
}
