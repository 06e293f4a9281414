package cli

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An OptionalValue is the type of a flag that may be given without a value: what follows it is its value unless it
// begins with a hyphen.
type OptionalValue interface {
	encoding.TextUnmarshaler

	// NoValue is called when the flag has no value.
	NoValue()
}

// set reads the text of a value.
func (p *Param) set(text string) error {
	if p.Enum != nil && (text == "" || !slices.Contains(p.Enum, text)) {
		return fmt.Errorf("want %s, not %q", either(p.Enum), text)
	}
	v := p.value
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if t, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return t.UnmarshalText([]byte(text))
	}
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("want a time such as 30s, 5m or 1h, not %q", text)
		}
		v.SetInt(int64(d))
		return nil
	}
	return p.setBasic(v, text)
}

// setBasic reads a value of one of Go's own types.
func (p *Param) setBasic(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("want true or false, not %q", text)
		}
		v.SetBool(on)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("want a whole number, not %q", text)
		}
		v.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("want a number, not %q", text)
		}
		v.SetFloat(x)
	case reflect.Slice:
		words := []string{text}
		if p.split && !p.Argument {
			words = strings.Split(text, ",")
		}
		v.Set(reflect.AppendSlice(v, reflect.ValueOf(words)))
	default:
		panic(fmt.Sprintf("cli: %s has the type %s, which no text can become", p.label(), v.Type()))
	}
	return nil
}

// label returns the parameter as help and errors name it.
func (p *Param) label() string {
	if p.Argument {
		return "<" + p.Name + ">"
	}
	return "--" + p.Name
}

// either lists what is possible: a, b or c.
func either(words []string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}
