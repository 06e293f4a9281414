package gateway

import (
	"net/http"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/jsonspan"
)

// openAIPaths are the beginnings of paths, below the version, that OpenAI's API has and the Messages API has not.
var openAIPaths = []string{
	"assistants", "audio", "batches", "chat/completions", "completions", "conversations", "embeddings", "fine_tuning", "images",
	"moderations", "realtime", "responses", "threads", "vector_stores",
}

// sharedPaths are paths that the Messages API has too, or may have; the key tells which API is meant.
var sharedPaths = []string{"containers", "evals", "files", "models", "uploads", "videos"}

// ofOpenAI reports whether a request is for OpenAI's API. If it were forwarded, the upstream would see
// another provider's key, and could only answer that it knows no such path.
func ofOpenAI(r *http.Request) bool {
	path := unversioned(r.URL.Path)
	return begins(path, openAIPaths) || endsAtOpenAI(r.URL.Path) || begins(path, sharedPaths) && openAIKey(r.Header)
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

// endsAtOpenAI reports whether a path ends at a door that generates text. What stands before does not
// matter, because deployments and proxies have paths of their own.
func endsAtOpenAI(path string) bool {
	for _, end := range []string{"/chat/completions", "/completions", "/responses", "/embeddings"} {
		if strings.HasSuffix(strings.TrimSuffix(path, "/"), end) {
			return true
		}
	}
	return false
}

// openAIKey reports whether a request carries a key in OpenAI's form, and no header of the Messages
// API.
func openAIKey(h http.Header) bool {
	key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer sk-")
	return ok && !strings.HasPrefix(key, "ant-") && h.Get("Anthropic-Version") == "" && h.Get("X-Api-Key") == ""
}

// openAIRefusal is the message that the client's user reads.
const openAIRefusal = "decant: this gateway manages Anthropic's Messages API only. This is a request of OpenAI's API: it was not forwarded, and neither was its key. " +
	"Give this client OpenAI's own base URL again. Its session files can be made smaller: decant compact --help"

// refuseOpenAI answers in the format of OpenAI's API, and asks clients not to retry.
func refuseOpenAI(w http.ResponseWriter) {
	body := jsonspan.AppendQuote([]byte(`{"error":{"message":`), openAIRefusal)
	w.Header().Set("X-Should-Retry", "false")
	w.Header().Set(refusedHeader, "a request of OpenAI's API")
	write(w, http.StatusNotImplemented, append(body, `,"type":"invalid_request_error","param":null,"code":"not_implemented"}}`...))
}
