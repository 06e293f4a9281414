package sandbox

import (
	"fmt"
	"strconv"

	"github.com/decantdev/decant/internal/jsonspan"
)

// An object is a JSON object that keeps the order of its members: names and values in turn.
type object []any

// A list is a JSON array.
type list []any

// orNull returns a text as a value, null for an empty one.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// marshal returns a value as JSON. Bytes are JSON already, and a node is what was sent.
func marshal(v any) []byte { return appendValue(nil, v) }

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return jsonspan.AppendQuote(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case bool:
		return strconv.AppendBool(b, v)
	case []byte:
		return append(b, v...)
	case *node:
		if v == nil {
			return append(b, "null"...)
		}
		return append(b, v.raw...)
	case list:
		b = append(b, '[')
		for i, one := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, one)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i := 0; i+1 < len(v); i += 2 {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(jsonspan.AppendQuote(b, v[i].(string)), ':')
			b = appendValue(b, v[i+1])
		}
		return append(b, '}')
	}
	panic(fmt.Sprintf("sandbox: no JSON for a %T", v)) // it is part of the program
}
