package github

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
)

//go:embed openapi.json
var description []byte

// loadSpec reads the description of the API.
func loadSpec() (*openapi3.T, error) {
	spec, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		return nil, fmt.Errorf("read the description of GitHub's API: %w", err)
	}
	return spec, nil
}

// input returns a request for the checks. The answer to a request that is checked has nothing to do with whose it is.
func (c *call) input() *openapi3filter.RequestValidationInput {
	r := c.r.Clone(c.r.Context())
	r.Body = io.NopCloser(bytes.NewReader(c.body))
	if len(c.body) > 0 {
		r.Header.Set("Content-Type", "application/json") // go-github says so, and curl does not
	}
	return &openapi3filter.RequestValidationInput{Request: r, PathParams: c.path, Route: c.route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true}}
}

// checkRequest holds a request against the description.
func (c *call) checkRequest() *apiError {
	if c.route.Operation.OperationID == "issues/add-labels" && bytes.HasPrefix(c.body, []byte("[")) {
		c.body = slices.Concat([]byte(`{"labels":`), c.body, []byte("}")) // the description allows it in words: "You can also pass an array of labels directly"
	}
	if err := openapi3filter.ValidateRequest(c.r.Context(), c.input()); err != nil {
		text, _, _ := strings.Cut(err.Error(), "\nSchema:")
		return invalid("Invalid request.\n\n%s", text)
	}
	for name := range c.r.URL.Query() {
		if c.route.Operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
			return invalid("Invalid request.\n\nThere is no parameter %q.", name)
		}
	}
	return nil
}

// fitting returns an answer with all that the description demands of it besides, or why it is not what the description says.
func (c *call) fitting(status int, v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &v); err != nil { // now it is made of maps and slices alone
		return nil, err
	}
	if content := c.schema(status); content != nil {
		v = complete(content, v)
	}
	if data, err = json.Marshal(v); err != nil {
		return nil, err
	}
	in := &openapi3filter.ResponseValidationInput{RequestValidationInput: c.input(), Status: status,
		Header: http.Header{"Content-Type": {"application/json"}}, Options: &openapi3filter.Options{IncludeResponseStatus: true}}
	if err := openapi3filter.ValidateResponse(context.Background(), in.SetBodyBytes(data)); err != nil {
		return nil, err
	}
	return v, nil
}

// schema returns the schema of an answer; nil: the description has none.
func (c *call) schema(status int) *openapi3.Schema {
	response := c.route.Operation.Responses.Status(status)
	if response == nil || response.Value == nil {
		return nil
	}
	media := response.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return nil
	}
	return media.Schema.Value
}

// complete adds what a schema demands of a value and the stand-in has nothing to say about.
func complete(s *openapi3.Schema, v any) any {
	for _, part := range s.AllOf {
		v = complete(part.Value, v)
	}
	if choice := choose(s, v); choice != nil {
		v = complete(choice, v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok && s.Properties[name] != nil {
				v[name] = zero(s.Properties[name].Value)
			}
		}
		for name, p := range s.Properties {
			if x, ok := v[name]; ok && x != nil {
				v[name] = complete(p.Value, x)
			}
		}
	case []any:
		if s.Items != nil {
			for i := range v {
				v[i] = complete(s.Items.Value, v[i])
			}
		}
	}
	return v
}

// choose returns which of the alternatives of a schema a value is: the first of its kind whose demands are nearest to what it has.
func choose(s *openapi3.Schema, v any) *openapi3.Schema {
	all := append(append(openapi3.SchemaRefs{}, s.AnyOf...), s.OneOf...)
	var best *openapi3.Schema
	fewest := 1 << 30
	for _, ref := range all {
		lacking := 0
		switch v := v.(type) {
		case map[string]any:
			if ref.Value.Type != nil && !ref.Value.Type.Is("object") {
				continue
			}
			for _, name := range ref.Value.Required {
				if _, ok := v[name]; !ok {
					lacking++
				}
			}
		case []any:
			if ref.Value.Type == nil || !ref.Value.Type.Is("array") {
				continue
			}
		default:
			return nil
		}
		if lacking < fewest {
			best, fewest = ref.Value, lacking
		}
	}
	return best
}

// zero returns a value that a schema allows.
func zero(s *openapi3.Schema) any {
	switch {
	case s.Nullable:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AllOf) > 0 || s.Type != nil && s.Type.Is("object"):
		return complete(s, map[string]any{})
	case len(s.AnyOf) > 0:
		return zero(s.AnyOf[0].Value)
	case len(s.OneOf) > 0:
		return zero(s.OneOf[0].Value)
	case s.Type == nil:
		return map[string]any{}
	case s.Type.Is("array"):
		return []any{}
	case s.Type.Is("boolean"):
		return false
	case s.Type.Is("integer"), s.Type.Is("number"):
		return max(0, deref(s.Min))
	}
	switch s.Format {
	case "uri":
		return "https://api.github.com/"
	case "date-time":
		return "2026-01-01T00:00:00Z"
	case "email":
		return "someone@example.com"
	}
	return strings.Repeat("x", int(s.MinLength))
}

func deref(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}
