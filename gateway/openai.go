package gateway

import (
	"net/http"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/jsonspan"
)

// openAIPaths are how paths below the version begin that OpenAI's API has and the Messages API has not.
var openAIPaths = []string{
	"assistants", "audio", "batches", "chat/completions", "completions", "conversations", "embeddings", "fine_tuning", "images",
	"moderations", "realtime", "responses", "threads", "vector_stores",
}

// sharedPaths are those that the Messages API has too, or may have; who is meant, the key says.
var sharedPaths = []string{"containers", "evals", "files", "models", "uploads", "videos"}

// ofOpenAI reports whether a request is for OpenAI's API. Forwarded it would show another provider's
// key to the upstream, which could only answer that it knows no such path.
func ofOpenAI(r *http.Request) bool {
	path := unversioned(r.URL.Path)
	return begins(path, openAIPaths) || endsAtOpenAI(r.URL.Path) || begins(path, sharedPaths) && openAIKey(r.Header)
}

// unversioned returns a path behind its last "/v1/", or behind its first slash where it has none:
// clients differ in whether the version belongs to the base URL.
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

// endsAtOpenAI reports whether a path ends at one of the doors that generate text, whatever stands
// before it: deployments and proxies have paths of their own.
func endsAtOpenAI(path string) bool {
	for _, end := range []string{"/chat/completions", "/completions", "/responses", "/embeddings"} {
		if strings.HasSuffix(strings.TrimSuffix(path, "/"), end) {
			return true
		}
	}
	return false
}

// openAIKey reports whether a request carries a key as OpenAI writes them, and nothing of the Messages
// API.
func openAIKey(h http.Header) bool {
	key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer sk-")
	return ok && !strings.HasPrefix(key, "ant-") && h.Get("Anthropic-Version") == "" && h.Get("X-Api-Key") == ""
}

// openAIRefusal is what the client is told, and its user reads.
const openAIRefusal = "decant: this gateway manages Anthropic's Messages API only. This is a request of OpenAI's API: it was not forwarded, and neither was its key. " +
	"Give this client OpenAI's own base URL again. Its session files can be made smaller: decant compact --help"

// refuseOpenAI answers in the shape of OpenAI's API, and asks clients not to try again.
func refuseOpenAI(w http.ResponseWriter) {
	body := jsonspan.AppendQuote([]byte(`{"error":{"message":`), openAIRefusal)
	w.Header().Set("X-Should-Retry", "false")
	w.Header().Set(refusedHeader, "a request of OpenAI's API")
	write(w, http.StatusNotImplemented, append(body, `,"type":"invalid_request_error","param":null,"code":"not_implemented"}}`...))
}
