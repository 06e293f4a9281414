package request

import (
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire/internal/source"
)

// noResult stands for the result of a call that was interrupted.
const noResult = "[no result: the call was interrupted]"

// normalize returns the live messages of a view in a form that every API accepts, once it is written in
// its dialect: assistant messages, each followed by the results of its calls in one message of
// RoleTool, messages of the user, and of the system.
func normalize(view *decant.Conversation) []decant.Message { return normalized(view, false) }

// normalized is normalize; with images, those whose bytes are there stay images. Those of results, which have texts alone, are said by the
// user behind them.
func normalized(view *decant.Conversation, images bool) []decant.Message {
	ms := view.Live()
	l := normalizer{namer: namer{used: map[string]bool{}}, images: images}
	l.answers, l.orphan = pair(ms)
	var out []decant.Message
	for i := range ms {
		was := ms[i]
		if len(l.shown) > 0 && was.Role != decant.RoleAssistant {
			was.Blocks = append(l.shown, was.Blocks...)
			l.shown = nil
		}
		out = l.flush(out)
		out = appendFull(out, l.message(&was)...)
	}
	return l.flush(out)
}

// flush appends images of results that nobody else says.
func (l *normalizer) flush(out []decant.Message) []decant.Message {
	if len(l.shown) > 0 {
		out, l.shown = append(out, decant.Message{Role: decant.RoleUser, Blocks: l.shown}), nil
	}
	return out
}

// show notes the images of a result, to be shown behind it.
func (l *normalizer) show(result *decant.Block, id string) {
	h, ok := source.Holding(result)
	if !l.images || !ok {
		return
	}
	for _, b := range h {
		if source.ImageURL(source.HeldSource(&b)) != "" {
			l.shown = append(l.shown, decant.Block{Kind: decant.KindText, Author: decant.AuthorTool, Content: decant.Text("[image in the result of " + id + "]")}, b)
		}
	}
}

// A normalizer brings the messages of a conversation into a form that every API accepts, one after the other.
type normalizer struct {
	namer
	answers map[*decant.Block]*decant.Block
	orphan  map[*decant.Block]bool
	images  bool           // they stay images
	shown   []decant.Block // images of the results of the last message
}

// message returns what becomes of one message: the message, and the results of its calls.
func (l *normalizer) message(was *decant.Message) []decant.Message {
	m := decant.Message{Number: was.Number, Role: was.Role}
	results := decant.Message{Number: was.Number, Role: decant.RoleTool}
	for k := range was.Blocks {
		b := &was.Blocks[k]
		if b.Kind == decant.KindUse && m.Role == decant.RoleAssistant {
			use, result := l.call(b, l.answers[b])
			m.Blocks = append(m.Blocks, use)
			results.Blocks = append(results.Blocks, result)
			if r := l.answers[b]; r != nil {
				l.show(r, use.CallID)
			}
			continue
		}
		if b.Kind == decant.KindResult && !l.orphan[b] {
			continue // it stands behind its call
		}
		if l.images && b.Kind == decant.KindImage && source.HeldSource(b) != nil {
			m.Blocks = append(m.Blocks, *b)
			continue
		}
		if t, ok := spoken(b, was); ok {
			m.Blocks = append(m.Blocks, t)
		}
	}
	if m.Role == decant.RoleTool || was.Compaction && len(results.Blocks) == 0 {
		m.Role = decant.RoleUser
	}
	return []decant.Message{m, results}
}

