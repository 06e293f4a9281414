package sandbox

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// Summarizer is a model that writes a summary of what it is sent, for tests of calls that ask for one. It is a
// function of the prompt: it has no state and draws nothing at random.
//
// It reads as a careful clerk would. What asks is the system prompt and the last message of the user; what is to be
// summarized are the messages before it and, in the last message, texts within tags such as <conversation>. Headings
// in what asks ("## Decisions", "1. Files: ...", "- **Next steps**: ...") are the sections that it fills, in their
// order and form; without headings it writes one paragraph. A section takes the statements that fit its name: what
// the user asked for, rules, decisions, files, exact values, errors, what was done, what is next. Statements are
// quoted, the more telling ones first, and say who made them; a section that nothing fits says "None.". "At most 300
// words" (or tokens, or characters) is kept, and so is the limit of the request. An answer that shall stand within a
// tag does.
type Summarizer struct{}

// Answer writes the summary.
func (Summarizer) Answer(_ context.Context, p *Prompt) (Answer, error) {
	asks, said := task(p)
	sections := headings(asks)
	room := roomFor(asks, p.MaxTokens)
	var b strings.Builder
	if len(sections) == 0 {
		b.WriteString(prose(choose(said, room)))
	}
	for i, share := range shares(said, sections) {
		b.WriteString(sections[i].line + "\n" + prose(choose(share, room/len(sections)-len(sections[i].line)-2)) + "\n\n")
	}
	out := strings.TrimSpace(b.String())
	if m := wrapper.FindStringSubmatch(asks); m != nil {
		out = "<" + m[1] + ">\n" + out + "\n</" + m[1] + ">"
	}
	return Answer{Blocks: []Block{text(out)}}, nil
}

// A statement is one sentence or line of what is to be summarized.
type statement struct {
	number string // of its message, such as "m12", where the transcript numbers messages
	who    string // "The user", "The assistant", the name of a tool; "" when unknown
	text   string
	weight int
}

var (
	wrapper  = lazyregexp.New(`(?i)\b(?:wrap\w*|inside|within|enclosed? in|in)\b[^.\n<]{0,40}<([a-z_]+)>`)
	opening  = lazyregexp.New(`<([a-z][\w-]*)(?:\s[^<>]*)?>`)
	quantity = lazyregexp.New(`(?i)\b(?:at most|under|below|no more than|within|up to|maximum of|limit of|limited to|about|fewer than|less than)\s+([\d,]+)\s+(token|word|character|char|byte)s?\b`)
	spoken   = lazyregexp.New(`(?i)^[\s\[#*<(-]*(user|human|assistant|tool|system)\b[^:\n\]>]{0,30}[:\]>]+\**\s*`)
	labelled = lazyregexp.New(`^(m\d+) (?:(user|assistant) says|(assistant calls|result of) .+|(earlier record|note of the client program)):$`)
	sentence = lazyregexp.New(`[.!?][)"']?\s+[^\sa-z]`)
)

// A clerk notes what is said, each sentence once.
type clerk struct {
	said  []*statement
	seen  map[string]bool
	tools map[string]string // names of tools by the ids of their calls
}

// task takes a prompt apart: what asks for a summary, and what is to be summarized.
func task(p *Prompt) (asks string, said []*statement) {
	asks = strings.Join(p.System, "\n")
	last := len(p.Messages) - 1
	for last >= 0 && p.Messages[last].Role != decant.RoleUser {
		last--
	}
	c := &clerk{seen: map[string]bool{}, tools: map[string]string{}}
	for i := range p.Messages {
		if i != last {
			c.message(&p.Messages[i])
			continue
		}
		request, within := untagged(p.Messages[i].text())
		for _, text := range within {
			c.transcript(text)
		}
		if asks += "\n" + request; len(c.said) == 0 { // there are no tags and nothing before it
			c.transcript(request)
		}
	}
	for i, s := range c.said {
		s.weight = 4*s.weigh() + 4*i/len(c.said)
	}
	return asks, c.said
}

// untagged returns a text without the texts within tags, and these: those of ten words at least whose tag does not
// say that they ask for something.
func untagged(text string) (rest string, within []string) {
	for {
		m := opening.FindStringSubmatchIndex(text)
		if m == nil {
			return rest + text, within
		}
		name := text[m[2]:m[3]]
		size := strings.LastIndex(text[m[1]:], "</"+name+">")
		if kind, _, marked := strings.Cut(name, "-"); marked && size >= 0 && slices.Contains([]string{"wishes", "rules", "files"}, kind) {
			rest, text = rest+text[:m[0]], text[m[1]+size+len(name)+3:] // it says what to stress, or stands beside the summary
			continue
		}
		if size < 0 || slices.Contains([]string{"instructions", "task", "rules", "format"}, name) || len(strings.Fields(text[m[1]:m[1]+size])) < 10 {
			rest, text = rest+text[:m[1]], text[m[1]:]
			continue
		}
		within = append(within, text[m[1]:m[1]+size])
		rest, text = rest+text[:m[0]], text[m[1]+size+len(name)+3:]
	}
}

