package tool

import (
	"slices"
	"strings"
)

// A judge reads from the lines of a result how the steps of a shell text ended.
type judge struct {
	steps  []Step
	echoes []echo

	lines   int
	said    []verdict
	telling []string // lines that are verdicts or facts of the run, the newest last
	last    string   // line that says something
	echoed  Status   // what a line that the command itself prints says of the step before it
	exit    string   // the exit status that the command itself prints
}

// An echo is a line that a shell text prints itself, and when: 'a' after success, 'o' after a failure, ';' in any case.
type echo struct {
	text string
	when byte
	exit bool // the text is what precedes the exit status of the step before it
	fair bool // the step before it is not hidden by a pipe
}

// echoes returns what the text of a shell call prints itself.
func (c *Call) echoes() (out []echo) {
	cmds := splitShell(c.Command)
	for i := 1; i < len(cmds); i++ {
		w := unwrap(cmds[i].words)
		if len(w) < 2 || w[0] != "echo" && w[0] != "printf" {
			continue
		}
		fair := i < 2 || cmds[i-2].join != '|'
		text := strings.TrimSpace(strings.TrimSuffix(strings.Join(w[1:], " "), `\n`))
		for _, name := range [...]string{"$?", "${PIPESTATUS[0]}", "$PIPESTATUS", "$EXIT", "$rc", "${?}"} {
			if before, _, ok := strings.Cut(text, name); ok {
				out = append(out, echo{text: before, when: ';', exit: true, fair: fair || strings.Contains(name, "PIPE")})
				text = ""
				break
			}
		}
		if len(text) > 1 && !strings.ContainsAny(text, "$`") {
			out = append(out, echo{text: text, when: cmds[i-1].join, fair: fair})
		}
	}
	return out
}

// line takes in a line of the result. counted says that it is a runner's summary of tests.
func (j *judge) line(line string, counted bool) {
	j.lines++
	indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
	line = strings.TrimSpace(line)
	if line == "" || j.hears(line) {
		return
	}
	if says(line) {
		j.last = line
	}
	v := verdictOf(line)
	if !v.bad && !v.good && !indented && compilerLine(line) && !strings.Contains(line, " warning") {
		v.bad = true
	}
	if v.bad || v.good {
		j.said = append(j.said[:min(len(j.said), 60)], v)
	}
	if v.bad || v.good || isFact(line) || counted {
		j.telling = append(j.telling, line)
		if n := len(j.telling); n > 8 {
			j.telling = slices.Delete(j.telling, 1, 2)
		}
	}
}

