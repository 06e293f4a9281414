package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/cli"
)

// Every command can be run, and has a help text that fits on a terminal and shows what the command does.
func TestEveryCommandHasHelp(t *testing.T) {
	var check func(c *cli.Command)
	check = func(c *cli.Command) {
		var out strings.Builder
		if err := c.WriteHelp(&out, 80); err != nil {
			t.Fatal(err)
		}
		if c.Help == "" && !c.Hidden {
			t.Errorf("%s: help says nothing", c.Path())
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 && !strings.HasPrefix(line, "Usage: ") {
				t.Errorf("%s: a line has %d columns: %s", c.Path(), n, line)
			}
		}
		for _, p := range append(c.Flags(), c.Arguments()...) {
			if p.Help == "" || strings.Contains(p.Help, "${") {
				t.Errorf("%s: the help of %s is %q", c.Path(), p.Name, p.Help)
			}
		}
		subs := c.Commands()
		if _, runs := c.Target().(runner); runs == (len(subs) > 0) {
			t.Errorf("%s runs: %v, and has %d commands", c.Path(), runs, len(subs))
		}
		for _, sub := range subs {
			check(sub)
		}
	}
	check(program())
}
