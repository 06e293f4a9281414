package github

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed openapi.json
var openAPI []byte

// A description is what GitHub says of its API. It is never changed.
type description struct {
	Paths      map[string]map[string]*operation // by path and method, in small letters
	Components struct {
		Parameters map[string]*parameter
		Responses  map[string]*answer
		Schemas    map[string]*jsonschema.Schema
	}
}

// An operation is one thing that can be asked for.
type operation struct {
	OperationID string
	Parameters  []*parameter
	RequestBody *struct {
		Required bool
		Content  map[string]*media
	}
	Responses map[string]*answer
}

// A parameter is part of a path or of a query.
type parameter struct {
	Ref      string `json:"$ref"`
	Name, In string
	Required bool
	Schema   *jsonschema.Schema
	check    check
}

// An answer is what comes with a status.
type answer struct {
	Ref     string `json:"$ref"`
	Content map[string]*media
}

// A media is the form of a body.
type media struct {
	Schema *jsonschema.Schema
	check  check
}

// A check returns what values are held against. It is made when it is first needed.
type check func() (*jsonschema.Resolved, error)

// mediaJSON is the kind of all bodies that are looked at.
const mediaJSON = "application/json"

// described returns the description, which is read once.
var described = sync.OnceValues(func() (*description, error) {
	d, err := parseDescription(openAPI)
	if err != nil {
		return nil, fmt.Errorf("read the description of GitHub's API: %w", err)
	}
	return d, nil
})

func parseDescription(text []byte) (*description, error) {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	text, err := json.Marshal(schemas(v))
	if err != nil {
		return nil, err
	}
	d := &description{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, err
	}
	for _, methods := range d.Paths {
		for _, op := range methods {
			if err := d.connect(op); err != nil {
				return nil, fmt.Errorf("operation %s: %w", op.OperationID, err)
			}
		}
	}
	return d, nil
}

// Where OpenAPI 3.0 has schemas and JSON Schema has them.
const (
	componentSchemas = "#/components/schemas/"
	defs             = "#/$defs/"
)

// schemas returns a part of a description with its schemas as JSON Schema has them: what may be null says so as a type, and what is
// told apart by a field is any of its forms.
func schemas(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = schemas(v[i])
		}
	case map[string]any:
		for name, x := range v {
			v[name] = schemas(x)
		}
		if ref, ok := v["$ref"].(string); ok {
			v["$ref"] = strings.Replace(ref, componentSchemas, defs, 1)
		}
		if _, ok := v["discriminator"].(map[string]any); ok && v["oneOf"] != nil {
			v["anyOf"] = v["oneOf"]
			delete(v, "oneOf")
		}
		if v["nullable"] == true {
			return nullable(v)
		}
	}
	return v
}

// nullable returns a schema that allows null besides.
func nullable(s map[string]any) map[string]any {
	delete(s, "nullable")
	typ, ok := s["type"].(string)
	if !ok {
		return object{"anyOf": []any{s, object{"type": "null"}}}
	}
	s["type"] = []any{typ, "null"}
	if all, ok := s["enum"].([]any); ok {
		s["enum"] = append(all, nil)
	}
	return s
}

// connect puts in place of references what they are for, and makes the checks.
func (d *description) connect(op *operation) error {
	for i, p := range op.Parameters {
		if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
			p = d.Components.Parameters[name]
		}
		if p == nil || p.Schema == nil {
			return fmt.Errorf("there is no parameter %q", op.Parameters[i].Ref)
		}
		p.check = d.checkOf(p.Schema)
		op.Parameters[i] = p
	}
	for status, a := range op.Responses {
		if name, ok := strings.CutPrefix(a.Ref, "#/components/responses/"); ok {
			if a = d.Components.Responses[name]; a == nil {
				return fmt.Errorf("there is no answer %q", name)
			}
			op.Responses[status] = a
		}
		d.connectBodies(a.Content)
	}
	if op.RequestBody != nil {
		d.connectBodies(op.RequestBody.Content)
	}
	return nil
}

// connectBodies makes the checks of bodies.
func (d *description) connectBodies(content map[string]*media) {
	for _, m := range content {
		if m.Schema != nil {
			m.check = d.checkOf(m.Schema)
		}
	}
}

// checkOf returns the check of a schema, which may refer to others of the description.
func (d *description) checkOf(s *jsonschema.Schema) check {
	root := &jsonschema.Schema{AllOf: []*jsonschema.Schema{s}, Defs: d.Components.Schemas}
	return sync.OnceValues(func() (*jsonschema.Resolved, error) { return root.Resolve(nil) })
}

// wrong returns why a value does not hold: nil, it does.
func (c check) wrong(v any) error {
	held, err := c()
	if err != nil {
		return err
	}
	return held.Validate(v)
}

// operation returns what a method does at a path of the description; nil: nothing.
func (d *description) operation(method, path string) *operation {
	return d.Paths[path][strings.ToLower(method)]
}

// of returns what a schema refers to, or the schema itself.
func (d *description) of(s *jsonschema.Schema) *jsonschema.Schema {
	for s.Ref != "" {
		s = d.Components.Schemas[strings.TrimPrefix(s.Ref, defs)]
	}
	return s
}

// answer returns the form of an answer, nil where it has none; false: there is no answer with this status.
func (op *operation) answer(status int) (*media, bool) {
	a, ok := op.Responses[strconv.Itoa(status)]
	if !ok {
		return nil, false
	}
	return a.Content[mediaJSON], true
}

// asks reports whether an operation has a parameter of a query.
func (op *operation) asks(name string) bool {
	for _, p := range op.Parameters {
		if p.In == "query" && p.Name == name {
			return true
		}
	}
	return false
}

// wrong returns why a text is no value of a parameter: nil, it is one. There are texts and whole numbers.
func (p *parameter) wrong(text string) error {
	var v any = text
	if p.Schema.Type == "integer" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		v = n
	}
	return p.check.wrong(v)
}

// wrong returns why a body is not what is described: nil, it is.
func (m *media) wrong(body []byte) error {
	if m == nil || m.check == nil {
		return nil
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	return m.check.wrong(v)
}
