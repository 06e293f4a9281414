package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A size is a value with a form of its own.
type size int

func (s *size) UnmarshalText(text []byte) error {
	if _, err := fmt.Sscanf(string(text), "%dk", s); err != nil || *s < 0 {
		return fmt.Errorf("%q is not a size: write 20k", text)
	}
	return nil
}

// A day may be given without a value.
type day string

func (d *day) UnmarshalText(text []byte) error { *d = day(text); return nil }
func (d *day) NoValue()                        { *d = "today" }

type common struct {
	DB string `name:"db" placeholder:"FILE" help:"Database."`
}

type addCmd struct {
	common
	Names    []string      `arg:"" name:"name" help:"Names."`
	Yes      bool          `short:"y" help:"Do not ask."`
	Output   string        `short:"o" placeholder:"FILE" env:"OUTPUT" help:"File to write."`
	Size     size          `placeholder:"SIZE" help:"Size."`
	Turns    *int          `placeholder:"N" help:"Turns."`
	Share    float64       `default:"0.5" help:"Share (${default})."`
	Wait     time.Duration `placeholder:"TIME" help:"Time."`
	As       string        `enum:"text,json" default:"text" help:"Form: text or json. Uses ${model}."`
	By       string        `enum:",day" default:"" placeholder:"WHAT" help:"Group."`
	List     []string      `placeholder:"A,B" help:"List."`
	Rule     []string      `sep:"none" placeholder:"RULE" help:"Rules."`
	Day      day           `placeholder:"DAY" help:"Day."`
	Trust    bool          `xor:"trust" help:"Trust."`
	NoTrust  bool          `xor:"trust" help:"Do not."`
	LongName string        `placeholder:"SOMETHING-QUITE-LONG" help:"A name."`
}

type runCmd struct {
	common
	Command []string `arg:"" passthrough:"" help:"Command."`
}

type program struct {
	Key struct {
		Add  addCmd `cmd:"" help:"Add keys." example:"prog key add a b"`
		List struct {
			Shell string `arg:"" optional:"" enum:"bash,zsh" help:"Shell."`
		} `cmd:"" aliases:"ls" help:"List keys."`
		Hook struct{} `cmd:"" hidden:""`
	} `cmd:"" group:"Keys" help:"Manage keys."`
	Run runCmd `cmd:"" group:"Agents" help:"Run an agent."`
}

// read parses a command line that is written as words.
func read(words string) (*program, *Command, bool, error) {
	p := &program{}
	cmd, help, err := New("prog", "A program.", p, "model", "m-1").Parse(strings.Fields(words), func(name string) string {
		return map[string]string{"OUTPUT": "env.txt"}[name]
	})
	return p, cmd, help, err
}

