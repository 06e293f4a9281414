package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/decantdev/decant/internal/cli"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/wire"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints a completion script. It is made from the definition of the command line, so that it is always
// up to date.
func (c *completionCmd) Run(s *process.Process) error {
	app := program()
	var script string
	switch c.Shell {
	case "bash":
		script = bashCompletion(app)
	case "zsh":
		script = "#compdef decant\nautoload -U +X bashcompinit && bashcompinit\n" + bashCompletion(app)
	case "fish":
		script = fishCompletion(app)
	}
	_, err := io.WriteString(s.Out, script)
	return err
}

func bashCompletion(app *cli.Command) string {
	var b strings.Builder
	b.WriteString("_decant() {\n  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\"\" values=\"\" files=\"\"\n")
	b.WriteString("  case \"${COMP_WORDS[1]} $prev\" in\n")
	var names []string
	for _, cmd := range commandsOf(app) {
		names = append(names, cmd.Name)
		for _, v := range valuesOf(cmd) {
			files := ""
			if v.files {
				files = " files=yes"
			}
			fmt.Fprintf(&b, "    %q) values=%q%s ;;\n", cmd.Name+" "+v.after, strings.Join(v.words, " "), files)
		}
	}
	b.WriteString("  esac\n  case \"${COMP_WORDS[1]}\" in\n")
	for _, cmd := range commandsOf(app) {
		fmt.Fprintf(&b, "    %s) words=%q ;;\n", cmd.Name, strings.Join(flagNames(cmd), " "))
	}
	b.WriteString("  esac\n")
	fmt.Fprintf(&b, "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W %q -- \"$cur\"))\n", strings.Join(names, " "))
	b.WriteString("  elif [ \"${cur#-}\" != \"$cur\" ]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n")
	b.WriteString("  elif [ -n \"$values\" ]; then\n    COMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n")
	b.WriteString("    if [ -n \"$files\" ]; then COMPREPLY+=($(compgen -f -- \"$cur\")); fi\n")
	b.WriteString("  else\n    COMPREPLY=($(compgen -f -- \"$cur\"))\n  fi\n}\ncomplete -o filenames -F _decant decant\n")
	return b.String()
}

// values are the words that may follow another word of a command line.
type values struct {
	after string // a flag, or the command itself
	words []string
	files bool // or a file
}

// valuesOf returns the known words that may follow a command and its flags.
func valuesOf(cmd *cli.Command) (out []values) {
	if words := following(cmd); len(words) > 0 {
		out = append(out, values{after: cmd.Name, words: words})
	}
	for _, f := range cmd.Flags() {
		v := values{after: "--" + f.Name, words: f.Enum}
		if len(f.Enum) == 0 {
			v.words, v.files = knownValues(f.Name)
		}
		if len(v.words) > 0 {
			out = append(out, v)
		}
	}
	return out
}

// following returns the commands below one, or the words that its first argument may be.
func following(cmd *cli.Command) (words []string) {
	for _, sub := range cmd.Commands() {
		words = append(words, sub.Name)
	}
	if args := cmd.Arguments(); len(args) > 0 {
		words = append(words, args[0].Enum...)
	}
	return words
}

// knownValues returns the values of flags that take fixed words, and whether they also take a file.
func knownValues(flag string) (words []string, files bool) {
	switch flag {
	case "preset":
		return preset.Names(), true
	case "early-pours":
		return preset.Levels(), false
	case "from":
		for _, f := range wire.Formats() {
			words = append(words, string(f))
		}
	case "mode":
		words = []string{"manage", "observe", "off"}
	case "log":
		words = []string{"debug", "info", "warn", "error"}
	case "lifetime":
		words = []string{"5m", "1h"}
	}
	return words, false
}

func fishCompletion(app *cli.Command) string {
	var b strings.Builder
	for _, cmd := range commandsOf(app) {
		fmt.Fprintf(&b, "complete -c decant -n __fish_use_subcommand -f -a %s -d %q\n", cmd.Name, cmd.Help)
		under := fmt.Sprintf("complete -c decant -n '__fish_seen_subcommand_from %s'", cmd.Name)
		if words := following(cmd); len(words) > 0 {
			fmt.Fprintf(&b, "%s -f -a %q\n", under, strings.Join(words, " "))
		}
		values := map[string][]string{}
		for _, v := range valuesOf(cmd) {
			values[v.after] = v.words
		}
		for _, f := range cmd.Flags() {
			takes := ""
			if words := values["--"+f.Name]; len(words) > 0 {
				takes = fmt.Sprintf(" -r -a %q", strings.Join(words, " "))
			}
			fmt.Fprintf(&b, "%s -l %s%s -d %q\n", under, f.Name, takes, f.Help)
		}
	}
	return b.String()
}

// commandsOf returns the commands directly below the program.
func commandsOf(app *cli.Command) (out []*cli.Command) {
	for _, n := range app.Commands() {
		if !n.Hidden {
			out = append(out, n)
		}
	}
	return out
}

// flagNames returns the words that may follow a command: its own commands, and its flags.
func flagNames(cmd *cli.Command) []string {
	out := []string{"--help"}
	for _, sub := range cmd.Commands() {
		out = append(out, sub.Name)
	}
	for _, f := range cmd.Flags() {
		out = append(out, "--"+f.Name)
	}
	return out
}
