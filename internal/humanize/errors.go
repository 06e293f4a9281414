package humanize

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// YAMLError returns what is wrong with a YAML file: where, what is wanted there and what stands there, and
// with source the lines around it.
func YAMLError(err error, source bool) string {
	text := yaml.FormatError(err, false, source)
	text = mismatch.ReplaceAllStringFunc(text, func(s string) string {
		m := mismatch.FindStringSubmatch(s)
		return fmt.Sprintf("want %s, not %s", wanted(m[2]), given(m[1]))
	})
	return misused.ReplaceAllStringFunc(text, func(s string) string {
		m := misused.FindStringSubmatch(s)
		return fmt.Sprintf("want %s, not %s", nodes[m[2]], nodes[m[1]])
	})
}

// What goccy/go-yaml says of a value of another type, and of another sort of node.
var (
	mismatch = lazyregexp.New(`cannot unmarshal (.+) into Go (?:struct field \S+|value) of type (\S+)(?: \( overflow \))?`)
	misused  = lazyregexp.New(`(\w+) was used where (\w+) is expected`)
)

// nodes are the sorts of nodes.
var nodes = map[string]string{
	"mapping": "keys with values", "sequence": "a list", "string": "a text", "int": "a number", "float": "a number", "bool": "true or false", "null": "nothing",
}

// wanted names a type of this program.
func wanted(typ string) string {
	switch {
	case strings.HasPrefix(typ, "int"), strings.HasPrefix(typ, "uint"):
		return "a whole number"
	case strings.HasPrefix(typ, "float"):
		return "a number"
	case typ == "bool":
		return "true or false"
	case typ == "string":
		return "a text"
	case strings.HasPrefix(typ, "[]"):
		return "a list"
	}
	return "keys with values"
}

// given names what stood there: the type that the decoder gave it, or a number that is too large.
func given(typ string) string {
	if typ != "" && (typ[0] >= '0' && typ[0] <= '9' || typ[0] == '-') {
		return typ
	}
	if strings.HasPrefix(typ, "uint") || strings.HasPrefix(typ, "int") && !strings.HasPrefix(typ, "interface") {
		return "a number"
	}
	return wanted(typ)
}

// JSONError returns err with a value of another type in words, and where it stands as a JSON pointer.
func JSONError(err error) error {
	var e *json.SemanticError
	if !errors.As(err, &e) || e.GoType == nil || e.JSONKind == 0 || e.Err != nil {
		return err
	}
	return fmt.Errorf("%s: want %s, not %s", e.JSONPointer, wantedType(e.GoType), kinds[e.JSONKind.String()])
}

// kinds are the kinds of JSON values.
var kinds = map[string]string{
	"null": "null", "false": "true or false", "true": "true or false", "string": "a text", "number": "a number", "{": "an object", "[": "a list",
}

func wantedType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	}
	return wanted(t.Kind().String())
}
