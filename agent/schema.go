package agent

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf returns the JSON schema of T, a struct. Members have the names of their json tags; those without omitempty and
// omitzero are required. A tag `jsonschema:"where to look"` describes a member, and `enum:"a,b"` lists the values that it may
// have. SchemaOf panics where T has no schema, as a type that contains itself.
func schemaOf[T any]() json.RawMessage {
	t := reflect.TypeFor[T]()
	s, err := jsonschema.ForType(t, nil)
	if err != nil {
		panic("agent: " + err.Error())
	}
	refine(s, t)
	src, err := json.Marshal(s)
	if err != nil {
		panic("agent: the schema of " + t.String() + " cannot be written: " + err.Error())
	}
	return src
}

// refine adds the values that tags list, and removes null from what may be nil: a model leaves such a member out.
func refine(s *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s.Types = slices.DeleteFunc(s.Types, func(name string) bool { return name == "null" }); len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if s.Items != nil {
			refine(s.Items, t.Elem())
		}
	case reflect.Map:
		refine(s.AdditionalProperties, t.Elem())
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			member := s.Properties[name]
			if member == nil {
				continue
			}
			refine(member, f.Type)
			if values := f.Tag.Get("enum"); values != "" {
				for value := range strings.SplitSeq(values, ",") {
					member.Enum = append(member.Enum, value)
				}
			}
		}
	}
}
