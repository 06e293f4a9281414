package pace

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// costOf returns the lane of a call and what it may use. An empty lane means that no limit is known.
func costOf(req *http.Request) (string, amounts) {
	need := amounts{calls: 1}
	host, path := req.URL.Host, req.URL.Path
	switch {
	case strings.Contains(path, "/codeload/"), strings.HasPrefix(host, "codeload."):
		return "", need // GitHub does not count archives
	case strings.HasSuffix(path, "/search/code"):
		return host + " (search of code)", need
	case strings.Contains(path, "/search/"):
		return host + " (search)", need
	case req.Method == http.MethodPost && (strings.HasSuffix(path, "/messages") || strings.HasSuffix(path, "/chat/completions")):
		model := spoken(req, &need)
		return strings.TrimSpace(host + " " + model), need
	}
	return host, need
}

// bytesPerToken is a low estimate: counting too many tokens is safe.
const bytesPerToken = 3

// spoken returns the model that a request asks, and adds the tokens that it may use.
func spoken(req *http.Request, need *amounts) string {
	if req.GetBody == nil {
		return ""
	}
	body, err := req.GetBody()
	if err != nil {
		return ""
	}
	defer body.Close()
	var ask struct {
		Model string  `json:"model"`
		Most  float64 `json:"max_tokens"`
	}
	if json.NewDecoder(body).Decode(&ask) != nil {
		return ""
	}
	need[input], need[output] = float64(max(req.ContentLength, 0))/bytesPerToken, ask.Most
	return ask.Model
}

// readings returns the limits in the headers of a response.
func readings(h http.Header, now time.Time) (out [kinds]reading) {
	for i, name := range map[int]string{calls: "Requests", input: "Input-Tokens", output: "Output-Tokens"} {
		name = "Anthropic-Ratelimit-" + name
		at, err := time.Parse(time.RFC3339, h.Get(name+"-Reset"))
		out[i] = read(h.Get(name+"-Limit"), h.Get(name+"-Remaining"), at, err == nil)
		out[i].flows = true
	}
	for i, name := range map[int]string{calls: "requests", input: "tokens"} {
		after, err := time.ParseDuration(h.Get("x-ratelimit-reset-" + name))
		if r := read(h.Get("x-ratelimit-limit-"+name), h.Get("x-ratelimit-remaining-"+name), now.Add(after), err == nil); r.told {
			r.flows = true
			out[i] = r
		}
	}
	for _, name := range []string{"X-Ratelimit-", "X-Sentry-Rate-Limit-"} { // GitHub's, and Sentry's
		at, err := strconv.ParseInt(h.Get(name+"Reset"), 10, 64)
		if r := read(h.Get(name+"Limit"), h.Get(name+"Remaining"), time.Unix(at, 0), err == nil); r.told {
			out[calls] = r
		}
	}
	return out
}

// read reads a limit from three headers.
func read(limit, left string, reset time.Time, ok bool) reading {
	most, err := strconv.ParseFloat(limit, 64)
	rest, err2 := strconv.ParseFloat(left, 64)
	return reading{told: ok && err == nil && err2 == nil && most > 0, limit: most, left: rest, reset: reset}
}

// retryAfter returns how long a service wants no calls.
func retryAfter(res *http.Response, now time.Time) time.Duration {
	if res.StatusCode < http.StatusBadRequest {
		return 0
	}
	v := res.Header.Get("Retry-After")
	if n, err := strconv.ParseFloat(v, 64); err == nil && n > 0 && n < 1e6 {
		return time.Duration(n * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}
