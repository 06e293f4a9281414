package ruler

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Values returns the decoded strings and numbers in the arguments of a call, one on a line, without the
// names of the parameters: those are in every request anyway. Arguments that are no JSON are text.
func Values(arguments string) string {
	values, _ := Arguments(arguments)
	return values
}

// Names calls yield with the name of every parameter in the arguments of a call, inner ones included.
// Arguments that are no JSON have none.
func Names(arguments string, yield func(name string)) {
	_, names := Arguments(arguments)
	for _, n := range names {
		yield(n)
	}
}

// Arguments returns what [Values] and [Names] find, for who needs both.
func Arguments(arguments string) (values string, names []string) {
	var said []string
	err := walk(arguments, func(n string) { names = append(names, n) }, func(v string) { said = append(said, v) })
	if err != nil {
		return arguments, nil
	}
	return strings.Join(said, "\n"), names
}

// walk reads one JSON text and calls name with every member's name and value with every string and
// number, in order.
func walk(text string, name, value func(string)) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := element(d, name, value, deepest); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errText
	}
	return nil
}

// deepest is how deep the arguments of a call may be nested to be read as JSON.
const deepest = 1000

// errText says that arguments are no JSON text that can be read.
var errText = errors.New("not one JSON value")

// element reads one value.
func element(d *json.Decoder, name, value func(string), depth int) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		return members(d, t == '{', name, value, depth-1)
	case string:
		value(t)
	case json.Number:
		value(t.String())
	}
	return nil
}

// members reads what is in an object or an array, and its end.
func members(d *json.Decoder, object bool, name, value func(string), depth int) error {
	if depth == 0 {
		return errText
	}
	for d.More() {
		if object {
			t, err := d.Token()
			if err != nil {
				return err
			}
			name(t.(string))
		}
		if err := element(d, name, value, depth); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}
