// Package cli reads command lines into structs whose field tags define commands, arguments and flags.
//
// A field with the tag cmd is a command; its struct has further commands, or arguments and flags. A field with the tag
// arg is an argument; every other field with a tag is a flag. Embedded structs add theirs. The tags:
//
//	cmd          a command
//	arg          an argument
//	name         the name, where it is not that of the field (KeepTurns is keep-turns)
//	help         one or two sentences; ${default} and the variables of New are replaced
//	example      a command line, shown by the help of a command
//	group        heading under which the help of the program lists a command
//	hidden       help does not list the command
//	aliases      another name of a command
//	optional     the argument may be missing
//	passthrough  the argument takes the rest of the command line, whatever it is
//	short        a letter: -y
//	default      text of the value when the command line and env have none
//	env          variable that gives the value when the command line does not
//	enum         the possible values, separated by commas; an empty one is possible as the default only
//	placeholder  what help shows for the value
//	sep          "none": a flag that may be repeated is not split at commas
//	xor          a name; flags with the same one exclude each other
//
// Values are strings, whole numbers, decimals, switches, durations, lists of strings, pointers to these, and types that
// implement encoding.TextUnmarshaler. The package calls no method by its name, which would keep every method of a
// program in it.
package cli

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A Command is a program or one of its commands.
type Command struct {
	Name    string
	Alias   string // another name, empty if there is none
	Help    string // what it does
	Example string // a command line, empty if there is none
	Group   string // heading under which the program lists it
	Hidden  bool   // not listed

	parent    *Command
	value     reflect.Value // the struct
	variables *strings.Replacer
}

// New returns the program that a pointer to a struct defines. In its help texts, variables are replaced: name, value,
// name, value, and so on.
func New(name, help string, program any, variables ...string) *Command {
	for i := 0; i < len(variables); i += 2 {
		variables[i] = "${" + variables[i] + "}"
	}
	return &Command{
		Name: name, Help: help, value: reflect.ValueOf(program).Elem(), variables: strings.NewReplacer(variables...),
	}
}

// Path returns the words that a user types for the command: decant key add.
func (c *Command) Path() string {
	if c.parent == nil {
		return c.Name
	}
	return c.parent.Path() + " " + c.Name
}

// Target returns a pointer to the struct that the command line is read into.
func (c *Command) Target() any { return c.value.Addr().Interface() }

// Commands returns the commands below this one, in the order of their fields.
func (c *Command) Commands() []*Command { return c.commandsIn(c.value) }

// commandsIn returns the commands that the fields of a struct define.
func (c *Command) commandsIn(v reflect.Value) (out []*Command) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		_, isCommand := f.Tag.Lookup("cmd")
		switch {
		case isCommand:
			_, hidden := f.Tag.Lookup("hidden")
			out = append(out, &Command{
				Name: nameOf(f), Alias: f.Tag.Get("aliases"), Help: c.variables.Replace(f.Tag.Get("help")),
				Example: f.Tag.Get("example"), Group: f.Tag.Get("group"), Hidden: hidden,
				parent: c, value: v.Field(i), variables: c.variables,
			})
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			out = append(out, c.commandsIn(v.Field(i))...)
		}
	}
	return out
}

// command returns the command below this one with a name or an alias, nil if there is none.
func (c *Command) command(name string) *Command {
	for _, sub := range c.Commands() {
		if name == sub.Name || name == sub.Alias && name != "" {
			return sub
		}
	}
	return nil
}

// A Param is a flag or an argument of a command.
type Param struct {
	Name        string
	Short       string // letter of a flag, empty if there is none
	Help        string
	Placeholder string
	Enum        []string // possible values; nil: any
	Argument    bool     // no flag
	Optional    bool     // of an argument

	def         *string // text of the default, nil if there is none
	env         string
	xor         string
	split       bool // a list is split at commas
	passthrough bool
	value       reflect.Value
	given       bool
}

// Flags returns the flags of the command.
func (c *Command) Flags() []*Param {
	return slices.DeleteFunc(c.params(), func(p *Param) bool { return p.Argument })
}

// Arguments returns the arguments of the command.
func (c *Command) Arguments() []*Param {
	return slices.DeleteFunc(c.params(), func(p *Param) bool { return !p.Argument })
}

func (c *Command) params() []*Param { return c.fields(c.value) }

// fields returns the parameters that the fields of a struct define.
func (c *Command) fields(v reflect.Value) (out []*Param) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		_, isCommand := f.Tag.Lookup("cmd")
		switch {
		case isCommand:
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			out = append(out, c.fields(v.Field(i))...)
		case f.Tag != "":
			out = append(out, c.param(f, v.Field(i)))
		}
	}
	return out
}

func (c *Command) param(f reflect.StructField, v reflect.Value) *Param {
	p := &Param{
		Name: nameOf(f), Short: f.Tag.Get("short"), Placeholder: f.Tag.Get("placeholder"), env: f.Tag.Get("env"),
		xor: f.Tag.Get("xor"), split: f.Tag.Get("sep") != "none", value: v,
	}
	_, p.Argument = f.Tag.Lookup("arg")
	_, p.Optional = f.Tag.Lookup("optional")
	_, p.passthrough = f.Tag.Lookup("passthrough")
	if text, ok := f.Tag.Lookup("enum"); ok {
		p.Enum = strings.Split(text, ",")
	}
	help := c.variables.Replace(f.Tag.Get("help"))
	if text, ok := f.Tag.Lookup("default"); ok {
		p.def = &text
		help = strings.ReplaceAll(help, "${default}", text)
	}
	p.Help = help
	return p
}

// isSwitch reports whether a flag takes no value.
func (p *Param) isSwitch() bool { return p.value.Kind() == reflect.Bool }

// isList reports whether a parameter takes several values.
func (p *Param) isList() bool { return p.value.Kind() == reflect.Slice }

// nameOf returns the name of a field on the command line: KeepTurns is keep-turns.
func nameOf(f reflect.StructField) string {
	if name, ok := f.Tag.Lookup("name"); ok {
		return name
	}
	var out []rune
	for i, r := range f.Name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(f.Name[i-1])) {
			out = append(out, '-')
		}
		out = append(out, unicode.ToLower(r))
	}
	return string(out)
}
