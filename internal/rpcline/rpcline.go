// Package rpcline reads the messages of JSON-RPC from a stream that has one on each line, as the programs write it.
package rpcline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a line can be that is no JSON value.
var (
	ErrLong    = errors.New("the line is longer than 16 MB")
	ErrNotJSON = errors.New("the line is not JSON")
)

// A Reader passes on the lines that are a message, each with a line end. It implements [io.Reader] for the SDK, whose
// own reader ends at the first line that is none.
type Reader struct {
	Heard func(m jsonrpc.Message)         // of each message, before it is passed on; nil: nobody asks
	Bad   func(line []byte, reason error) // of each line that is not passed on; nil: nobody asks

	in    *bufio.Reader
	begun bool
	next  []byte // what is left of the line that is passed on
}

// NewReader returns a Reader of in.
func NewReader(in io.Reader) *Reader { return &Reader{in: bufio.NewReader(in)} }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.next) == 0 {
		line, err := r.line()
		if r.next = r.message(line, err); len(r.next) == 0 && err != nil && !errors.Is(err, ErrLong) {
			return 0, err
		}
	}
	n := copy(p, r.next)
	r.next = r.next[n:]
	return n, nil
}

// message returns what is passed on of a line: it with a line end, or nothing.
func (r *Reader) message(line []byte, err error) []byte {
	if len(line) == 0 {
		return nil
	}
	var m jsonrpc.Message
	switch {
	case errors.Is(err, ErrLong):
	case !json.Valid(line): // the decoder of messages overlooks what is behind one
		err = ErrNotJSON
	default:
		m, err = jsonrpc.DecodeMessage(line)
	}
	if err != nil {
		if r.Bad != nil {
			r.Bad(line, err)
		}
		return nil
	}
	if r.Heard != nil {
		r.Heard(m)
	}
	return append(line, '\n')
}

// byteOrderMark is how some programs begin a stream.
var byteOrderMark = []byte("\xEF\xBB\xBF")

// line returns the next line, which may be the last without a line end. Of one that is too long it returns the beginning.
func (r *Reader) line() ([]byte, error) {
	var out []byte
	long := false
	for {
		part, err := r.in.ReadSlice('\n')
		if long = long || len(out)+len(part) > sdk.DefaultMaxLineLength; !long {
			out = append(out, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			err = ErrLong // the end of the stream comes again
		}
		if !r.begun {
			out, r.begun = bytes.TrimPrefix(out, byteOrderMark), true
		}
		return bytes.TrimSpace(out), err
	}
}
