package anthropic

import (
	"net/http"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/dialect"
)

// The paths of the API that are known. Clients may have a base URL with a path of its own before them.
const (
	pathMessages = "/v1/messages"
	pathCount    = pathMessages + "/count_tokens"
	pathBatches  = pathMessages + "/batches"
)

// freePaths are those below the version to which something may be sent that costs nothing.
var freePaths = []string{"files", "skills"}

// Door implements dialect.API.
func (Dialect) Door(r *http.Request) dialect.Door {
	path := r.URL.Path
	if d := batchDoor(r.Method, path); d.Kind != dialect.Unknown || r.Method != http.MethodPost {
		return d
	}
	base, _, _ := strings.Cut(path, pathMessages)
	switch {
	case strings.HasSuffix(path, pathMessages):
		return dialect.Door{Kind: dialect.Prompt, Name: "messages", Route: pathMessages, Base: base}
	case strings.HasSuffix(path, pathCount):
		return dialect.Door{Kind: dialect.Count, Name: "count_tokens", Route: pathCount, Base: base}
	case strings.HasSuffix(path, pathBatches):
		return dialect.Door{Kind: dialect.Batch, Base: base}
	case free(path):
		return dialect.Door{Kind: dialect.Free}
	}
	return dialect.Door{}
}

// batchDoor returns the door of a request that looks at a batch, or cancels it.
func batchDoor(method, path string) dialect.Door {
	base, below, ok := strings.Cut(path, pathBatches+"/")
	if !ok || dialect.Ambiguous(path) {
		return dialect.Door{}
	}
	d := dialect.Door{Base: base}
	var what string
	if d.Batch, what, _ = strings.Cut(below, "/"); d.Batch == "" {
		return dialect.Door{}
	}
	switch {
	case method == http.MethodGet && what == "", method == http.MethodPost && what == "cancel":
		d.Kind = dialect.BatchState
	case method == http.MethodGet && what == "results":
		d.Kind = dialect.BatchResults
	default:
		return dialect.Door{}
	}
	return d
}

// free reports whether what is sent to a path costs nothing.
func free(path string) bool {
	_, below, ok := strings.Cut(path, "/v1/")
	first, _, _ := strings.Cut(below, "/")
	batch, cancels := strings.CutSuffix(below, "/cancel")
	return ok && (slices.Contains(freePaths, first) || cancels && strings.HasPrefix(batch, "messages/batches/"))
}
