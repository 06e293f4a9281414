package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/decantdev/decant/agent"
)

// A Schema is the form that an answer must have.
type Schema struct {
	text   jsontext.Value
	schema *jsonschema.Resolved
}

// ParseSchema reads a JSON schema of draft 2020-12 or 7.
func ParseSchema(src []byte) (*Schema, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(src, &s); err != nil {
		return nil, fmt.Errorf("it is not a JSON schema: %w", err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("it cannot be used: %w", err)
	}
	text := jsontext.Value(src).Clone()
	if err := text.Compact(); err != nil {
		return nil, err
	}
	return &Schema{text: text, schema: r}, nil
}

// asks returns what a model is told of the form.
func (s *Schema) asks() string {
	return "\n\nGive your final answer as one JSON value without any other text. Its schema is:\n" + string(s.text)
}

// find returns the first JSON value in an answer that has the form; it may stand in a fence, or between words. The error says what is
// wrong with the first value.
func (s *Schema) find(answer string) (jsontext.Value, error) {
	err := errors.New("there is no JSON in it")
	first := true
	for at := 0; at < len(answer); {
		i := strings.IndexAny(answer[at:], `{["0123456789-tfn`)
		if i < 0 {
			break
		}
		at += i
		v, bad := jsontext.NewDecoder(strings.NewReader(answer[at:])).ReadValue()
		if bad != nil {
			at++
			continue
		}
		wrong := s.check(v)
		if wrong == nil {
			return v.Clone(), nil
		}
		if kind := v.Kind(); first && (kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray) {
			first, err = false, wrong
		}
		at += max(1, len(v))
	}
	return nil, err
}

// check says what is wrong with a value.
func (s *Schema) check(v jsontext.Value) error {
	var any any
	if err := json.Unmarshal(v, &any); err != nil {
		return err
	}
	return s.schema.Validate(any)
}

// ErrForm means that a model did not give its answer in the form that it was asked for.
var ErrForm = errors.New("the answer does not have the form that was asked for")

// formed asks until the answer has its form, twice at most.
func (c *Chat) formed(ctx context.Context, q Question, heard func(agent.Event)) (v jsontext.Value, o agent.Outcome, err error) {
	text, with := q.Text+q.Schema.asks(), q.With
	for range 2 {
		if o, err = c.finished(ctx, text, with, heard); err != nil {
			return nil, o, err
		}
		if o.Stop == agent.StopRefused {
			return nil, o, ErrForm
		}
		v, bad := q.Schema.find(o.Text)
		if bad == nil {
			return v, o, nil
		}
		err = fmt.Errorf("%w: %w", ErrForm, bad)
		text, with = "Your answer is not what was asked for: "+bad.Error()+". Give it again, as one JSON value of the schema and nothing else.", nil
	}
	return nil, o, err
}

// finished runs to the end.
func (c *Chat) finished(ctx context.Context, text string, with []agent.Attachment, heard func(agent.Event)) (o agent.Outcome, err error) {
	for e, fault := range c.Run(ctx, text, with...) {
		if heard != nil {
			heard(e)
		}
		if e.Outcome != nil {
			o = *e.Outcome
		}
		err = errors.Join(err, fault)
	}
	return o, err
}
