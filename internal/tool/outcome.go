package tool

import (
	"strconv"
	"strings"
)

// A Status is how a call ended, as far as its exit status or its result says so.
type Status uint8

// The ways in which a call can end. Without a word about it, it is Unknown: that nothing failed is no success.
const (
	Unknown Status = iota
	OK             // an exit status of 0 that is the command's own, or the result says so
	Failed
	Started // in the background, or it still runs
	Refused // it was not run: the user or the client did not let it
)

// An Outcome is how a call ended, as far as its result tells.
type Outcome struct {
	Status  Status
	Exit    int  // exit status of a command
	HasExit bool // the result names one
	Ended   bool // the result says that what ran in the background has ended

	// Silent says that all that is missing to OK is an exit status: the client may name only those that are not 0.
	Silent bool

	Acted bool // the call changed something in the world that is no file and no state of a shell

	Lines, Bytes int      // of what the tool returned, without the client's frame
	FirstError   string   // first line that names an error, at most 200 bytes, cut at a rune
	Telling      []string // the lines of the result that say how it ended, at most 3, as FirstError

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
	isError = isError || o.Status == Failed
	listens := isError || c.Class == Shell && c.Effect != Read && c.Effect != Search && c.Effect != Web
	var errs firstErrors
	var counts tally
	var run *judge
	if steps := c.Steps(); len(steps) > 0 {
		run = &judge{steps: steps, echoes: c.echoes()}
	}
	for line := range strings.Lines(body) {
		line = plain(strings.TrimRight(line, "\r\n"))
		o.Lines++
		if c.Effect == Search && !quietSearch(line) {
			o.Matches++
		}
		if !listens {
			continue
		}
		errs.line(line)
		counted := (c.Test || c.Effect == Shell) && counts.line(line)
		if run != nil {
			run.line(line, counted)
		}
	}
	o.Passed, o.Failed, o.Failing = counts.total()
	o.settle(&c, run, body, isError)
	if run != nil {
		o.Telling = run.words(o.Status)
	}
	if o.Acted = run == nil && c.Acts(body); o.Acted {
		o.Telling = told(body)
	}
	o.FirstError = errs.best(o.Bad())
	if o.FirstError == "" && isError && (o.Lines <= 5 || c.Class != Shell) {
		o.FirstError = firstLine(body)
	}
	return o
}

// plain returns a line without the codes of a terminal's colours.
func plain(line string) string {
	line = line[strings.LastIndexByte(line, '\r')+1:] // what a bar of progress has overwritten is not seen
	if strings.IndexByte(line, 0x1b) < 0 {
		return line
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(line, "\x1b[")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' })
		line = rest[end+1:]
	}
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
func (o *Outcome) Bad() bool {
	return o.HasExit && o.Exit != 0 || o.Failed > 0 || o.Status == Failed || o.Status == Refused
}

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
	if Runs(text) {
		o.Status = Started
	}
	if strings.HasPrefix(text, "{") {
		if body, ok := o.structured(text); ok {
			return body
		}
	}
	if body, ok := o.codex(text); ok {
		return body
	}
	if rest, ok := strings.CutPrefix(text, "Exit code "); ok {
		o.status(rest)
		return rest[min(lineEnd(rest)+1, len(rest)):]
	}
	if body, ok := o.tagged(text); ok {
		return body
	}
	return o.trailer(text)
}

// tagged takes off the tags that clients put around errors and around the output of what ran in the background.
func (o *Outcome) tagged(text string) (string, bool) {
	if body, ok := strings.CutPrefix(text, "<tool_use_error>"); ok {
		o.Status = Failed
		return strings.TrimSuffix(body, "</tool_use_error>"), true
	}
	if !strings.HasPrefix(text, "<status>") && !strings.HasPrefix(text, "<retrieval_status>") {
		return "", false
	}
	switch inTag(text, "status") {
	case "failed", "killed", "error":
		o.Status, o.Ended = Failed, true
	case "completed", "exited", "success":
		o.Ended = true
	}
	o.status(inTag(text, "exit_code"))
	body := ""
	for _, tag := range [...]string{"stdout", "output", "stderr", "result"} {
		if s := inTag(text, tag); s != "" {
			body += s + "\n"
		}
	}
	return strings.TrimSuffix(body, "\n"), true
}

