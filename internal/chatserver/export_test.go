package chatserver

import "strings"

// Patterns returns the patterns of all paths, without /v1.
func Patterns() (out []string) {
	for pattern := range (&Server{}).paths() {
		out = append(out, strings.ReplaceAll(pattern, "...", ""))
	}
	return append(out, "GET /me", "POST /login", "POST /logout")
}

// What the service answers with.
type (
	Message = message
	Session = summary
	Event   = event
	Outcome = outcome
	Context = filling

	Comparison = compared
	Folder     = folderList
)

// Description is the OpenAPI description of the service.
var Description = description
