package source

import (
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

var (
	goPanic    = lazyregexp.New(`(?:^|[\s:])(panic: |fatal error: |http: panic serving [^:]+:\d+: |panic recovered: )(.*)$`)
	goRoutine  = lazyregexp.New(`^goroutine \d+(?: gp=\S+ m=\S+(?: mp=\S+)?)? \[[^\]]*\]:$`)
	goFile     = lazyregexp.New(`^\s+(\S.*\.(?:go|s)):(\d+)(?: \+0x[0-9a-f]+)?$`)
	goAgain    = lazyregexp.New(` \[recovered(?:, repanicked)?\]$`)
	goName     = lazyregexp.New(`^[\w./~\-%@]+\.[\w.()*\[\]·]+$`) // of a stack without arguments
	goStandard = lazyregexp.New(`^(?:bufio|bytes|cmp|compress|container|context|crypto|database|encoding|errors|fmt|hash|html|internal|io|iter|log|maps|math|mime|net|os|path|reflect|regexp|runtime|slices|sort|strconv|strings|sync|syscall|testing|text|time|unicode|vendor)/`)
	goRuntime  = lazyregexp.New(`^runtime error: ([^\[]+?)(?: \[|: |$)`)
)

// goClasses are the classes of errors of the runtime, by the first letters of what is printed.
var goClasses = map[string]string{"panic": "panic", "fatal": "fatal error", "http:": "panic"}

// parseGo reads a panic, or the stack that an error was logged with.
func parseGo(lines []string) (e Event, ok bool) {
	first := len(lines)
	for i, line := range lines {
		if m := goPanic.FindStringSubmatch(line); m != nil && e.Class == "" {
			e.Class, e.Message = goClasses[m[1][:5]], goAgain.ReplaceAllString(strings.TrimSpace(m[2]), "")
		}
		if goRoutine.MatchString(strings.TrimSpace(line)) {
			first = i + 1
			break
		}
		if goFile.MatchString(line) && i > 0 && goName.MatchString(lines[i-1]) {
			first = i - 1
			break
		}
	}
	e.Frames = goFrames(lines[first:])
	if e.Class == "" && len(e.Frames) == 0 {
		return e, false
	}
	if e.Class == "" && first > 0 && !goRoutine.MatchString(lines[0]) {
		e.Message = strings.TrimSpace(lines[0])
	}
	if goRuntime.MatchString(e.Message) {
		e.Class = "runtime error"
	}
	return e, true
}

// goFrames reads the frames of one goroutine. What panics runs through is left out.
func goFrames(lines []string) (out []Frame) {
	function := ""
	for _, line := range lines {
		line = strings.TrimRight(line, " \r")
		if line == "" || goRoutine.MatchString(line) || len(out) == mostFrames {
			break
		}
		if m := goFile.FindStringSubmatch(line); m != nil {
			if function == "panic" || strings.HasPrefix(function, "runtime.gopanic") || strings.HasPrefix(function, "runtime/debug.Stack") {
				out, function = nil, ""
				continue
			}
			out = append(out, goFrame(m[1], number(m[2]), function))
			function = ""
			continue
		}
		if rest, ok := strings.CutPrefix(line, "created by "); ok {
			function, _, _ = strings.Cut(rest, " in goroutine")
		} else if name, ok := goCall(line); ok {
			function = name
		} else if goName.MatchString(line) {
			function = line
		}
	}
	return out
}

// goCall returns the function of a line such as "main.(*T).f({0x1, 0x2}, 0x3)".
func goCall(line string) (string, bool) {
	depth := 0
	for i := len(line) - 1; i > 0 && line[len(line)-1] == ')'; i-- {
		switch line[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return line[:i], true
			}
		}
	}
	return "", false
}

func goFrame(file string, line int, function string) Frame {
	pkg := function
	if i := strings.LastIndexByte(pkg, '/') + 1; i <= len(pkg) {
		name, _, _ := strings.Cut(pkg[i:], ".")
		pkg = pkg[:i] + name
	}
	inApp := !holdsAny(file, "/pkg/mod/", "/vendor/", "/go/src/", "/libexec/src/", "@v") && !goStandard.MatchString(file) &&
		!strings.HasPrefix(function, "runtime.") && !strings.HasPrefix(function, "testing.")
	return Frame{File: file, Line: line, Function: function, Module: pkg, InApp: inApp}
}
