package group

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/internal/yamltext"
)

// An Ignored is a rule for events that nobody wants to hear of. All that it names must fit.
type Ignored struct {
	Class       string `yaml:"class"`       // "*" stands for any characters
	Transaction string `yaml:"transaction"` // likewise
	Message     string `yaml:"message"`     // a regular expression (RE2)
	Why         string `yaml:"why"`         // for people

	class, transaction, message *regexp.Regexp
}

// An IgnoreList is a list of such rules.
type IgnoreList []Ignored

// ReadIgnored reads a list of rules:
//
//   - class: ActionController::RoutingError
//     why: crawlers
//   - class: "Net::*"
//     message: "^execution expired"
//
// An error names the file and the line.
func ReadIgnored(file string, src []byte) (IgnoreList, error) {
	tree, err := yamltext.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", file, yaml.FormatError(err, false, true))
	}
	var list IgnoreList
	for _, doc := range tree.Docs {
		if doc.Body == nil {
			continue
		}
		rows, ok := doc.Body.(*ast.SequenceNode)
		if !ok {
			return nil, fmt.Errorf("%s:%d: there must be a list: each rule begins with \"- \"", file, doc.Body.GetToken().Position.Line)
		}
		for _, row := range rows.Values {
			var r Ignored
			err := yaml.NodeToValue(row, &r, yaml.Strict())
			if err == nil {
				err = r.compile()
			}
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, row.GetToken().Position.Line, err)
			}
			list = append(list, r)
		}
	}
	return list, nil
}

// compile checks a rule and makes it ready.
func (r *Ignored) compile() (err error) {
	if r.Class == "" && r.Transaction == "" && r.Message == "" {
		return fmt.Errorf("the rule names no class, transaction or message: it would ignore everything")
	}
	if r.message, err = regexp.Compile(r.Message); err != nil {
		return fmt.Errorf("message: %w", err)
	}
	r.class, r.transaction = stars(r.Class), stars(r.Transaction)
	return nil
}

// stars returns what a pattern with stars matches; an empty one: everything.
func stars(pattern string) *regexp.Regexp {
	if pattern == "" {
		return regexp.MustCompile("")
	}
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$")
}

// Ignores reports whether nobody wants to hear of an event, and by which rule.
func (l IgnoreList) Ignores(e *source.Event) (*Ignored, bool) {
	for i := range l {
		r := &l[i]
		if r.class.MatchString(e.Class) && r.transaction.MatchString(e.Transaction) && r.message.MatchString(e.Message) {
			return r, true
		}
	}
	return nil, false
}
