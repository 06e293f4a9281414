package main

import (
	"github.com/decantdev/decant/fact"
	"github.com/decantdev/decant/report"
	"github.com/decantdev/decant/wire"
)

type verifyCmd struct {
	Before string `arg:"" help:"The conversation as it was."`
	After  string `arg:"" help:"The conversation as it is now, in any format."`
	JSON   bool   `name:"json" help:"Print JSON."`
	All    bool   `help:"List every missing fact, not only those with the most weight."`
}

// Run says which must-keep facts of one conversation still stand in another.
func (c *verifyCmd) Run(s *streams) error {
	before, err := s.document(c.Before, "")
	if err != nil {
		return err
	}
	text, err := s.text(c.After)
	if err != nil {
		return err
	}
	v := report.NewVerification(c.Before, c.After, fact.Check(fact.Extract(before.Conversation.Live()), text))
	if c.JSON {
		return writeJSON(s.out, v)
	}
	most := 20
	if c.All {
		most = len(v.Missing)
	}
	return v.WriteText(s.out, most)
}

// text returns what a model would read of the named file: of a conversation its messages, of any
// other text the text itself.
func (s *streams) text(name string) (string, error) {
	src, err := s.bytes(name)
	if err != nil {
		return "", inputError{err}
	}
	doc, err := wire.Parse(src)
	if err != nil {
		return string(src), nil
	}
	return wire.Text(doc.Conversation.With(doc.Conversation.Live())), nil
}