// says reports whether a line has a word that is the tool's and not of the client, which marks an empty result.
func says(line string) bool {
	if strings.HasPrefix(line, "(") && strings.HasSuffix(line, ")") && len(line) < 30 || strings.HasSuffix(line, "with no output") {
		return false
	}
	return strings.IndexFunc(line, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' || r > 0x2fff }) >= 0
}

// hears takes in a line that the shell text prints itself: it is no word of the tool's.
func (j *judge) hears(line string) bool {
	for _, e := range j.echoes {
		switch rest, ok := strings.CutPrefix(line, e.text); {
		case !ok:
		case e.exit:
			if n := strings.TrimFunc(rest, func(r rune) bool { return strings.ContainsRune(" =:[]()", r) }); natural(n) >= 0 {
				if e.fair {
					j.exit = n
				}
				return true
			}
		case rest == "":
			if e.fair && e.when == 'a' {
				j.echoed = OK
			} else if e.fair && e.when == 'o' {
				j.echoed = Failed
			}
			return true
		}
	}
	return false
}

// settle says how a call ended, by its exit status and by what judge has heard. run is nil where nothing that the call
// does is a step.
func (o *Outcome) settle(c *Call, run *judge, body string, isError bool) {
	bad, good := false, false
	if run != nil {
		bad, good = run.verdict(o)
		if run.exit != "" {
			o.status(run.exit)
		}
	}
	if c.Class == Other && !isError {
		good, bad = reports(body)
	}
	known := o.HasExit || c.Name == "Bash" && !isError // Claude Code flags what ends with another status than 0
	sure := run == nil || !slices.ContainsFunc(run.steps, func(s Step) bool { return !s.sure })
	blamed := run == nil || slices.ContainsFunc(run.steps, func(s Step) bool { return s.blamed })
	switch {
	case o.Status == Started:
	case c.async():
		o.Status = Started
	case isError && !o.HasExit && refused(body):
		o.Status = Refused
	case o.Failed > 0, o.Status == Failed:
		o.Status = Failed
	case run != nil && run.echoed != Unknown:
		o.Status = run.echoed
	case run != nil && run.exit != "":
		o.Status = OK
		if o.Exit != 0 {
			o.Status = Failed
		}
	case o.HasExit && o.Exit != 0 && (blamed && !good || bad), isError && !o.HasExit:
		o.Status = Failed
	case o.HasExit && o.Exit != 0:
		o.Status = Unknown
	case known && sure:
		o.Status = OK
	case bad:
		o.Status = Failed
	case good:
		o.Status = OK
	default:
		o.Silent = sure
	}
}

// async reports whether the shell does not wait for the last command of a text.
func (c *Call) async() bool {
	text := strings.TrimRight(c.Command, " \t\n")
	return strings.HasSuffix(text, "&") && !strings.HasSuffix(text, "&&")
}

// verdict says whether the result reports a failure, and whether it reports the success of every step whose exit status
// is hidden.
func (j *judge) verdict(o *Outcome) (bad, good bool) {
	good = true
	for i := range j.steps {
		if s := &j.steps[i]; !s.sure && !j.vouches(s, o) {
			good = false
		}
	}
	bad = slices.ContainsFunc(j.said, func(v verdict) bool { return v.bad })
	return bad, good && !bad && len(j.said)+o.Passed > 0
}

// vouches reports whether the result says that a step went well.
func (j *judge) vouches(s *Step, o *Outcome) bool {
	if s.first > 0 && j.lines >= s.first {
		return false // the end, where it would be said, is cut off
	}
	if class(s.Kind) == "test" && o.Passed > 0 && o.Failed == 0 {
		return true
	}
	if s.match != "" && s.Kind == "test" && !strings.Contains(s.match, "fail") {
		return false
	}
	return slices.ContainsFunc(j.said, func(v verdict) bool {
		return v.good && (v.of == "" || class(s.Kind) == "" || v.of == class(s.Kind))
	})
}

// mostTelling bounds the lines that tell how a call ended.
const mostTelling = 3

// words returns the lines that tell how the call ended: verdicts and facts, or else the last line unless all went well.
func (j *judge) words(s Status) (out []string) {
	packages := false // of Go, of which each says that it is ok
	for _, line := range slices.Backward(j.telling) {
		line = clip(strings.Trim(line, "= \t"), maxError)
		if slices.Contains(out, line) || packages && strings.HasPrefix(line, "ok") || len(out) == mostTelling {
			continue
		}
		packages = packages || strings.HasPrefix(line, "ok")
		out = append(out, line)
	}
	slices.Reverse(out)
	if len(out) == 0 && s != OK && len(j.last) > 0 {
		out = []string{clip(j.last, maxError)}
	}
	return out
}

// isFact reports whether a line counts something of a run that is worth knowing: coverage, changed files, time.
func isFact(line string) bool {
	if len(line) > maxVerdict || strings.IndexFunc(line, func(r rune) bool { return '0' <= r && r <= '9' }) < 0 {
		return false
	}
	low := strings.ToLower(line)
	switch {
	case strings.Contains(low, "coverage") || strings.HasPrefix(low, "statements ") || strings.HasPrefix(low, "all files"),
		strings.HasPrefix(low, "total ") && strings.Contains(low, "%"):
		return strings.Contains(low, "%")
	case strings.Contains(low, " changed, ") || strings.HasSuffix(low, " changed"):
		return strings.Contains(low, "file")
	}
	return false
}

// refused reports whether the text of an error says that the call was not made.
func refused(body string) bool {
	head := strings.ToLower(body[:min(len(body), 400)])
	for _, s := range [...]string{"doesn't want to proceed", "requires approval", "permission to use", "was blocked",
		"request interrupted by user for tool use", "tool use was rejected", "rejected by user", "cancelled: parallel tool call", "sibling tool call errored", "user denied",
		"user declined", "hook error", "execution denied"} {
		if strings.Contains(head, s) {
			return true
		}
	}
	return false
}
