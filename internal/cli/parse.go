package cli

import (
	"fmt"
	"slices"
	"strings"
)

// Parse reads a command line, without the name of the program, into the struct of the command that it names. getenv
// returns the values of environment variables. Parse returns the command, also with an error that is about it, and
// whether its help is wanted.
func (c *Command) Parse(args []string, getenv func(string) string) (cmd *Command, help bool, err error) {
	r := &reading{rest: args}
	r.enter(c)
	for len(r.rest) > 0 && err == nil && !help {
		help, err = r.word()
	}
	if err != nil && r.helpFollows() {
		return r.cmd, true, nil
	}
	if err == nil && !help {
		err = r.finish(getenv)
	}
	return r.cmd, help, err
}

// reading is a command line of which a part is read.
type reading struct {
	cmd       *Command
	commands  []*Command
	flags     []*Param
	arguments []*Param // that can still take words
	rest      []string
	plain     bool // no further word is a flag, because -- came
}

// enter goes on with a command.
func (r *reading) enter(c *Command) {
	r.cmd, r.commands, r.flags, r.arguments = c, c.Commands(), c.Flags(), c.Arguments()
}

// word reads the next word, and reports whether it asks for help.
func (r *reading) word() (help bool, err error) {
	word := r.rest[0]
	r.rest = r.rest[1:]
	switch {
	case r.plain:
		return false, r.argument(word)
	case word == "--":
		r.plain = true
	case word == "--help" || word == "-h":
		return true, nil
	case strings.HasPrefix(word, "--"):
		return false, r.long(word[2:])
	case len(word) > 1 && word[0] == '-':
		return false, r.short(word[1:])
	case len(r.commands) > 0:
		sub := r.cmd.command(word)
		if sub == nil {
			return false, fmt.Errorf("unknown command %q%s", word, r.meant(word, r.commandNames()))
		}
		r.enter(sub)
	default:
		return false, r.argument(word)
	}
	return false, nil
}

// helpFollows reports whether help is asked for behind a mistake.
func (r *reading) helpFollows() bool {
	for _, word := range r.rest {
		switch word {
		case "--":
			return false
		case "--help", "-h":
			return !r.plain
		}
	}
	return false
}

// long reads a flag with its value, if it takes one.
func (r *reading) long(word string) error {
	name, value, has := strings.Cut(word, "=")
	for _, p := range r.flags {
		if p.Name == name {
			return r.flag(p, value, has)
		}
	}
	var names []string
	for _, p := range r.flags {
		names = append(names, "--"+p.Name)
	}
	return fmt.Errorf("unknown flag --%s%s", name, r.meant("--"+name, names))
}

// short reads flags of one letter; the last of them may have a value.
func (r *reading) short(word string) error {
	for i := range len(word) {
		n := slices.IndexFunc(r.flags, func(p *Param) bool { return p.Short != "" && p.Short == word[i:i+1] })
		if n < 0 {
			return fmt.Errorf("unknown flag -%s", word[i:])
		}
		p, value := r.flags[n], word[i+1:]
		if !p.isSwitch() || strings.HasPrefix(value, "=") {
			return r.flag(p, strings.TrimPrefix(value, "="), value != "")
		}
		if err := r.flag(p, "", false); err != nil {
			return err
		}
	}
	return nil
}

// flag sets a flag. Unless it has a value already, it takes the next word, where it needs one.
func (r *reading) flag(p *Param, value string, has bool) error {
	optional, mayLack := p.value.Addr().Interface().(OptionalValue)
	switch {
	case has:
	case p.isSwitch():
		value = "true"
	case len(r.rest) > 0 && isValue(r.rest[0]):
		value, r.rest = r.rest[0], r.rest[1:]
	case mayLack:
		p.given = true
		optional.NoValue()
		return nil
	default:
		return fmt.Errorf("%s needs a value: --%s", p.label(), p.form())
	}
	return r.set(p, value)
}

// isValue reports whether a word can be the value of the flag before it. What begins with a hyphen is a flag, unless it
// is a negative number, about which the type of the flag has its say.
func isValue(word string) bool {
	return len(word) < 2 || word[0] != '-' || word[1] >= '0' && word[1] <= '9'
}

// set sets a parameter, and checks that nothing excludes it.
func (r *reading) set(p *Param, value string) error {
	for _, other := range r.flags {
		if other != p && other.given && other.xor == p.xor && p.xor != "" {
			return fmt.Errorf("%s and %s exclude each other", other.label(), p.label())
		}
	}
	p.given = true
	if err := p.set(value); err != nil {
		return fmt.Errorf("%s: %w", p.label(), err)
	}
	return nil
}

// argument sets the next argument of the command.
func (r *reading) argument(word string) error {
	if len(r.arguments) == 0 {
		return fmt.Errorf("unexpected argument %q", word)
	}
	p := r.arguments[0]
	if p.passthrough {
		for _, w := range append([]string{word}, r.rest...) {
			p.set(w) // strings always succeed
		}
		p.given, r.rest = true, nil
		return nil
	}
	if !p.isList() {
		r.arguments = r.arguments[1:]
	}
	return r.set(p, word)
}

// finish checks that nothing is missing, and sets what was not given from the environment or to its default.
func (r *reading) finish(getenv func(string) string) error {
	if len(r.commands) > 0 {
		return fmt.Errorf("name a command: %s", either(r.commandNames()))
	}
	for _, p := range slices.Concat(r.flags, r.arguments) {
		if p.given {
			continue
		}
		if text := getenv(p.env); p.env != "" && text != "" {
			if err := p.set(text); err != nil {
				return fmt.Errorf("%s: %w", p.env, err)
			}
			continue
		}
		if p.def != nil && *p.def != "" {
			if err := p.set(*p.def); err != nil {
				panic(fmt.Sprintf("cli: the default of %s: %v", p.label(), err))
			}
			continue
		}
		if p.Argument && !p.Optional && p.def == nil {
			return fmt.Errorf("%s is missing", p.label())
		}
	}
	return nil
}

// commandNames returns the names of the commands that may follow, without hidden ones.
func (r *reading) commandNames() (names []string) {
	for _, c := range r.commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

// meant returns a hint at the name that a mistyped one is probably meant to be, empty if none is near.
func (r *reading) meant(typed string, names []string) string {
	best, least := "", 1+len(typed)/3 // a third of the letters may be wrong
	for _, name := range names {
		if d := distance(typed, name); d <= least && (best == "" || d < distance(typed, best)) {
			best = name
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance returns how many letters must be inserted, removed or replaced to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
