package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/notebook/passage"
	"github.com/decantdev/decant/internal/ruler"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A history is what was said in the sessions of a project, in order.
type history []block

// A block is one text of a message.
type block struct {
	decant.Block
	session int
	message int // counted through all sessions
	text    string
	head    string // what it is found by beside its text
	tokens  int
}

// read reads session files, packed ones too.
func read(files []string) (h history, err error) {
	message := 0
	for i, file := range files {
		c, err := session(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		size, calls := token.For(token.Model{}), passage.Calls{}
		for k := range c.Messages {
			message++
			for _, b := range c.Messages[k].Blocks {
				if b.Content == nil || b.Kind == decant.KindOpaque || b.Kind == decant.KindThinking {
					continue
				}
				at := block{Block: b, session: i, message: message, text: b.Text()}
				at.head, at.tokens = calls.Head(b.Kind, b.Name, b.CallID, at.text), size.Count(at.text)
				h = append(h, at)
			}
		}
	}
	return h, nil
}

// session reads one session file.
func session(file string) (*decant.Conversation, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(src, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return nil, err
		}
		if src, err = io.ReadAll(z); err != nil {
			return nil, err
		}
	}
	doc, err := wire.Parse(src)
	if err != nil {
		return nil, err
	}
	return doc.Conversation, nil
}

// values returns the values of a call's arguments.
func (b *block) values() string { return ruler.Values(b.text) }
