package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

type showCmd struct {
	File string `arg:"" help:"Request body or session file; - for standard input."`
	What string `arg:"" help:"A message (m12) or the handle of an original (d:1f2e3d4c)."`
	From string `placeholder:"FORMAT" help:"Format of the input. Default: found in the content."`
}

// Run prints one message, or the original of a block that a stub stands for.
func (c *showCmd) Run(s *streams) error {
	doc, err := s.document(c.File, c.From)
	if err != nil {
		return err
	}
	if h, ok := strings.CutPrefix(c.What, "d:"); ok {
		return c.original(s.out, doc.Conversation, h)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(c.What, "m"))
	if err != nil {
		return usageError{fmt.Errorf("%q is neither a message (m12) nor a handle (d:1f2e3d4c)", c.What)}
	}
	ms := doc.Conversation.Messages
	if n < 1 || n > len(ms) {
		return inputError{fmt.Errorf("%s: no message m%d: it has m1 to m%d", c.File, n, len(ms))}
	}
	_, err = io.WriteString(s.out, wire.Text(doc.Conversation.With(ms[n-1:n])))
	return err
}

// original prints the text of the block whose hash begins with the digits of a handle.
func (c *showCmd) original(w io.Writer, conv *decant.Conversation, digits string) error {
	found := map[decant.Hash]*decant.Block{}
	for i := range conv.Messages {
		for k := range conv.Messages[i].Blocks {
			b := &conv.Messages[i].Blocks[k]
			if h := b.Hash(); digits != "" && strings.HasPrefix(h.String(), digits) {
				found[h] = b
			}
		}
	}
	switch len(found) {
	case 0:
		return inputError{fmt.Errorf("%s: nothing has the handle d:%s: was the stub made from another file?", c.File, digits)}
	case 1:
		for _, b := range found {
			_, err := io.WriteString(w, b.Text()+"\n")
			return err
		}
	}
	return usageError{fmt.Errorf("%d blocks have a handle that begins with d:%s: give more digits", len(found), digits)}
}
