package openai

import (
	"net/http"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/wire"
)

// A managed is a door at which bodies are read.
type managed struct {
	path string // below the version
	api  wire.Format
	kind dialect.Kind
	name string
}

// doors are those that are managed. The version stands in the base URL of most clients, and Azure's deployments
// have none, so that only the end of a path tells.
var doors = []managed{
	{"/chat/completions", wire.OpenAIChat, dialect.Prompt, "chat_completions"},
	{"/responses", wire.OpenAIResponses, dialect.Prompt, "responses"},
	{"/responses/input_tokens", wire.OpenAIResponses, dialect.Count, "input_tokens"},
}

// ownPaths are the beginnings of paths, below the version, that these APIs have and the Messages API has not.
var ownPaths = []string{
	"alpha", "assistants", "audio", "batches", "chat/completions", "completions", "conversations", "embeddings",
	"fine_tuning", "images", "memories", "moderations", "organization", "realtime", "responses", "threads", "vector_stores",
}

// sharedPaths are paths that the Messages API has too, or may have; the key tells which API is meant.
var sharedPaths = []string{"containers", "evals", "files", "models", "uploads", "videos"}

// freePaths are those to which something may be sent that costs nothing.
var freePaths = []string{"files", "moderations", "uploads"}

// AccountHeader comes with the token of a ChatGPT login, in place of a key.
const AccountHeader = "Chatgpt-Account-Id"

// version is where the paths of the APIs begin, in documents and in most base URLs.
const version = "/v1"

// doorOf returns the API that a request is of, and its door. What neither of the two manages counts as
// Chat Completions', the older one's. Of a request of another API the door is the zero Door.
func doorOf(r *http.Request) (wire.Format, dialect.Door) {
	path := r.URL.Path
	if r.Method == http.MethodPost {
		for _, d := range doors {
			if base, ok := strings.CutSuffix(strings.TrimSuffix(path, "/"), d.path); ok {
				return d.api, dialect.Door{
					Kind: d.kind, Name: d.name, Route: version + d.path, Base: strings.TrimSuffix(base, version),
				}
			}
		}
	}
	base, below := split(path)
	switch {
	case begins(below, sharedPaths) && hasKey(r.Header), begins(below, ownPaths), generates(path):
	case r.Header.Get(AccountHeader) == "" && (!hasOwnKey(r.Header) || strings.Contains(path+"/", "/messages/")):
		return "", dialect.Door{}
	}
	if r.Method == http.MethodPost && begins(below, freePaths) && !dialect.Ambiguous(path) {
		return wire.OpenAIChat, dialect.Door{Kind: dialect.Free, Name: "openai"}
	}
	return wire.OpenAIChat, dialect.Door{Kind: dialect.Unmanaged, Name: "openai", Base: base}
}

// split returns a path up to its last "/v1/", and what is behind it. A path without has all behind its first slash,
// because in some clients the version belongs to the base URL and in others it does not.
func split(path string) (base, below string) {
	if i := strings.LastIndex(path, version+"/"); i >= 0 {
		return path[:i], path[i+len(version)+1:]
	}
	return "", strings.TrimPrefix(path, "/")
}

// begins reports whether a path is one of words, or below one of them.
func begins(path string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		rest, ok := strings.CutPrefix(path, w)
		return ok && (rest == "" || rest[0] == '/')
	})
}

// generates reports whether a path ends at a door that generates text. The prefix does not matter, because
// deployments and proxies have paths of their own.
func generates(path string) bool {
	for _, end := range []string{"/chat/completions", "/completions", "/responses", "/responses/compact", "/embeddings"} {
		if strings.HasSuffix(strings.TrimSuffix(path, "/"), end) {
			return true
		}
	}
	return false
}

// ownKeys are how keys of OpenAI's begin that cannot be another's.
var ownKeys = []string{"sk-proj-", "sk-svcacct-", "sk-admin-"}

// hasOwnKey reports whether a request carries a key that is for no server of the Messages API: one of OpenAI's, or
// any in the header that Azure has for it, where nothing says that it is Claude on Azure. On a path that nobody knows
// it tells whose the request is.
func hasOwnKey(h http.Header) bool {
	azure := h.Get("Api-Key") != "" && h.Get("Anthropic-Version") == "" && h.Get("Anthropic-Beta") == ""
	return azure || slices.ContainsFunc(ownKeys, func(begins string) bool {
		return strings.HasPrefix(h.Get("Authorization"), "Bearer "+begins) || strings.HasPrefix(h.Get("X-Api-Key"), begins)
	})
}

// hasKey reports whether a request carries a bearer that is no key of Anthropic's, and no header of the
// Messages API. Local servers are given any word for a key.
func hasKey(h http.Header) bool {
	key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	return ok && !strings.HasPrefix(key, "sk-ant-") && h.Get("Anthropic-Version") == "" && h.Get("X-Api-Key") == ""
}
