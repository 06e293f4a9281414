package openai

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/provider"
)

// unpaid are codes of status 429 that waiting does not help against.
var unpaid = []string{
	"insufficient_quota", "project_spend_limit_exceeded", "organization_spend_limit_exceeded", "credit_balance_exhausted",
}

// A problem is what a server says of an error: an object, or a text alone.
type problem struct {
	Type    string         `json:"type"`
	Message string         `json:"message"`
	Code    jsontext.Value `json:"code"` // a word, or with some servers the status
}

// readProblem reads an error. What is neither an object nor a text says nothing that may be repeated.
func readProblem(src jsontext.Value) (p problem) {
	switch src.Kind() {
	case jsontext.KindString:
		_ = json.Unmarshal(src, &p.Message, lenient)
	case jsontext.KindBeginObject:
		_ = json.Unmarshal(src, &p, lenient) // half of it is better than none
	}
	return p
}

// code returns the word of an error; empty where it has none.
func (p *problem) code() string {
	if p.Code.Kind() != jsontext.KindString {
		return ""
	}
	return strings.Trim(string(p.Code), `"`)
}

// describe adds to a failure what a server says of it.
func (p *problem) describe(f *provider.Failure, hide func(string) string) *provider.Failure {
	f.Kind = hide(cmp.Or(p.code(), p.Type))
	f.Message = cmp.Or(hide(p.Message), f.Message, "no reason given")
	f.Refused = f.Refused || slices.Contains(unpaid, p.code())
	return f
}

// refusal returns the failure of an answer with an error status. Servers put the error in the member error (OpenAI), in
// detail (frameworks in front of a model), or make it the whole body (old versions of vLLM); some wrap it in a list.
func (c *Client) refusal(res *http.Response, body []byte) *provider.Failure {
	if v := jsontext.Value(body); v.Kind() == jsontext.KindBeginArray {
		var list []jsontext.Value
		if json.Unmarshal(body, &list, lenient) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	var e struct {
		Error  jsontext.Value `json:"error"`
		Detail jsontext.Value `json:"detail"`
	}
	_ = json.Unmarshal(body, &e, lenient)
	said := readProblem(jsontext.Value(cmp.Or(string(e.Error), string(e.Detail), string(body))))
	f := modelhttp.Failed(res.StatusCode, res.Header)
	f.Message = c.opts.Credential.Hide(modelhttp.Page(body))
	if res.StatusCode == http.StatusNotFound {
		f.Message = fmt.Sprintf("nothing is there; is %s the base URL, with its version?", c.opts.Base)
	}
	return said.describe(f, c.opts.Credential.Hide)
}

// imagePart appears in a request with an image, and in no text, where its quotes would be escaped.
var imagePart = []byte(`"type":"image_url"`)

// aboutImages is how servers say that a model takes no images.
var aboutImages = regexp.MustCompile(
	`(?i)image|vision|multi-?modal|mmproj|content part|content type|expected a string|must be a string`)

// refusesImages reports whether an error may mean that the model takes no images.
func refusesImages(err error) bool {
	f, ok := errors.AsType[*provider.Failure](err)
	if !ok || errors.Is(err, provider.ErrBroken) {
		return false
	}
	switch f.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusOK:
		return false
	}
	return aboutImages.MatchString(f.Message)
}
