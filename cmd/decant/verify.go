package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/recall"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/sessionfile"
	"github.com/decantdev/decant/wire"
)

type verifyCmd struct {
	Before string  `arg:"" help:"The original conversation."`
	After  string  `arg:"" help:"The compacted conversation, in any format."`
	Min    percent `placeholder:"PERCENT" help:"Exit with code 4 if less than this share of the exact strings is kept with its context: 90."`
	JSON   bool    `name:"json" help:"Print JSON."`
	All    bool    `help:"List every missing fact, not just the most important."`
}

// Run says how much of one conversation is still in another.
func (c *verifyCmd) Run(s *process.Process) error {
	before, err := sessionfile.Read(s, c.Before, "")
	if err != nil {
		return err
	}
	text, err := textOf(s, c.After)
	if err != nil {
		return err
	}
	live := before.Conversation.Live()
	ctx := context.Background()
	v := report.NewVerification(c.Before, c.After, recall.Of(ctx, live, text), fact.Check(ctx, fact.Extract(ctx, live), text))
	if err := c.print(s, v); err != nil {
		return err
	}
	if v.Strings.Score < float64(c.Min)/100 {
		return exit.Missed(fmt.Errorf("%.1f%% of the strings are kept with their context, less than the %v%% asked for", 100*v.Strings.Score, float64(c.Min)))
	}
	return nil
}

func (c *verifyCmd) print(s *process.Process, v *report.Verification) error {
	if c.JSON {
		return command.WriteJSON(s.Out, v)
	}
	most := 20
	if c.All {
		most = len(v.Missing)
	}
	return v.WriteText(s.Out, most)
}

// textOf returns what a model would read of the named file: the messages of a conversation, or any other
// text itself.
func textOf(s *process.Process, name string) (string, error) {
	src, err := sessionfile.ReadBytes(s, name)
	if err != nil {
		return "", exit.Input(err)
	}
	doc, err := wire.Parse(src)
	if err != nil {
		return string(src), nil
	}
	return wire.Text(doc.Conversation.With(doc.Conversation.Live())), nil
}

// A percent is a number from 0 to 100, with or without its sign.
type percent float64

// UnmarshalText reads a percentage from a flag.
func (p *percent) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(strings.TrimSuffix(string(text), "%"), 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return fmt.Errorf("%q is not a percentage: write 90", text)
	}
	*p = percent(v)
	return nil
}
