package wire

import (
	"fmt"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire/internal/source"
)

// Text returns what a model reads of the live messages of a view, as plain text: each message under a
// line with its short name and role, a call as its name and arguments, a result as its text under the
// name of its tool. Thinking is left out. A view that holds nothing but what Decant wrote, a summary,
// is just that text.
func Text(view *decant.Conversation) string {
	var out strings.Builder
	ms := view.Live()
	headers := !ours(ms)
	for i := range ms {
		body := messageText(&ms[i])
		if body == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		if headers {
			fmt.Fprintf(&out, "== %s %s\n", ms[i].Name(), ms[i].Role)
		}
		out.WriteString(body)
	}
	return out.String()
}

// ours reports whether Decant wrote all of the messages.
func ours(ms []decant.Message) bool {
	for i := range ms {
		if ms[i].Number != 0 {
			return false
		}
	}
	return true
}

// messageText returns the blocks of a message, each ending with a line break.
func messageText(m *decant.Message) string {
	var out strings.Builder
	for i := range m.Blocks {
		if t := blockText(&m.Blocks[i]); t != "" {
			out.WriteString(strings.TrimSuffix(t, "\n"))
			out.WriteByte('\n')
		}
	}
	return out.String()
}

func blockText(b *decant.Block) string {
	switch b.Kind {
	case decant.KindThinking:
		return ""
	case decant.KindUse:
		return b.Name + " " + b.Text()
	case decant.KindResult:
		return resultText(b)
	}
	return source.Readable(b)
}

// resultText returns a result under a line that names its tool.
func resultText(b *decant.Block) string {
	head := "[result of " + b.Name + "]"
	if b.Name == "" {
		head = "[result]"
	}
	if b.Error {
		head = strings.TrimSuffix(head, "]") + ", an error]"
	}
	out := source.AppendLine([]byte(head), b.Text())
	if b.Media.Count > 0 {
		out = source.AppendLine(out, source.MediaText(b.Media))
	}
	return string(out)
}
