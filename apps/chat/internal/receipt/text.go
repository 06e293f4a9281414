package receipt

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// WriteText writes a receipt for people: each sentence with what it rests on, in a line each. What tools and models said may hold
// anything; w must not let it steer a terminal.
func (r *Receipt) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Answer m%d: the model was sent %d messages, of %d that were said (hash %.12s). What stands below was in front of it; whether it used it, nobody can see.\n", r.Answer, r.Messages, r.Said, r.Hash)
	for i := range r.Sentences {
		s := &r.Sentences[i]
		fmt.Fprintf(&b, "%3d. %s\n     %s\n", s.Number, clip(s.Text, 100), s.Summary())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Summary says in a line what was found of a sentence.
func (s *Sentence) Summary() string {
	switch s.Verdict {
	case verdictNothing:
		return "says nothing that could be looked up"
	case verdictSent:
		return "sent: " + s.Sources[0].Where()
	}
	out := "NOT SENT: nothing that was sent says this"
	if s.Verdict == verdictPartly {
		out = "sent in part: " + s.Sources[0].Where()
		if len(s.Missing) > 0 {
			out += "; NOT SENT: " + strings.Join(s.Missing, ", ")
		}
	}
	if len(s.Unsent) > 0 {
		out += "; it was there: " + s.Unsent[0].Where()
	}
	return out
}

// Where says where a source stands and how it was sent.
func (s *Source) Where() string {
	at := ""
	if p := s.Place; p != nil {
		at = p.String()
	}
	switch s.Form {
	case formVerbatim:
		return at + ", verbatim"
	case formInstructions:
		return "the instructions"
	case formAdded:
		return "a text that Decant had put in"
	case formRecord:
		if at != "" {
			at = ", which has it from " + at
		}
		return "the record " + s.Handle + at
	case formLeft:
		return at + ", but " + s.gone()
	}
	as := map[Form]string{formStub: "as a stub", formOutline: "in an outline", formShortened: "shortened"}[s.Form]
	return strings.TrimSpace(at + ", " + as + " " + s.Handle)
}

// gone says how an original left what is sent.
func (s *Source) gone() string {
	when := ""
	if !s.When.IsZero() {
		when = " (" + s.When.UTC().Format(time.DateOnly) + ")"
	}
	switch {
	case s.Pour > 0:
		return fmt.Sprintf("poured away in pour %d%s", s.Pour, when)
	case s.Handle != "":
		return "only its place was sent, " + s.Handle + when
	}
	return "it was not sent" + when
}

// String names a place: m12, result of read.
func (p *Place) String() string {
	at := fmt.Sprintf("m%d", p.Message)
	switch {
	case p.Kind == "result" && p.Tool != "":
		return at + ", result of " + p.Tool
	case p.Kind == "use" && p.Tool != "":
		return at + ", call of " + p.Tool
	case p.Role == "user":
		return at + ", the user"
	}
	return at + ", an earlier answer"
}

// WriteQuotes writes what a sentence rests on in full.
func (s *Sentence) WriteQuotes(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", s.Text, s.Summary())
	for i := range s.Sources {
		s.Sources[i].write(&b)
	}
	if len(s.Unsent) > 0 {
		b.WriteString("This stood in the conversation and was not sent at that moment:\n")
	}
	for i := range s.Unsent {
		s.Unsent[i].write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// write writes a source with what stands around it.
func (s *Source) write(b *strings.Builder) {
	fmt.Fprintf(b, "  [%s", s.Where())
	if s.Place != nil && s.Form != formRecord {
		fmt.Fprintf(b, ", block %d, bytes %d to %d", s.Place.Block, s.Place.Start, s.Place.End)
	}
	b.WriteString("]\n")
	for _, line := range strings.Split(strings.Trim(s.Before, "\n"), "\n") {
		if line != "" {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	fmt.Fprintf(b, "  > %s\n", s.Quote)
	for _, line := range strings.Split(strings.Trim(s.After, "\n"), "\n") {
		if line != "" {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
}

// clip returns a text on one line of at most n characters.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
