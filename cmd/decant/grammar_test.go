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
	help := func(grammar any, name string) (string, int) {
		var out bytes.Buffer
		parser, err := kong.New(grammar, kong.Name("decant"), kong.Writers(&out, io.Discard), kong.Exit(func(int) {}))
		if err != nil {
			t.Fatal(err)
		}
		parser.Parse([]string{name, "--help"})
		return out.String(), len(parser.Model.Children)
	}
	all, err := kong.New(&commands{}, kong.Name("decant"))
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range all.Model.Children {
		want, _ := help(&commands{}, cmd.Name)
		got, n := help(grammar([]string{cmd.Name}), cmd.Name)
		if diff := cmp.Diff(want, got); diff != "" || want == "" {
			t.Errorf("%s (-all +alone)\n%s", cmd.Name, diff)
		}
		if n > 1 && cmd.Name != "completion" {
			t.Errorf("%s is read by the definition of %d commands", cmd.Name, n)
		}
	}
}
