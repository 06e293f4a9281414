package fact

import (
	"context"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/secret"
)

// Used returns the exact strings that the model wrote in ms, in texts and in the values of arguments, each
// once; the newest messages come first. Words, secrets, and the names of tools and of their parameters are
// none of them. When ctx is done it ends early.
func Used(ctx context.Context, ms []decant.Message) []string {
	u := user{seen: map[string]bool{}}
	for i := len(ms) - 1; i >= 0 && ctx.Err() == nil; i-- {
		if ms[i].Role != decant.RoleAssistant {
			continue
		}
		for k := range ms[i].Blocks {
			switch b := &ms[i].Blocks[k]; b.Kind {
			case decant.KindUse:
				u.arguments(secret.Mask(b.Text()))
			case decant.KindText:
				u.text(secret.Mask(b.Text()))
			}
		}
	}
	return u.strings
}

// Read returns the exact strings in texts and results of ms that are not the model's, each once; the newest
// messages come first. It omits plain words and secrets. When ctx is done it ends early.
func Read(ctx context.Context, ms []decant.Message) []string {
	u := user{seen: map[string]bool{}}
	for i := len(ms) - 1; i >= 0 && ctx.Err() == nil; i-- {
		if ms[i].Role != decant.RoleUser {
			continue
		}
		for k := range ms[i].Blocks {
			if b := &ms[i].Blocks[k]; b.Kind == decant.KindResult || b.Kind == decant.KindText {
				u.text(secret.Mask(b.Text()))
			}
		}
	}
	return u.strings
}

// A user gathers what is used.
type user struct {
	strings []string
	seen    map[string]bool
	spans   []Span
}

// arguments takes in the strings of a call's arguments, decoded.
func (u *user) arguments(args string) {
	src := []byte(args)
	if jsonspan.Validate(src) != nil {
		u.text(args)
		return
	}
	s := jsonspan.Scan(src, 0)
	u.value(&s, src)
}

func (u *user) value(s *jsonspan.Scanner, src []byte) {
	switch s.Kind() {
	case '{':
		for s.Open(); s.Next(); {
			s.Name()
			u.value(s, src)
		}
	case '[':
		for s.Open(); s.Next(); {
			u.value(s, src)
		}
	case '"':
		u.text(jsonspan.Unquote(s.Skip().Of(src)))
	default:
		s.Skip()
	}
}

func (u *user) text(text string) {
	u.spans = Scan(u.spans[:0], text)
	for _, s := range u.spans {
		if t := text[s.Start:s.End]; !u.seen[t] {
			t = strings.Clone(t)
			u.seen[t] = true
			u.strings = append(u.strings, t)
		}
	}
}