// appendFull appends those messages that have blocks.
func appendFull(out []decant.Message, ms ...decant.Message) []decant.Message {
	for _, m := range ms {
		if len(m.Blocks) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// pair returns the result of each call of the assistant that has one, and the results that answer
// none. A result belongs to the newest unanswered call with its id, because ids may repeat.
func pair(ms []decant.Message) (answers map[*decant.Block]*decant.Block, orphan map[*decant.Block]bool) {
	answers, orphan = map[*decant.Block]*decant.Block{}, map[*decant.Block]bool{}
	open := map[string][]*decant.Block{}
	for i := range ms {
		for k := range ms[i].Blocks {
			b := &ms[i].Blocks[k]
			calls := open[b.CallID]
			switch {
			case b.Kind == decant.KindUse && ms[i].Role == decant.RoleAssistant:
				open[b.CallID] = append(calls, b)
			case b.Kind == decant.KindResult && len(calls) > 0:
				answers[calls[len(calls)-1]] = b
				open[b.CallID] = calls[:len(calls)-1]
			case b.Kind == decant.KindResult:
				orphan[b] = true
			}
		}
	}
	return answers, orphan
}

// unreadable stands for a summary that a provider has encrypted for itself.
const unreadable = "[the provider had summarised earlier messages here, in a form that only it can read]"

// spoken returns a block as text, and false when it has nothing to say to another model.
func spoken(b *decant.Block, in *decant.Message) (decant.Block, bool) {
	switch {
	case b.Kind == decant.KindOpaque && in.Fixed && in.Role == decant.RoleAssistant:
		return decant.Block{Kind: decant.KindText, Author: decant.AuthorDecant, Content: decant.Text(unreadable)}, true
	case b.Kind == decant.KindThinking, b.Kind == decant.KindOpaque && !in.Compaction:
		return decant.Block{}, false
	case b.Kind == decant.KindResult:
		t := "[result of a call that is not in this conversation]\n" + b.Text()
		return decant.Block{Kind: decant.KindText, Author: decant.AuthorTool, Content: decant.Text(t)}, true
	case b.Kind == decant.KindUse:
		return decant.Block{Kind: decant.KindText, Author: b.Author, Content: decant.Text(b.Name + " " + b.Text())}, true
	}
	t := source.Readable(b)
	return decant.Block{Kind: decant.KindText, Author: b.Author, Content: decant.Text(t)}, !isBlank(t)
}

// A namer gives calls ids that are unique in a conversation and legal everywhere.
type namer struct{ used map[string]bool }

// call returns a call and its result under their new id.
func (n *namer) call(use, result *decant.Block) (decant.Block, decant.Block) {
	u := *use
	u.CallID, u.Name, u.Cache = n.id(use.CallID), safeName(use.Name), ""
	r := decant.Block{Kind: decant.KindResult, Author: decant.AuthorDecant, Content: decant.Text(noResult), Error: true}
	if result != nil {
		r = *result
		r.Cache = ""
		if t := r.Text(); r.Media.Count > 0 {
			r.Content = decant.Text(source.AppendLine([]byte(t), source.MediaText(r.Media)))
		}
	}
	r.CallID, r.Name = u.CallID, u.Name
	return u, r
}

// maxName is the longest id and name that every API accepts.
const maxName = 64

// id returns the legal form of an id, with a number behind it if that is taken.
func (n *namer) id(id string) string {
	base := legalName(id, "call")
	id = base
	for i := 2; n.used[id]; i++ {
		suffix := "_" + strconv.Itoa(i)
		id = base[:min(len(base), maxName-len(suffix))] + suffix
	}
	n.used[id] = true
	return id
}

// safeName returns the legal form of a tool's name.
func safeName(name string) string { return legalName(name, "tool") }

// legalName replaces what is not in [a-zA-Z0-9_-] and cuts what is too long; an empty name becomes
// fallback.
func legalName(name, fallback string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return fallback
	}
	return name[:min(len(name), maxName)]
}

// opening begins a conversation whose first message is not the user's.
const opening = "[the beginning of this conversation is not included]"

// alternate returns normalized messages in the order of roles that the Messages API wants: the user first,
// then in turns. Results are the user's, and stand before other text.
func alternate(ms []decant.Message) []decant.Message {
	var out []decant.Message
	for _, m := range ms {
		if m.Role != decant.RoleAssistant {
			m.Role = decant.RoleUser
		}
		if len(out) == 0 && m.Role == decant.RoleAssistant {
			out = append(out, decant.Message{Role: decant.RoleUser, Blocks: []decant.Block{{Kind: decant.KindText, Author: decant.AuthorDecant, Content: decant.Text(opening)}}})
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == m.Role {
			out[last].Blocks = append(out[last].Blocks, m.Blocks...)
			continue
		}
		out = append(out, m)
	}
	return out
}