// message notes what a message says.
func (c *clerk) message(m *Message) {
	who := map[decant.Role]string{decant.RoleUser: "The user", decant.RoleAssistant: "The assistant"}[m.Role]
	for _, b := range m.Blocks {
		switch b.Kind {
		case decant.KindText:
			c.note(who, b.Text)
		case decant.KindUse:
			c.tools[b.ID] = b.Name
			c.note("A call of "+b.Name, string(b.Input))
		case decant.KindResult:
			c.note(c.tools[b.ID], b.Text)
		}
	}
}

// transcript notes what a conversation says that is written down as text, with lines that name who speaks. Of one whose
// messages are numbered it notes what was said and how calls ended, and leaves out what was returned.
func (c *clerk) transcript(text string) {
	who, number, quoted := "", "", false
	for line := range strings.Lines(text) {
		if m := labelled.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			who, number, quoted = map[string]string{"user": "The user", "assistant": "The assistant"}[m[2]], m[1], m[2] == ""
			continue
		}
		if quoted && len(strings.Fields(line)) > briefly {
			continue
		}
		if m := spoken.FindStringSubmatch(line); m != nil && number == "" {
			line, who = line[len(m[0]):], "The "+strings.ToLower(m[1])
			if who == "The human" {
				who = "The user"
			}
		}
		c.notes(who, number, line)
	}
}

// briefly is how many words of what was returned are no more than its outcome.
const briefly = 7

// longest is about the longest statement, in bytes.
const longest = 400

// note notes a text line by line and sentence by sentence.
func (c *clerk) note(who, text string) { c.notes(who, "", text) }

// notes is note for a message with a number.
func (c *clerk) notes(who, number, text string) {
	for line := range strings.Lines(text) {
		for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
			end := sentenceEnd(line)
			one := strings.TrimSpace(strings.ToValidUTF8(line[:end], ""))
			if len(one) > 3 && !c.seen[one] {
				c.seen[one] = true
				c.said = append(c.said, &statement{number: number, who: who, text: one})
			}
			line = line[end:]
		}
	}
}

// sentenceEnd returns where the first sentence of a line ends, or a piece of it where that is long.
func sentenceEnd(line string) int {
	end := len(line)
	// What ends further on makes no difference, and a long line without a sentence would be read once for each of its pieces.
	if at := sentence.FindStringIndex(line[:min(len(line), longest+utf8.UTFMax)]); at != nil {
		end = at[1] - 1
		for !utf8.RuneStart(line[end]) {
			end--
		}
	}
	if end <= longest {
		return end
	}
	if end = strings.LastIndexByte(line[:longest], ' '); end > 0 {
		return end
	}
	return min(len(line), 3*longest)
}

// classes are what a statement can be about, and a section as well.
var classes = []struct {
	name      string
	section   *lazyregexp.Regexp // in a heading
	statement *lazyregexp.Regexp
	weight    int
}{
	{
		"rules", lazyregexp.New(`(?i)rule|constraint|instruction|preference|requirement|guideline|must`),
		lazyregexp.New(`(?i)\b(must|never|always|prefer\w*|only|do not|don't|rule|required?|remember|deadline)\b`), 5,
	},
	{
		"next", lazyregexp.New(`(?i)next|pending|to-?do|remaining|open|plan|outstanding|follow`),
		lazyregexp.New(`(?i)\b(next|to-?do|remaining|pending|still|will|need to|should|later|then)\b`), 2,
	},
	{
		"errors", lazyregexp.New(`(?i)error|problem|issue|fail|block|bug`),
		lazyregexp.New(`(?i)\b(errors?|fail\w*|exception|panic|refused|cannot|denied|broken?|bug)\b`), 3,
	},
	{
		"decisions", lazyregexp.New(`(?i)decision|decided|rationale|why|approach|chosen`),
		lazyregexp.New(`(?i)\b(decid\w*|decision|chose\w*|agreed|instead|because|so that|use)\b`), 3,
	},
	{
		"done", lazyregexp.New(`(?i)done|progress|complet|accomplish|state|status|action|history|work`),
		lazyregexp.New(`(?i)\b(done|fixed|created|wrote|written|added|passed|finished|updated|edited|implemented|changed|found|steps?)\b`), 2,
	},
	{
		"files", lazyregexp.New(`(?i)file|path|code|artifact|resource`),
		lazyregexp.New(`[\w.-]*/[\w./-]+|\b\w+\.(go|py|js|ts|md|txt|json|yaml|yml|sql|sh|c|h|rs|java)\b`), 1,
	},
	{
		"facts", lazyregexp.New(`(?i)fact|identifier|value|detail|reference|data|number|url|name|context|finding|key|learn`),
		lazyregexp.New(`https?://|\d{2,}|\b\w+_\w+|\b[a-z]+[A-Z]\w+|\b[0-9a-f]{7,}\b|=|: `), 2,
	},
	{
		"request", lazyregexp.New(`(?i)goal|task|request|intent|objective|purpose|asked|user`),
		lazyregexp.New(`$^`), 0,
	},
}

