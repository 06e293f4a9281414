package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints a completion script, made from the command line's own definition so that it cannot
// lag behind.
func (c *completionCmd) Run(s *streams, app *kong.Application) error {
	var script string
	switch c.Shell {
	case "bash":
		script = bashCompletion(app)
	case "zsh":
		script = "#compdef decant\nautoload -U +X bashcompinit && bashcompinit\n" + bashCompletion(app)
	case "fish":
		script = fishCompletion(app)
	}
	_, err := io.WriteString(s.out, script)
	return err
}

func bashCompletion(app *kong.Application) string {
	var b strings.Builder
	b.WriteString("_decant() {\n  local cur=${COMP_WORDS[COMP_CWORD]} words=\"\"\n  case \"${COMP_WORDS[1]}\" in\n")
	var names []string
	for _, cmd := range commandsOf(app) {
		names = append(names, cmd.Name)
		fmt.Fprintf(&b, "    %s) words=%q ;;\n", cmd.Name, strings.Join(flagNames(cmd), " "))
	}
	b.WriteString("  esac\n")
	fmt.Fprintf(&b, "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W %q -- \"$cur\"))\n", strings.Join(names, " "))
	b.WriteString("  elif [ \"${cur#-}\" != \"$cur\" ]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n")
	b.WriteString("  else\n    COMPREPLY=($(compgen -f -- \"$cur\"))\n  fi\n}\ncomplete -o filenames -F _decant decant\n")
	return b.String()
}

func fishCompletion(app *kong.Application) string {
	var b strings.Builder
	for _, cmd := range commandsOf(app) {
		fmt.Fprintf(&b, "complete -c decant -n __fish_use_subcommand -f -a %s -d %q\n", cmd.Name, cmd.Help)
		for _, sub := range cmd.Children {
			fmt.Fprintf(&b, "complete -c decant -n '__fish_seen_subcommand_from %s' -f -a %s -d %q\n", cmd.Name, sub.Name, sub.Help)
		}
		for _, f := range cmd.Flags {
			fmt.Fprintf(&b, "complete -c decant -n '__fish_seen_subcommand_from %s' -l %s -d %q\n", cmd.Name, f.Name, f.Help)
		}
	}
	return b.String()
}

// commandsOf returns the commands directly below the program.
func commandsOf(app *kong.Application) (out []*kong.Node) {
	for _, n := range app.Children {
		if !n.Hidden {
			out = append(out, n)
		}
	}
	return out
}

// flagNames returns the words that may follow a command: its own commands, and its flags.
func flagNames(cmd *kong.Node) []string {
	out := []string{"--help"}
	for _, sub := range cmd.Children {
		out = append(out, sub.Name)
	}
	for _, f := range cmd.Flags {
		if f.Name != "help" {
			out = append(out, "--"+f.Name)
		}
	}
	return out
}
