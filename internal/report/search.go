package report

import (
	"fmt"
	"io"
	"time"

	"github.com/decantdev/decant"
)

// A Hit is a place where a search found something.
type Hit struct {
	Tenant       string      `json:"tenant,omitempty"`
	Conversation string      `json:"conversation"`
	Session      string      `json:"session"`
	Message      string      `json:"message"` // "m12"
	Role         decant.Role `json:"role"`
	Kind         decant.Kind `json:"kind"`
	Tool         string      `json:"tool,omitempty"`
	Snippet      string      `json:"snippet"`
	Match        [2]int      `json:"match"` // where in Snippet, in bytes
	Time         time.Time   `json:"time"`  // when the conversation last changed
}

// WriteHits writes what a search found for people, best first, the hits of one conversation together:
// "decant show" with its id and the number prints a message. With colour, matches are bold.
func WriteHits(w io.Writer, hits []Hit, colour bool) error {
	p := &printer{Writer: w}
	if len(hits) == 0 {
		p.line("nothing found")
	}
	written := map[string]bool{}
	for i := range hits {
		id := hits[i].Conversation
		if written[id] {
			continue
		}
		written[id] = true
		p.line("%s", heading(&hits[i]))
		var rows [][]string
		for k := range hits {
			if h := &hits[k]; h.Conversation == id {
				rows = append(rows, []string{" ", h.Message, plain(h.what()), h.marked(colour)})
			}
		}
		p.styledTable(rows, "fffl")
	}
	return p.err
}

func heading(h *Hit) string {
	out := h.Conversation
	if h.Session != "" {
		out += ", session " + h.Session
	}
	if h.Tenant != "" {
		out += ", tenant " + h.Tenant
	}
	return out
}

// what says what kind of block it is.
func (h *Hit) what() string {
	switch h.Kind {
	case decant.KindUse:
		return "call of " + dash(h.Tool)
	case decant.KindResult:
		return "result of " + dash(h.Tool)
	case decant.KindText:
		return string(h.Role)
	}
	return fmt.Sprintf("%s, %s", h.Role, h.Kind)
}

// marked returns the snippet without control characters, with colour its match in bold.
func (h *Hit) marked(colour bool) string {
	from, to := h.Match[0], h.Match[1]
	if !colour || from < 0 || to <= from || to > len(h.Snippet) {
		return plain(h.Snippet)
	}
	return plain(h.Snippet[:from]) + "\x1b[1m" + plain(h.Snippet[from:to]) + "\x1b[0m" + plain(h.Snippet[to:])
}
