package tool

import (
	"strconv"
	"strings"
)

// An Outcome is how a call ended, as far as its result tells.
type Outcome struct {
	Exit    int  // exit status of a command
	HasExit bool // the result names one
	Running bool // the command was still running

	Lines, Bytes int    // of what the tool returned, without the client's frame
	FirstError   string // first line that names an error, at most 200 bytes, cut at a rune

	Passed, Failed int      // tests, where a summary counts them
	Failing        []string // names of failing tests, at most 12, in order
	Matches        int      // lines that a search found
}

// maxError is the longest FirstError in bytes.
const maxError = 200

// maxFailing is the most names of failing tests that are gathered.
const maxFailing = 12

// OutcomeOf reads how c ended from the text of its result. isError is the client's own flag.
func OutcomeOf(c Call, text string, isError bool) Outcome {
	var o Outcome
	body := o.frame(text)
	o.Bytes = len(body)
	listens := isError || c.Class == Shell && c.Effect != Read && c.Effect != Search && c.Effect != Web
	var errs firstErrors
	var counts tally
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		o.Lines++
		if c.Effect == Search && !quietSearch(line) {
			o.Matches++
		}
		if !listens {
			continue
		}
		errs.line(line)
		if c.Test || c.Effect == Shell {
			counts.line(line)
		}
	}
	o.Passed, o.Failed, o.Failing = counts.total()
	o.FirstError = errs.best(o.Bad())
	if o.FirstError == "" && isError && (o.Lines <= 5 || c.Class != Shell) {
		o.FirstError = firstLine(body)
	}
	return o
}

// firstErrors gathers the first line of each sort that names an error.
type firstErrors struct {
	message string // says what is wrong
	test    string // what a failing test of Go said; a passing one may say the same
	heading string // says only that something is: "--- FAIL: TestX"
}

func (e *firstErrors) line(line string) {
	if e.message != "" {
		return
	}
	switch text := strings.TrimSpace(line); {
	case strings.HasPrefix(text, "FAIL") || strings.HasPrefix(text, "--- FAIL") || strings.HasPrefix(text, "not ok "):
		e.heading = first(e.heading, text)
	case IsError(text):
		e.message = clip(text, maxError)
	case e.test == "" && strings.Contains(text, "_test.go:") && strings.HasPrefix(line, "    "):
		e.test = text
	}
}

// best returns the most telling of them; bad says that the run failed.
func (e *firstErrors) best(bad bool) string {
	if bad || e.heading != "" {
		return clip(first(first(e.message, e.test), e.heading), maxError)
	}
	return e.message
}

// Bad reports whether the outcome says that the call did not do its work.
func (o *Outcome) Bad() bool { return o.HasExit && o.Exit != 0 || o.Failed > 0 }

// quietSearch reports whether a line of a search result is not a match: separators, notes, nothing.
func quietSearch(line string) bool {
	return line == "" || line == "--" || strings.HasPrefix(line, "No matches") ||
		strings.HasPrefix(line, "No files found") ||
		strings.HasPrefix(line, "Found ")
}

// firstLine returns the first line of body that says something.
func firstLine(body string) string {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); len(line) > 3 {
			return clip(line, maxError)
		}
	}
	return ""
}

// Body returns what the tool itself wrote: the text without the frame that a client puts around
// the output of a command (exit status, chunk id, wall time).
func Body(text string) string {
	var o Outcome
	return o.frame(text)
}

// frame takes the client's frame off a result and keeps the exit status it names.
func (o *Outcome) frame(text string) string {
	if body, ok := o.codex(text); ok {
		return body
	}
	if rest, ok := strings.CutPrefix(text, "Exit code "); ok {
		o.status(rest)
		return rest[min(lineEnd(rest)+1, len(rest)):]
	}
	if body, ok := o.wrapped(text); ok {
		return body
	}
	return o.trailer(text)
}

// wrapped takes off the tags that clients put around errors.
func (o *Outcome) wrapped(text string) (string, bool) {
	body, ok := strings.CutPrefix(text, "<tool_use_error>")
	if !ok {
		return "", false
	}
	return strings.TrimSuffix(body, "</tool_use_error>"), true
}

// codex takes off the header of Codex's shell tools, which ends with "Output:".
func (o *Outcome) codex(text string) (string, bool) {
	if !strings.HasPrefix(text, "Chunk ID: ") && !strings.HasPrefix(text, "Exit code: ") &&
		!strings.HasPrefix(text, "Wall time: ") {
		return "", false
	}
	rest := text
	for range 8 {
		line := rest[:lineEnd(rest)]
		rest = rest[min(len(line)+1, len(rest)):]
		switch {
		case line == "Output:":
			return rest, true
		case strings.HasPrefix(line, "Process exited with code "):
			o.status(line[len("Process exited with code "):])
		case strings.HasPrefix(line, "Exit code: "):
			o.status(line[len("Exit code: "):])
		case strings.HasPrefix(line, "Process running with session ID"):
			o.Running = true
		}
	}
	return "", false
}

// trailer finds the exit status that pi, Copilot and OpenHands put on the last line.
func (o *Outcome) trailer(text string) string {
	trimmed := strings.TrimRight(text, " \r\n")
	i := strings.LastIndexByte(trimmed, '\n') + 1
	last := trimmed[i:]
	if len(last) > 200 {
		return text
	}
	for _, phrase := range [...]string{"Command exited with code ", "completed with exit code ",
		"finished with exit code ", "exited with exit code ", "Exit Code: "} {
		if k := strings.Index(last, phrase); k >= 0 && o.status(last[k+len(phrase):]) {
			return strings.TrimRight(text[:i], "\r\n")
		}
	}
	return text
}

// status reads the number at the start of s.
func (o *Outcome) status(s string) bool {
	n := 0
	if strings.HasPrefix(s, "-") {
		n = 1
	}
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	code, err := strconv.Atoi(s[:n])
	if err != nil {
		return false
	}
	o.Exit, o.HasExit = code, true
	return true
}

// clip cuts s to at most n bytes, at the boundary of a rune.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
