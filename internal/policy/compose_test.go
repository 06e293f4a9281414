package policy_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
)

// tale is a summariser that needs no model: a sentence or two of what was said and done in each message, the
// newest first as far as there is room, in the order of the messages.
func tale(_ context.Context, in provider.SummaryInput) (provider.Summary, error) {
	var out []string
	room := in.MaxTokens - 8
	for i := len(in.Messages) - 1; i >= 0; i-- {
		s := told(&in.Messages[i])
		if n := in.Counter.Count(s) + 1; s != "" && n < room {
			room -= n
			out = append([]string{s}, out...)
		}
	}
	return provider.Summary{Text: "# Conclusions\n" + strings.Join(out, "\n"), Model: "tale-1", CostUSD: 0.01}, nil
}

// told says what was said and called in a message.
func told(m *decant.Message) string {
	var parts []string
	for k := range m.Blocks {
		switch b := &m.Blocks[k]; {
		case b.Kind == decant.KindText && b.Author == decant.AuthorModel:
			parts = append(parts, sentences(b.Text(), 300))
		case b.Kind == decant.KindUse:
			parts = append(parts, "It called "+b.Name+" with "+sentences(b.Text(), 160)+".")
		}
	}
	s := strings.Join(parts, " ")
	if s == "" {
		return ""
	}
	return fmt.Sprintf("m%d %s", m.Number, s)
}

// sentences returns the beginning of a text on one line, up to the end of a word.
func sentences(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	return s[:strings.LastIndexByte(s[:n], ' ')+1]
}