func TestParse(t *testing.T) {
	seven, minus := 7, -7
	for words, want := range map[string]addCmd{
		"key add a":                        {},
		"key add a -y b --db x":            {Names: []string{"a", "b"}, Yes: true, common: common{"x"}},
		"key add --db=x -- a --yes":        {Names: []string{"a", "--yes"}, common: common{"x"}},
		"key add a -yo f":                  {Yes: true, Output: "f"},
		"key add a -of":                    {Output: "f"},
		"key add a -o=f":                   {Output: "f"},
		"key add a --output -":             {Output: "-"},
		"key add a --yes=false":            {},
		"key add a --turns 7 --size 20k":   {Turns: &seven, Size: 20},
		"key add a --turns -7":             {Turns: &minus},
		"key add a --share .25 --wait 90s": {Share: .25, Wait: 90 * time.Second},
		"key add a --list a,b --list c":    {List: []string{"a", "b", "c"}},
		"key add a --rule a,b --rule c":    {Rule: []string{"a,b", "c"}},
		"key add a --day --yes":            {Day: "today", Yes: true},
		"key add a --day monday":           {Day: "monday"},
		"key add a --as json --by day":     {As: "json", By: "day"},
		"key add a --long-name= --trust":   {Trust: true},
	} {
		p, cmd, help, err := read(words)
		if err != nil || help || cmd.Path() != "prog key add" || cmd.Target() != &p.Key.Add {
			t.Errorf("%s: %v, %v, %v", words, cmd.Path(), help, err)
			continue
		}
		if want.Names == nil {
			want.Names = []string{"a"}
		}
		if want.Output == "" {
			want.Output = "env.txt"
		}
		if want.Share == 0 {
			want.Share = .5
		}
		if want.As == "" {
			want.As = "text"
		}
		if diff := cmp.Diff(want, p.Key.Add, cmp.AllowUnexported(addCmd{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", words, diff)
		}
	}
}

// The commands of an embedded struct stand beside those of the struct that embeds it.
func TestEmbeddedCommands(t *testing.T) {
	var p struct {
		program
		Last struct{} `cmd:""`
	}
	var names []string
	for _, c := range New("prog", "", &p).Commands() {
		names = append(names, c.Name)
	}
	cmd, _, err := New("prog", "", &p).Parse([]string{"run", "--db", "x", "agent"}, func(string) string { return "" })
	if got := strings.Join(names, " "); got != "key run last" || err != nil || cmd.Target() != &p.Run || p.Run.DB != "x" {
		t.Errorf("commands %q; read into %T, %v", got, cmd.Target(), err)
	}
}

func TestTheRestBelongsToAnotherProgram(t *testing.T) {
	for words, want := range map[string][]string{
		"run --db x -- agent -p --help": {"agent", "-p", "--help"},
		"run --db x agent -- -p":        {"agent", "--", "-p"},
		"run --db x agent --db y":       {"agent", "--db", "y"},
	} {
		p, _, help, err := read(words)
		if err != nil || help || p.Run.DB != "x" || !cmp.Equal(p.Run.Command, want) {
			t.Errorf("%s: got %q, %v, %v", words, p.Run.Command, help, err)
		}
	}
}

// A mistake is named with the command that it was made in, and with what is possible.
func TestMistakes(t *testing.T) {
	for words, want := range map[string]string{
		"":                               "prog: name a command: key or run",
		"kye":                            `prog: unknown command "kye"; did you mean key?`,
		"frobnicate":                     `prog: unknown command "frobnicate"`,
		"key":                            "prog key: name a command: add or list",
		"key add":                        "prog key add: <name> is missing",
		"key add a --yse":                "prog key add: unknown flag --yse; did you mean --yes?",
		"key add a --elephant":           "prog key add: unknown flag --elephant",
		"key add a -x":                   "prog key add: unknown flag -x",
		"key add a -yx":                  "prog key add: unknown flag -x",
		"key add a --output":             "prog key add: --output needs a value: --output=FILE",
		"key add a --output --yes":       "prog key add: --output needs a value: --output=FILE",
		"key add a --size many":          `prog key add: --size: "many" is not a size: write 20k`,
		"key add a --size -5k":           `prog key add: --size: "-5k" is not a size: write 20k`,
		"key add a --turns many":         `prog key add: --turns: want a whole number, not "many"`,
		"key add a --share many":         `prog key add: --share: want a number, not "many"`,
		"key add a --wait long":          `prog key add: --wait: want a time such as 30s, 5m or 1h, not "long"`,
		"key add a --yes=maybe":          `prog key add: --yes: want true or false, not "maybe"`,
		"key add a --as xml":             `prog key add: --as: want text or json, not "xml"`,
		"key add a --by=":                `prog key add: --by: want day, not ""`,
		"key add a --trust --no-trust":   "prog key add: --trust and --no-trust exclude each other",
		"key list tcsh":                  `prog key list: <shell>: want bash or zsh, not "tcsh"`,
		"key ls bash more":               `prog key list: unexpected argument "more"`,
		"run":                            "prog run: <command> is missing",
		"key add a --turns=1 --turns= x": `prog key add: --turns: want a whole number, not ""`,
	} {
		_, cmd, help, err := read(words)
		if err == nil || help {
			t.Errorf("%s is accepted", words)
		} else if got := fmt.Sprintf("%s: %v", cmd.Path(), err); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", words, got, want)
		}
	}
}

// Help is shown wherever it is asked for, also behind a mistake.
func TestHelpIsAskedFor(t *testing.T) {
	for words, want := range map[string]string{
		"--help": "prog", "-h": "prog", "key -h": "prog key", "key add --help": "prog key add", "key add --elephant --help": "prog key add",
		"key ls -h": "prog key list", "key frobnicate -h": "prog key",
	} {
		if _, cmd, help, err := read(words); err != nil || !help || cmd.Path() != want {
			t.Errorf("%s: help of %s, %v, %v", words, cmd.Path(), help, err)
		}
	}
	if _, _, help, err := read("key add --elephant -- --help"); err == nil || help {
		t.Error("what follows -- asks for help")
	}
}

func TestHelp(t *testing.T) {
	p := New("prog", "A program.", &program{}, "model", "m-1")
	for name, want := range map[string]string{
		"": `Usage: prog <command>

A program.

Flags:
  -h, --help  Show this help.

Keys
  key  Manage keys.

Agents
  run  Run an agent.

Run "prog <command> --help" for more about a command.
`,
		"key add": `Usage: prog key add <name> ... [flags]

Add keys.

Example:
  prog key add a b

Arguments:
  <name> ...  Names.

Flags:
      --db=FILE      Database.
  -y, --yes          Do not ask.
  -o, --output=FILE  File to write.
      --size=SIZE    Size.
      --turns=N      Turns.
      --share=0.5    Share (0.5).
      --wait=TIME    Time.
      --as=text      Form: text or json.
                     Uses m-1.
      --by=WHAT      Group.
      --list=A,B     List.
      --rule=RULE    Rules.
      --day[=DAY]    Day.
      --trust        Trust.
      --no-trust     Do not.
      --long-name=SOMETHING-QUITE-LONG
                     A name.
  -h, --help         Show this help.
`,
		"key list": `Usage: prog key list [<shell>]

List keys.

Arguments:
  [<shell>]  Shell.

Flags:
  -h, --help  Show this help.
`,
	} {
		cmd, _, err := p.Parse(append(strings.Fields(name), "--help"), func(string) string { return "" })
		var out strings.Builder
		if err := errors.Join(err, cmd.WriteHelp(&out, 40)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
