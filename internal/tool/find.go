package tool

import (
	"path"
	"strings"
)

// finder takes in a program that looks for files or lines, or fetches something.
func (s *shellScript) finder(name string, args []string) Class {
	switch name {
	case "grep", "rg", "egrep", "fgrep", "zgrep", "ag", "ack", "ripgrep":
		return s.grep(args)
	case "fd", "fdfind":
		return s.grep(args)
	case "find":
		return s.find(args)
	case "ls", "tree", "eza", "exa":
		return s.list(args)
	case "curl", "wget":
		return s.download(args)
	case "git":
		return s.git(args)
	}
	return Shell
}

// grepValues are the options of grep, rg and fd that take the next word as their value.
const grepValues = "-e -A -B -C -m -g --glob -t --type -T -f --max-count --context --after-context --before-context --include --exclude --iglob -d --max-depth -E -M --regexp"

func (s *shellScript) grep(args []string) Class {
	names := operands(args, grepValues)
	query := ""
	for i, a := range args[:max(len(args)-1, 0)] {
		if a == "-e" || a == "--regexp" {
			query = args[i+1]
			break
		}
	}
	if query == "" && len(names) > 0 {
		query, names = names[0], names[1:]
	}
	s.query = first(s.query, query)
	if len(names) > 0 {
		s.path = first(s.path, names[0])
	}
	return Search
}

func (s *shellScript) find(args []string) Class {
	for i, a := range args {
		switch a {
		case "-name", "-iname", "-path", "-regex", "-wholename":
			if i+1 < len(args) {
				s.query = first(s.query, args[i+1])
			}
		case "-delete", "-exec", "-execdir", "-ok":
			return Shell
		}
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		s.path = first(s.path, args[0])
	}
	return Search
}

func (s *shellScript) list(args []string) Class {
	if names := operands(args, "-L -I"); len(names) > 0 {
		s.path = first(s.path, names[0])
	}
	return Search
}

func (s *shellScript) download(args []string) Class {
	for _, a := range args {
		if strings.Contains(a, "://") {
			s.url = first(s.url, a)
		}
	}
	return Web
}

// git looks only with grep and ls-files; checkout and restore of files change them.
func (s *shellScript) git(args []string) Class {
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-C" || args[0] == "-c" {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return Shell
	}
	switch args[0] {
	case "grep":
		return s.grep(args[1:])
	case "ls-files", "ls-tree":
		return s.list(args[1:])
	case "mv":
		s.carry(operands(args[1:], ""), true)
	case "rm":
		if !hasWord(strings.Join(args, " "), "--cached") { // which leaves the file itself
			s.each(Delete, operands(args[1:], ""))
		}
	case "restore":
		s.each(Edit, operands(args[1:], "--source -s"))
	case "checkout":
		if i := indexOf(args, "--"); i >= 0 {
			s.each(Edit, args[i+1:])
		}
	}
	return Shell
}

func indexOf(words []string, w string) int {
	for i := range words {
		if words[i] == w {
			return i
		}
	}
	return -1
}

// unwrap removes the words before the program itself: variables, sudo, env, timeouts, keywords.
func unwrap(words []string) []string {
	for len(words) > 0 {
		n := wrapping(words)
		if n == 0 {
			return words
		}
		words = words[min(n, len(words)):]
	}
	return words
}

// wrapping returns how many words at the start belong to a wrapper.
func wrapping(words []string) int {
	switch baseName(words[0]) {
	case "sudo", "env", "command", "time", "nohup", "exec", "builtin", "stdbuf", "nice", "rtk", "direnv":
		n := 1
		for n < len(words) && strings.HasPrefix(words[n], "-") {
			if words[n] == "-u" || words[n] == "-n" {
				n++
			}
			n++
		}
		return n
	case "timeout", "gtimeout":
		n := 1
		for n < len(words) && strings.HasPrefix(words[n], "-") {
			if words[n] == "-k" || words[n] == "-s" {
				n++
			}
			n++
		}
		return n + 1
	case "do", "then", "else", "if", "elif", "while", "until", "!", "{":
		return 1
	}
	if isAssignment(words[0]) {
		return 1
	}
	return 0
}

// isAssignment reports whether w is NAME=value.
func isAssignment(w string) bool {
	i := strings.IndexByte(w, '=')
	if i <= 0 {
		return false
	}
	for k := 0; k < i; k++ {
		c := w[k]
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (k == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// operands returns the arguments that are no options. withValue lists the options whose value is
// the next word.
func operands(args []string, withValue string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return append(out, args[i+1:]...)
		case len(a) > 1 && a[0] == '-':
			if withValue != "" && hasWord(withValue, a) {
				i++
			}
		case a != "" && a != "-":
			out = append(out, a)
		}
	}
	return out
}

// operandsFrom drops leading options.
func operandsFrom(args []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-I" || args[0] == "-n" || args[0] == "-P" || args[0] == "-L" {
			args = args[min(1, len(args)-1):]
		}
		args = args[1:]
	}
	return args
}

// hasWord reports whether w is one of the words of list, which are separated by spaces.
func hasWord(list, w string) bool {
	for x := range strings.SplitSeq(list, " ") {
		if x == w {
			return true
		}
	}
	return false
}

// expands reports whether the shell would put something else in the place of w.
func expands(w string) bool { return strings.ContainsAny(w, "$`") || strings.HasPrefix(w, "<(") }

func isNumber(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func baseName(program string) string {
	if strings.IndexByte(program, '/') < 0 {
		return program
	}
	return path.Base(program)
}
