// Package yamltext reads YAML that may come from anybody. The parser's time grows with the square of what is nested, so
// text that nests more than people write is refused before it is parsed.
package yamltext

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// The most that a text may nest: brackets that are open at once, and marks of structure on one line.
const (
	mostOpen  = 200
	mostMarks = 1000
)

// Unmarshal reads data into v. Options are those of goccy/go-yaml, such as yaml.Strict(). An empty text leaves v as it
// is.
func Unmarshal(data []byte, v any, opts ...yaml.DecodeOption) error {
	if err := check(data); err != nil {
		return err
	}
	return yaml.UnmarshalWithOptions(data, v, opts...)
}

// Parse returns the tree of data.
func Parse(data []byte) (*ast.File, error) {
	if err := check(data); err != nil {
		return nil, err
	}
	return parser.ParseBytes(data, 0)
}

// check returns an error for a text that nests too much.
func check(data []byte) error {
	open, n := 0, 0
	for line := range bytes.Lines(data) {
		n++
		marks := 0
		for i, c := range line {
			switch c {
			case '[', '{':
				open++
				marks++
			case ']', '}':
				open = max(0, open-1)
			case '&', '!', '*':
				marks++
			case '-', '?', ':':
				if i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
					marks++
				}
			}
		}
		if open > mostOpen {
			return fmt.Errorf("line %d: more than %d brackets are open; nest less", n, mostOpen)
		}
		if marks > mostMarks {
			return fmt.Errorf("line %d: more than %d keys, items and brackets on one line; use more lines", n, mostMarks)
		}
	}
	return nil
}
