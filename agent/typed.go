package agent

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Func returns a tool whose arguments are a T, which must be a struct. Arguments that do not fit never reach run: the model is told
// what is wrong with them.
func Func[T any](name, description string, run func(ctx context.Context, c *Call, args T) (Result, error)) Tool {
	schema := stdjson.RawMessage(schemaOf[T]())
	required := requiredBy(schema)
	return Tool{Name: name, Description: description, Schema: schema, Run: func(ctx context.Context, c *Call) (Result, error) {
		var args T
		if err := fit(c.Arguments, required, &args); err != nil {
			return Result{}, fmt.Errorf("the arguments of %s do not fit: %w", name, err)
		}
		return run(ctx, c, args)
	}}
}

// requiredBy returns the members that a schema requires.
func requiredBy(schema stdjson.RawMessage) []string {
	var s struct {
		Required []string `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	return s.Required
}

// fit decodes an object strictly.
func fit(src stdjson.RawMessage, required []string, into any) error {
	var members map[string]stdjson.RawMessage
	if err := json.Unmarshal(src, &members); err != nil {
		return err
	}
	var missing []string
	for _, name := range required {
		if _, ok := members[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing: %s", strings.Join(missing, ", "))
	}
	return json.Unmarshal(src, into, json.RejectUnknownMembers(true))
}

// ErrUntyped means that a model did not give its answer in the form that it was asked for.
var ErrUntyped = errors.New("the answer is not in the form that was asked for")

// RunAs says text in a session and returns the answer as a T, which must be a struct: the model is given the schema of T. An answer
// that does not fit is sent back once, in a run of its own, with what is wrong with it; a second one is ErrUntyped. The events of
// both runs go to heard; nil: to nobody. The outcome is that of the last run, also beside an error.
func RunAs[T any](ctx context.Context, s *Session, text string, heard func(Event)) (answer T, o Outcome, err error) {
	text += "\n\nGive your final answer as one JSON object without any other text. Its schema is:\n" + string(schemaOf[T]())
	if o, err = outcome(s.Run(ctx, text), heard); err != nil {
		return answer, o, err
	}
	return fitting[T](ctx, s, o, heard)
}

// ContinueAs goes on with what RunAs has begun in a session, perhaps in another process: with its run, if that has not come to its end, and
// with the answer, as RunAs does. In a session whose run has ended nothing is asked again; its outcome holds the text and what all runs of the
// session have used.
func ContinueAs[T any](ctx context.Context, s *Session, heard func(Event)) (answer T, o Outcome, err error) {
	o, err = outcome(s.Continue(ctx), heard)
	if errors.Is(err, ErrEnded) {
		o, err = Outcome{Stop: StopAnswered, Text: s.lastText(), Spent: s.Spent()}, nil
	}
	if err != nil {
		return answer, o, err
	}
	return fitting[T](ctx, s, o, heard)
}

// fitting returns the answer of an outcome as a T. One that does not fit is sent back once.
func fitting[T any](ctx context.Context, s *Session, first Outcome, heard func(Event)) (answer T, o Outcome, err error) {
	o = first
	for again := true; ; again = false {
		if o.Stop == StopApproval || o.Stop == StopRefused {
			break
		}
		var next T
		bad := fit(objectIn(o.Text), requiredBy(stdjson.RawMessage(schemaOf[T]())), &next)
		if bad == nil {
			return next, o, nil
		}
		err = bad
		if !again {
			break
		}
		text := "Your answer is not what was asked for: " + bad.Error() + ". Give it again, as one JSON object of the schema and nothing else."
		if o, err = outcome(s.Run(ctx, text), heard); err != nil {
			return answer, o, err
		}
	}
	return answer, o, errors.Join(fmt.Errorf("%w (%s)", ErrUntyped, o.Stop), err)
}

// lastText returns what the model has said last.
func (s *Session) lastText() string {
	messages := s.Messages()
	for i := len(messages) - 1; i >= 0; i-- {
		var m struct {
			Role   string `json:"role"`
			Blocks []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
		}
		if json.Unmarshal(messages[i], &m, lenient) != nil || m.Role != "assistant" {
			continue
		}
		var texts []string
		for _, b := range m.Blocks {
			if b.Type == "text" {
				texts = append(texts, b.Text)
			}
		}
		return strings.Join(texts, "\n")
	}
	return ""
}

// outcome hears a run to its end.
func outcome(run iter.Seq2[Event, error], heard func(Event)) (o Outcome, err error) {
	for e, fault := range run {
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

// objectIn returns the first JSON object of a text, which may stand in a fence or between words.
func objectIn(text string) stdjson.RawMessage {
	for i := strings.IndexByte(text, '{'); i >= 0; {
		d := jsontext.NewDecoder(strings.NewReader(text[i:]))
		if v, err := d.ReadValue(); err == nil {
			return bytes.Clone(v)
		}
		next := strings.IndexByte(text[i+1:], '{')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return stdjson.RawMessage(text)
}
