package github

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// checkRequest holds a request against the description.
func (c *call) checkRequest() *apiError {
	query := c.r.URL.Query()
	for _, p := range c.op.Parameters {
		text, there := c.path[p.Name]
		if p.In == "query" {
			text, there = query.Get(p.Name), query.Has(p.Name)
		}
		switch {
		case !there && p.Required:
			return invalid("Invalid request.\n\nThe parameter %q is missing.", p.Name)
		case there:
			if err := p.wrong(text); err != nil {
				return invalid("Invalid request.\n\nParameter %q: %v", p.Name, err)
			}
		}
	}
	for name := range query {
		if !c.op.asks(name) {
			return invalid("Invalid request.\n\nThere is no parameter %q.", name)
		}
	}
	return c.checkBody()
}

// checkBody holds the body of a request against the description.
func (c *call) checkBody() *apiError {
	want := c.op.RequestBody
	if want == nil {
		return nil
	}
	if len(c.body) == 0 {
		if want.Required {
			return invalid("Invalid request.\n\nThe body is missing.")
		}
		return nil
	}
	if c.op.OperationID == "issues/add-labels" && bytes.HasPrefix(c.body, []byte("[")) {
		c.body = slices.Concat([]byte(`{"labels":`), c.body, []byte("}")) // the description allows it in words: "You can also pass an array of labels directly"
	}
	if err := want.Content[mediaJSON].wrong(c.body); err != nil {
		return invalid("Invalid request.\n\n%v", err)
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
	m, ok := c.op.answer(status)
	if !ok {
		return nil, fmt.Errorf("%s has no answer with status %d", c.op.OperationID, status)
	}
	if m != nil && m.Schema != nil {
		v = c.s.api.complete(m.Schema, v)
	}
	if data, err = json.Marshal(v); err != nil {
		return nil, err
	}
	return v, m.wrong(data)
}

// complete adds what a schema demands of a value and the stand-in has nothing to say about.
func (d *description) complete(s *jsonschema.Schema, v any) any {
	s = d.of(s)
	for _, part := range s.AllOf {
		v = d.complete(part, v)
	}
	if choice := d.choose(s, v); choice != nil {
		v = d.complete(choice, v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok && s.Properties[name] != nil {
				v[name] = d.zero(s.Properties[name])
			}
		}
		for name, p := range s.Properties {
			if x, ok := v[name]; ok && x != nil {
				v[name] = d.complete(p, x)
			}
		}
	case []any:
		if s.Items != nil {
			for i := range v {
				v[i] = d.complete(s.Items, v[i])
			}
		}
	}
	return v
}

// choose returns which of the alternatives of a schema a value is: the first of its kind whose demands are nearest to what it has.
func (d *description) choose(s *jsonschema.Schema, v any) *jsonschema.Schema {
	var best *jsonschema.Schema
	fewest := 1 << 30
	for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
		one = d.of(one)
		lacking := 0
		switch v := v.(type) {
		case map[string]any:
			if typed(one) && !is(one, "object") {
				continue
			}
			for _, name := range one.Required {
				if _, ok := v[name]; !ok {
					lacking++
				}
			}
		case []any:
			if !is(one, "array") {
				continue
			}
		default:
			return nil
		}
		if lacking < fewest {
			best, fewest = one, lacking
		}
	}
	return best
}

// typed reports whether a schema says of which type its values are.
func typed(s *jsonschema.Schema) bool { return s.Type != "" || len(s.Types) > 0 }

// is reports whether a schema says that its values are, or may be, of a type.
func is(s *jsonschema.Schema, kind string) bool {
	return s.Type == kind || slices.Contains(s.Types, kind)
}

// zero returns a value that a schema allows.
func (d *description) zero(s *jsonschema.Schema) any {
	s = d.of(s)
	all := slices.Concat(s.AnyOf, s.OneOf)
	switch {
	case is(s, "null") || slices.ContainsFunc(all, func(s *jsonschema.Schema) bool { return is(s, "null") }):
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AllOf) > 0 || is(s, "object"):
		return d.complete(s, map[string]any{})
	case len(all) > 0:
		return d.zero(all[0])
	case !typed(s):
		return map[string]any{}
	case is(s, "array"):
		return []any{}
	case is(s, "boolean"):
		return false
	case is(s, "integer"), is(s, "number"):
		return max(0, deref(s.Minimum))
	}
	switch s.Format {
	case "uri":
		return "https://api.github.com/"
	case "date-time":
		return "2026-01-01T00:00:00Z"
	case "email":
		return "someone@example.com"
	}
	return strings.Repeat("x", deref(s.MinLength))
}

// deref returns what a pointer is for, or nothing.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