// inTag returns what text has between the first tag of a name and its end.
func inTag(text, name string) string {
	_, rest, ok := strings.Cut(text, "<"+name+">")
	if !ok {
		return ""
	}
	body, _, _ := strings.Cut(rest, "</"+name+">")
	return strings.TrimSpace(body)
}

// structured takes in a result that is a JSON object: Codex' older {"output":…,"metadata":{"exit_code":0}} and the
// {"content":[{"type":"text","text":…}],"isError":true} of MCP. Any other object is what the tool wrote.
func (o *Outcome) structured(text string) (body string, ok bool) {
	s := scanner{src: text}
	bad := false
	s.object(func(name, raw string) {
		switch name {
		case "output", "stdout":
			body, ok = body+decode(raw), true
		case "metadata":
			inner := scanner{src: raw}
			inner.object(func(name, raw string) {
				if name == "exit_code" || name == "exitCode" || name == "exit" {
					o.status(raw)
				}
			})
		case "exit_code", "exitCode":
			o.status(raw)
		case "isError", "is_error":
			bad = raw == "true"
		case "content":
			if t := mcpText(raw); t != "" {
				body, ok = t, true
			}
		}
	})
	if bad {
		o.Status = Failed
	}
	return body, ok
}

// mcpText returns the texts of the blocks of an MCP result.
func mcpText(raw string) string {
	var out []string
	s := scanner{src: raw, pos: 1}
	for strings.HasPrefix(raw, "[") && s.pos < len(raw) {
		if s.space(); s.peek() != '{' {
			s.pos++
			continue
		}
		block := scanner{src: s.value()}
		block.object(func(name, raw string) {
			if name == "text" {
				out = append(out, decode(raw))
			}
		})
	}
	return strings.Join(out, "\n")
}

// codex takes off the header of Codex's shell tools, which ends with "Output:".
func (o *Outcome) codex(text string) (string, bool) {
	if !strings.HasPrefix(text, "Chunk ID: ") && !strings.HasPrefix(text, "Exit code: ") &&
		!strings.HasPrefix(text, "Wall time: ") && !strings.HasPrefix(text, "Script ") {
		return "", false
	}
	rest := text
	for range 8 {
		line := rest[:lineEnd(rest)]
		rest = rest[min(len(line)+1, len(rest)):]
		switch {
		case line == "Output:" || line == "Command output:":
			return rest, true
		case strings.HasPrefix(line, "Process exited with code "):
			o.status(line[len("Process exited with code "):])
		case strings.HasPrefix(line, "Exit code: "):
			o.status(line[len("Exit code: "):])
		}
	}
	return "", false
}

// exitPhrases are how pi, Copilot, OpenHands, Gemini and others say with what status a command has ended.
var exitPhrases = [...]string{"Command exited with code ", "completed with exit code ", "finished with exit code ",
	"exited with exit code ", "failed with exit code ", "failed with exit code: ", "Exit Code: ", "exit code: "}

// trailer finds the exit status that clients put on one of the last lines.
func (o *Outcome) trailer(text string) string {
	end := len(strings.TrimRight(text, " \r\n"))
	for range 5 {
		i := strings.LastIndexByte(text[:end], '\n') + 1
		last := text[i:end]
		if len(last) > 200 {
			return text
		}
		for _, phrase := range exitPhrases {
			if k := strings.Index(last, phrase); k >= 0 && k < 40 && o.status(last[k+len(phrase):]) {
				return strings.TrimRight(text[:i], "\r\n")
			}
		}
		name, _, ok := strings.Cut(last, ": ")
		if !ok || i == 0 || name != "Signal" && name != "Background PIDs" && name != "Process Group PGID" {
			return text
		}
		end = i - 1
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
