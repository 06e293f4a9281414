package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// A command line is read by the definition of its own command alone, and nobody notices: its help is that of the whole program's definition.
func TestOneCommandIsReadAsAllAre(t *testing.T) {
	var out bytes.Buffer
	reader := func(grammar any) *kong.Kong {
		parser, err := kong.New(grammar, kong.Name("decant"), kong.Writers(&out, io.Discard), kong.Exit(func(int) {}), kong.Vars{"model": defaultModel})
		if err != nil {
			t.Fatal(err)
		}
		return parser
	}
	help := func(parser *kong.Kong, name string) string {
		out.Reset()
		parser.Parse([]string{name, "--help"})
		return out.String()
	}
	all := reader(&commands{})
	for _, cmd := range all.Model.Children {
		alone := reader(grammar([]string{cmd.Name}))
		want := help(all, cmd.Name)
		if diff := cmp.Diff(want, help(alone, cmd.Name)); diff != "" || want == "" {
			t.Errorf("%s (-all +alone)\n%s", cmd.Name, diff)
		}
		if n := len(alone.Model.Children); n > 1 && cmd.Name != "completion" {
			t.Errorf("%s is read by the definition of %d commands", cmd.Name, n)
		}
	}
}
