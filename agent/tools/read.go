package tools

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/decantdev/decant/agent"
)

// mostPage is how many characters one call of a tool returns of something that has more.
const mostPage = 30_000

const defaultLines = 2000

type readArgs struct {
	FilePath string `json:"file_path" jsonschema:"path of the file"`
	Offset   int    `json:"offset,omitzero" jsonschema:"number of the first line"`
	Limit    int    `json:"limit,omitzero" jsonschema:"how many lines; 2000 unless told"`
	Column   int    `json:"column,omitzero" jsonschema:"character of the first line to begin with; for lines that are longer than an answer"`
}

func (s *Set) readTool() agent.Tool {
	t := agent.Func("read", "Reads a text file of the project, with the numbers of its lines. The numbers and the tab behind them are not in the file. "+
		"A long file comes in parts: the end of each says how to go on.",
		func(_ context.Context, _ *agent.Call, a readArgs) (agent.Result, error) { return s.read(a) })
	t.ReadOnly = true
	return t
}

// read reads a part of a file. What is small enough to be changed is known to the model from then on.
func (s *Set) read(a readArgs) (r agent.Result, err error) {
	if a.Offset < 0 || a.Limit < 0 || a.Column < 0 {
		return r, errors.New("offset, limit and column count from 1")
	}
	name, err := s.files.name(a.FilePath)
	if err != nil {
		return r, err
	}
	file, info, err := s.files.open(name)
	if err != nil {
		return r, err
	}
	defer file.Close()
	from, whole, err := source(name, file, info.Size())
	if err != nil {
		return r, err
	}
	if head, _ := from.Peek(8000); binary(head) {
		return r, fmt.Errorf("%s is not text: %d bytes of %q...; use bash for it", name, info.Size(), head[:min(len(head), 16)])
	}
	p := pager{from: from, limit: min(cmp.Or(a.Limit, defaultLines), mostPage)} // no answer holds more lines than characters
	if err := p.page(max(a.Offset, 1), max(a.Column, 1)); err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	if whole.exists { // only now: what was not shown is not known
		if err := s.keep.read(name, whole); err != nil {
			return r, err
		}
	}
	return agent.Result{Text: p.text(), Rest: "read it with an offset and a smaller limit"}, nil
}

// source returns a reader of a file. A file of which the model may change a part is read as a whole, so that it is one state of it, which
// is returned, too.
func source(name string, file *os.File, size int64) (from *bufio.Reader, whole content, err error) {
	if size > largest {
		return bufio.NewReaderSize(file, 64<<10), whole, nil
	}
	data, err := io.ReadAll(io.LimitReader(file, largest+1))
	if err != nil {
		return nil, whole, plain(name, err)
	}
	return bufio.NewReaderSize(bytes.NewReader(data), 64<<10), content{data: data, exists: len(data) <= largest}, nil
}

// A pager writes lines with their numbers, as many as fit into an answer.
type pager struct {
	from  *bufio.Reader
	limit int // lines

	out  strings.Builder
	room int    // characters that are left
	more string // how to go on
}

// page writes from a line and a character of it on.
func (p *pager) page(line, column int) error {
	p.room = mostPage
	if bom, _ := p.from.Peek(3); string(bom) == "\ufeff" {
		p.from.Discard(3)
	}
	for n := 1; n < line; n++ {
		if err := p.skipLine(); err == io.EOF {
			return fmt.Errorf("it has only %d lines", n-1)
		} else if err != nil {
			return err
		}
	}
	for range column - 1 {
		if c, _, err := p.from.ReadRune(); err != nil || c == '\n' {
			return fmt.Errorf("line %d has fewer than %d characters", line, column)
		}
	}
	if _, err := p.from.Peek(1); err == io.EOF && column > 1 {
		return fmt.Errorf("line %d has fewer than %d characters", line, column)
	} else if err == io.EOF && line > 1 {
		return fmt.Errorf("it has only %d lines", line-1)
	}
	for n := line; n < line+p.limit; n++ {
		if _, err := p.from.Peek(1); err == io.EOF {
			return nil
		}
		done, err := p.line(n, column)
		if done || err != nil {
			return err
		}
		column = 1
	}
	if _, err := p.from.Peek(1); err == nil {
		p.more = fmt.Sprintf("offset %d", line+p.limit)
	}
	return nil
}

// skipLine passes over a line, however long.
func (p *pager) skipLine() error {
	for some := false; ; some = true {
		b, err := p.from.ReadSlice('\n')
		switch {
		case err == nil:
			return nil
		case err == io.EOF && (some || len(b) > 0):
			return nil
		case err != bufio.ErrBufferFull:
			return err
		}
	}
}

// line writes a line. It returns true when there is no room for more.
func (p *pager) line(n, column int) (done bool, err error) {
	fmt.Fprintf(&p.out, "%6d\t", n)
	p.room -= 7
	for at := column; ; at++ {
		c, _, err := p.from.ReadRune()
		switch {
		case err == io.EOF || c == '\n':
			p.out.WriteByte('\n')
			return false, nil
		case err != nil:
			return true, err
		case c == '\r':
			if next, _ := p.from.Peek(1); len(next) == 1 && next[0] == '\n' {
				continue
			}
		}
		if p.room--; p.room < 0 {
			p.out.WriteByte('\n')
			p.more = fmt.Sprintf("offset %d and column %d", n, at)
			return true, nil
		}
		p.out.WriteRune(c)
	}
}

// text returns what was written, and how to go on.
func (p *pager) text() string {
	switch {
	case p.out.Len() == 0:
		return "(the file is empty)"
	case p.more != "":
		fmt.Fprintf(&p.out, "(There is more: read on with %s.)\n", p.more)
	}
	return p.out.String()
}
