package reduce

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/tool"
)

// maxString is the length in bytes up to which a string in the arguments of an old call stays.
const maxString = 400

// Arguments proposes to shorten the long strings in the arguments of old calls that wrote or
// edited files: the content is in the file. Paths and everything short stay, and arguments that
// were a JSON object remain one. Calls that failed keep theirs, because their text may be in no
// file.
func Arguments(s *Subject) []decant.Decision {
	var out []decant.Decision
	for i := range s.uses {
		if s.ctx.Err() != nil {
			break
		}
		u := &s.uses[i]
		if !u.closed || u.failed || u.call.Payload <= maxString || u.block.Content.Size() <= maxString {
			continue
		}
		old := u.block.Text()
		d := decant.Decision{
			Kind: decant.Shrink, Reduction: decant.ReductionArguments,
			Reason: "written content of an old " + u.call.Name + " call",
		}
		if d, ok := s.decide(u.block, old, (&shortening{s, u}).arguments(old), d); ok {
			out = append(out, d)
		}
	}
	return out
}

// A shortening puts short notes in the place of what an old call wrote.
type shortening struct {
	subject *Subject
	use     *use
}

// arguments returns the arguments args of the call with short notes in the place of long strings.
func (s *shortening) arguments(args string) string {
	if jsonspan.Validate([]byte(args)) == nil {
		return s.inJSON(args)
	}
	if strings.HasPrefix(strings.TrimSpace(args), "*** Begin Patch") {
		return patchHeads(args)
	}
	return args
}

// inJSON replaces the long string values in valid JSON and copies everything else.
func (s *shortening) inJSON(args string) string {
	out := make([]byte, 0, 512)
	for i := 0; i < len(args); {
		if args[i] != '"' {
			out = append(out, args[i])
			i++
			continue
		}
		end := stringLiteral(args, i)
		raw := args[i:end]
		i = end
		if len(raw) <= maxString || isKey(args[end:]) {
			out = append(out, raw...)
			continue
		}
		out = jsonspan.AppendQuote(out, s.note(jsonspan.Unquote([]byte(raw))))
	}
	return string(out)
}

// stringLiteral returns where the string that starts at args[i] ends.
func stringLiteral(args string, i int) int {
	for i++; i < len(args); i++ {
		switch args[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(args)
}

// isKey reports whether what follows a string makes it the name of a member.
func isKey(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return strings.HasPrefix(rest, ":")
}

// note replaces a long string: its first line where it says what it is about, and its size.
func (s *shortening) note(text string) string {
	if strings.Contains(text, "*** Begin Patch") && s.use.call.Class != tool.Shell {
		return patchHeads(text)
	}
	keep := ""
	if s.use.call.Class == tool.Shell {
		keep = clipLine(text[:lineLength(text)]) + "\n"
	}
	size := fmt.Sprintf("[%s, %s; now in the file", amount(strings.Count(text, "\n")+1, "line"),
		amount(utf8.RuneCountInString(text), "character"))
	w := &whole{text: s.subject.mask(text), tokens: s.subject.opts.Counter.Count(text), call: &s.use.call, own: 1}
	if s.subject.opts.Quote.on() {
		if quoted := s.subject.names().outline(w, s.subject.opts.Quote.written()); quoted != "" {
			return keep + size + quoted + "]"
		}
	}
	x := s.subject.names()
	return keep + size + x.list(x.choose(x.weigh(collect(w.text), w.own), w.tokens, maxNames/3)) + "]"
}

func lineLength(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

// patchHeads keeps the lines of a patch that name files and counts the rest.
func patchHeads(patch string) string {
	var out strings.Builder
	lost := 0
	gap := func() {
		if lost > 0 {
			fmt.Fprintf(&out, "[... %s left out ...]\n", amount(lost, "line"))
		}
		lost = 0
	}
	for line := range strings.Lines(patch) {
		if !strings.HasPrefix(line, "*** ") {
			lost++
			continue
		}
		gap()
		out.WriteString(line)
	}
	gap()
	return out.String()
}
