package tool

import (
	"path"
	"strings"
)

// simple is one simple command of a shell text: its words with quotes taken off, and where its
// input and output go.
type simple struct {
	words   []string
	out     string // file that standard output is written to
	appends bool   // to what is in out already
	in      string // file that standard input is read from
	heredoc string
	join    byte // how the next is joined to it: ';', '|', '&', 'a' for &&, 'o' for ||; 0 at the end
}

// shellLexer splits a shell text into simple commands. It knows quotes, operators, redirections,
// heredocs, comments and substitutions; it expands nothing.
type shellLexer struct {
	src  string
	pos  int
	cmds []simple
	cur  simple
	word []byte
	open bool // a word has begun
	// what the next word is: 0 an argument, '>' an output file, '+' one that grows, '<' an input file, 'x'
	// discarded, 'h' a heredoc's end
	target byte
	ends   []string // heredocs whose bodies follow after this line
}

// splitShell returns the simple commands of src in order.
func splitShell(src string) []simple {
	l := shellLexer{src: src, word: make([]byte, 0, 64)}
	for l.pos < len(l.src) {
		l.step()
	}
	l.endCommand(0)
	return l.cmds
}

// step reads one character, quoted string, substitution or operator.
func (l *shellLexer) step() {
	switch c := l.src[l.pos]; c {
	case ' ', '\t', '\r':
		l.endWord()
		l.pos++
	case '\n':
		l.pos++
		l.endCommand(';')
		l.bodies()
	case '\\':
		l.escape()
	case '\'', '"':
		l.quoted(c)
	case '$', '`':
		l.substitution()
	case '#':
		if l.open {
			l.add(1)
			return
		}
		l.pos += lineEnd(l.src[l.pos:])
	case ';', '(', ')':
		l.pos++
		l.endCommand(';')
	case '|', '&':
		l.operator()
	case '<', '>':
		l.redirect()
	default:
		l.add(1)
	}
}

// add takes n bytes into the word.
func (l *shellLexer) add(n int) {
	n = min(n, len(l.src)-l.pos)
	l.word = append(l.word, l.src[l.pos:l.pos+n]...)
	l.pos += n
	l.open = true
}

func (l *shellLexer) escape() {
	l.pos++
	if l.pos < len(l.src) && l.src[l.pos] == '\n' {
		l.pos++
		return
	}
	l.add(1)
}

// quoted takes in a quoted string without its quotes.
func (l *shellLexer) quoted(quote byte) {
	l.open = true
	for l.pos++; l.pos < len(l.src) && l.src[l.pos] != quote; {
		switch {
		case quote == '"' && l.src[l.pos] == '\\' && l.pos+1 < len(l.src):
			if strings.IndexByte("\"\\$`", l.src[l.pos+1]) >= 0 {
				l.pos++
			}
			l.add(1)
		case quote == '"' && strings.HasPrefix(l.src[l.pos:], "$("):
			l.substitution()
		default:
			l.add(1)
		}
	}
	l.pos = min(l.pos+1, len(l.src))
}

// substitution takes in $NAME, $(...) or `...` as written.
func (l *shellLexer) substitution() {
	rest := l.src[l.pos:]
	if rest[0] == '`' {
		if i := strings.IndexByte(rest[1:], '`'); i >= 0 {
			l.add(i + 2)
			return
		}
	}
	if !strings.HasPrefix(rest, "$(") {
		l.add(1)
		return
	}
	depth := 0
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				l.add(i + 1)
				return
			}
		}
	}
	l.add(len(rest))
}

// operator reads |, ||, & or &&. "2>&1" never gets here: redirect takes it.
func (l *shellLexer) operator() {
	c := l.src[l.pos]
	l.pos++
	switch {
	case l.pos < len(l.src) && l.src[l.pos] == c:
		l.pos++
		if c == '&' {
			l.endCommand('a')
			return
		}
		l.endCommand('o')
	case c == '&' && l.pos < len(l.src) && l.src[l.pos] == '>':
		l.endWord()
	case c == '|':
		if l.pos < len(l.src) && l.src[l.pos] == '&' {
			l.pos++
		}
		l.endCommand('|')
	default:
		l.endCommand('&')
	}
}

// redirect reads the operator of a redirection; the word after it is its target.
func (l *shellLexer) redirect() {
	other := l.descriptor()
	rest := l.src[l.pos:]
	target, n := byte('<'), 1
	switch {
	case strings.HasPrefix(rest, "<<<"):
		target, n = 'x', 3
	case strings.HasPrefix(rest, "<<-"):
		target, n = 'h', 3
	case strings.HasPrefix(rest, "<<"):
		target, n = 'h', 2
	case strings.HasPrefix(rest, ">&"), strings.HasPrefix(rest, "<&"):
		target, n = 'x', 2
	case strings.HasPrefix(rest, ">>"):
		target, n = '+', 2
	case strings.HasPrefix(rest, ">|"):
		target, n = '>', 2
	case rest[0] == '>':
		target = '>'
	}
	if other && (target == '>' || target == '+') {
		target = 'x'
	}
	l.target = target
	l.pos += n
}

// descriptor ends the word before a redirection and reports whether it was the number of a file
// descriptor other than that of the standard output.
func (l *shellLexer) descriptor() bool {
	if len(l.word) == 1 && '0' <= l.word[0] && l.word[0] <= '9' {
		other := l.word[0] != '1'
		l.word, l.open = l.word[:0], false
		return other
	}
	l.endWord()
	return false
}

// endWord puts the word that has been read to where it belongs.
func (l *shellLexer) endWord() {
	if !l.open {
		return
	}
	w := string(l.word)
	switch l.target {
	case 0:
		if l.cur.words == nil {
			l.cur.words = make([]string, 0, 8)
		}
		l.cur.words = append(l.cur.words, w)
	case '>', '+':
		if w != "/dev/null" {
			l.cur.out, l.cur.appends = w, l.target == '+'
		}
	case '<':
		l.cur.in = w
	case 'h':
		l.ends = append(l.ends, w)
	}
	l.word, l.open, l.target = l.word[:0], false, 0
}

// endCommand ends the simple command, which is joined to the next by join. An operator behind another, as in ") &&",
// joins the same two.
func (l *shellLexer) endCommand(join byte) {
	l.endWord()
	l.target = 0
	if len(l.cur.words) > 0 || l.cur.out != "" {
		l.cur.join = join
		l.cmds = append(l.cmds, l.cur)
	} else if n := len(l.cmds); n > 0 && (join != ';' && join != 0) {
		l.cmds[n-1].join = join
	}
	l.cur = simple{}
}

// bodies reads the heredocs announced on the line before and gives them to the last command.
func (l *shellLexer) bodies() {
	for _, end := range l.ends {
		start := l.pos
		stop := l.pos
		for l.pos < len(l.src) {
			stop = l.pos
			n := lineEnd(l.src[l.pos:])
			line := l.src[l.pos : l.pos+n]
			l.pos = min(l.pos+n+1, len(l.src))
			if strings.TrimSpace(line) == end {
				break
			}
			stop = l.pos
		}
		if n := len(l.cmds); n > 0 {
			l.cmds[n-1].heredoc = l.src[start:stop]
		}
	}
	l.ends = l.ends[:0]
}

// lineEnd returns the length of the first line of s without its newline.
func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// isShell reports whether the program runs shell text.
func isShell(program string) bool {
	switch path.Base(program) {
	case "bash", "sh", "zsh", "dash", "fish", "ksh":
		return true
	}
	return false
}
