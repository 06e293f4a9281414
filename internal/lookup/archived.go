package lookup

import (
	"cmp"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/store"
)

// Archived returns the row of a conversation in the index of an archive. all is everything that was said in it.
func Archived(file string, c *store.Summary, all *decant.Conversation) report.Archived {
	return report.Archived{
		File: file, Created: c.Created, Lasted: c.Updated.Sub(c.Created).Round(time.Minute), Messages: c.Messages, Tokens: c.Tokens,
		Project: c.Project, Model: c.Model, About: about(all),
	}
}

// about says what a conversation is about: the first thing that its user said, and the newest if it is
// different.
func about(conv *decant.Conversation) string {
	first, last := "", ""
	for i := range conv.Messages {
		m := &conv.Messages[i]
		for k := range m.Blocks {
			if b := &m.Blocks[k]; m.Role == decant.RoleUser && b.Kind == decant.KindText && b.Author == decant.AuthorUser {
				last = typed.Words(conv.Agent, b.Text())
				first = cmp.Or(first, last)
			}
		}
	}
	const most = 100 // characters of each
	out := shorten(first, most)
	if last != first {
		out += " … " + shorten(last, most)
	}
	return out
}

// shorten puts text on one line of at most n characters, without its secrets.
func shorten(text string, n int) string {
	r := []rune(strings.Join(strings.Fields(secret.Mask(text)), " "))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}
