package index

import (
	"net/http"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/token"
)

// OpenAI is the API of OpenAI as far as it is known.
type OpenAI struct{}

var _ dialect.API = OpenAI{}

// About implements dialect.API. There is no format: nothing is read.
func (OpenAI) About() dialect.About { return dialect.About{Provider: token.OpenAI} }

// ownPaths are the beginnings of paths, below the version, that this API has and the Messages API has not. Doors that a
// dialect manages must leave this list.
var ownPaths = []string{
	"assistants", "audio", "batches", "chat/completions", "completions", "conversations", "embeddings",
	"fine_tuning", "images",
	"moderations", "realtime", "responses", "threads", "vector_stores",
}

// accountHeader comes with the token of a login in place of a key.
const accountHeader = "Chatgpt-Account-Id"

// sharedPaths are paths that the Messages API has too, or may have; the key tells which API is meant.
var sharedPaths = []string{"containers", "evals", "files", "models", "uploads", "videos"}

// Door implements dialect.API. If such a request were forwarded, another provider would see a key that is not
// for it, and could only answer that it knows no such path.
func (OpenAI) Door(r *http.Request) dialect.Door {
	path := unversioned(r.URL.Path)
	if begins(path, ownPaths) || generates(r.URL.Path) || begins(path, sharedPaths) && hasKey(r.Header) ||
		r.Header.Get(accountHeader) != "" {
		return dialect.Door{Kind: dialect.Unmanaged, Name: "openai"}
	}
	return dialect.Door{}
}

// unversioned returns a path behind its last "/v1/", or behind its first slash if it has none, because
// in some clients the version belongs to the base URL and in others it does not.
func unversioned(path string) string {
	if i := strings.LastIndex(path, "/v1/"); i >= 0 {
		return path[i+len("/v1/"):]
	}
	return strings.TrimPrefix(path, "/")
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

// hasKey reports whether a request carries a key in OpenAI's form, and no header of the Messages
// API.
func hasKey(h http.Header) bool {
	key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer sk-")
	return ok && !strings.HasPrefix(key, "ant-") && h.Get("Anthropic-Version") == "" && h.Get("X-Api-Key") == ""
}

// codes are the API's words for causes that have one.
var codes = map[dialect.Cause]string{
	dialect.Unauthenticated: "invalid_api_key",
	dialect.Unpaid:          "insufficient_quota",
	dialect.TooMany:         "rate_limit_exceeded",
	dialect.Overloaded:      "server_is_overloaded",
	dialect.Unsupported:     "not_implemented",
}

// Refuse implements dialect.API.
func (OpenAI) Refuse(why dialect.Cause, message string) []byte {
	body := jsonspan.AppendQuote([]byte(`{"error":{"message":`), message)
	body = append(body, `,"type":`...)
	if why == dialect.Failed || why == dialect.Overloaded {
		body = append(body, `"server_error"`...)
	} else {
		body = append(body, `"invalid_request_error"`...)
	}
	body = append(body, `,"param":null,"code":`...)
	if code := codes[why]; code != "" {
		body = jsonspan.AppendQuote(body, code)
	} else {
		body = append(body, "null"...)
	}
	return append(body, `}}`...)
}