// weigh returns how telling a statement is.
func (s *statement) weigh() int {
	n := 0
	for _, c := range classes {
		if c.statement.MatchString(s.text) {
			n += c.weight
		}
	}
	switch s.who {
	case "The user", "The system":
		n += 4
	case "The assistant", "":
		n += 2
	}
	return n
}

// fits returns how well a statement fits a class, 0 when it does not.
func (s *statement) fits(class string) int {
	if class == "request" && s.who == "The user" {
		return 1
	}
	for _, c := range classes {
		if c.name == class {
			return 10*len(c.statement.FindAllStringIndex(s.text, -1)) + c.weight*min(1, len(c.statement.FindString(s.text)))
		}
	}
	return 0
}

// shares gives each statement to the section that it fits best; those that fit none go to the first section whose
// name says nothing. Where none fits any, all go to the last.
func shares(said []*statement, sections []heading) [][]*statement {
	out := make([][]*statement, len(sections))
	about := make([]string, len(sections))
	for i, h := range sections {
		about[i] = h.class()
	}
	general := slices.Index(about, "")
	for _, s := range said {
		best, most := general, 0
		for i, class := range about {
			if n := s.fits(class); n > most {
				best, most = i, n
			}
		}
		if best >= 0 {
			out[best] = append(out[best], s)
		}
	}
	if len(out) > 0 && !slices.ContainsFunc(out, func(of []*statement) bool { return len(of) > 0 }) {
		out[len(out)-1] = said // a record says something, even of a talk in which nothing was decided
	}
	return out
}

// A heading is a section that is asked for.
type heading struct{ line, name string }

var section = lazyregexp.New(`(?m)^\s*(?:(#{1,6})\s+(.+)|(\d{1,2}[.)])\s+\**([A-Z][^.:\n]{1,60}?)\**(?:\s*:.*)?|[-*]\s+\*\*(.+?)\*\*.*)$`)

// headings returns the sections that a request for a summary names.
func headings(asks string) (out []heading) {
	for _, m := range section.FindAllStringSubmatch(asks, -1) {
		h := heading{line: m[1] + " " + strings.TrimSpace(m[2]), name: m[2]}
		switch {
		case m[3] != "":
			h = heading{line: m[3] + " " + m[4] + ":", name: m[4]}
		case m[5] != "":
			h = heading{line: "**" + strings.TrimRight(m[5], ":") + "**:", name: m[5]}
		}
		out = append(out, h)
	}
	return out
}

// class returns what a section is about, "" when its name does not say.
func (h heading) class() string {
	for _, c := range classes {
		if c.section.MatchString(h.name) {
			return c.name
		}
	}
	return ""
}

// roomFor returns how many bytes a summary may have: what is asked for, and never more than the request permits.
func roomFor(asks string, tokens int) int {
	room := min(6000, tokens*5/2)
	if m := quantity.FindStringSubmatch(asks); m != nil {
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		per := map[string]int{"token": 5, "word": 10}[strings.ToLower(m[2])]
		if err == nil {
			room = min(room, n*max(per, 2)/2)
		}
	}
	return room - room/10
}

// choose returns the most telling statements that fit, in their order.
func choose(said []*statement, room int) []*statement {
	byWeight := slices.Clone(said)
	slices.SortStableFunc(byWeight, func(a, b *statement) int { return b.weight - a.weight })
	taken := map[*statement]bool{}
	for _, s := range byWeight {
		if size := len(s.number) + len(s.text) + len(s.who) + 8; size <= room {
			taken[s] = true
			room -= size
		}
	}
	return slices.DeleteFunc(slices.Clone(said), func(s *statement) bool { return !taken[s] })
}

// prose writes statements as sentences that say who made them.
func prose(said []*statement) string {
	if len(said) == 0 {
		return "None."
	}
	var b strings.Builder
	who := ""
	for i, s := range said {
		switch {
		case s.number != "":
			b.WriteString("\n" + s.number + " ")
			who = ""
		case i > 0:
			b.WriteByte(' ')
		}
		if s.who != who && s.who != "" {
			b.WriteString(s.who + " said: ")
		}
		who = s.who
		b.WriteString(s.text)
		if !strings.ContainsAny(s.text[len(s.text)-1:], ".!?") {
			b.WriteByte('.')
		}
	}
	return strings.TrimLeft(b.String(), "\n")
}
