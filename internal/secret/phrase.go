package secret

import "strings"

// phrases are words directly before a credential.
var phrases = []struct {
	text  string
	trust trust
}{
	{"Bearer ", strong}, {"bearer ", strong},
	{"password is ", password}, {"Password is ", password},
	{"token is ", strong}, {"Token is ", strong}, {"secret is ", strong}, {"Secret is ", strong},
	// a primary key may be
	{"API key is ", strong}, {"api key is ", strong}, {"access key is ", strong}, {"deploy key is ", strong},
	{"key is ", mixed},
	// SQL
	{"IDENTIFIED BY '", password}, {"identified by '", password}, {"PASSWORD '", password}, {"password '", password},
	{"requirepass ", password}, {"masterauth ", password}, // Redis
	{"login ", password}, // .netrc: login NAME password ...
	// A name and then its value: ENV NAME value, define('NAME', 'value').
	{"ENV ", another}, {"set ", another}, {"define(", another}, {"setenv(", another}, {"Setenv(", another},
}

// introduced returns the end of the credential behind a phrase, one of some, that begins at i, or 0.
func (s *scanner) introduced(i int, some []int) int {
	for _, k := range some {
		p := &phrases[k]
		if !strings.HasPrefix(s.text[i:], p.text) {
			continue
		}
		at, is, netrc := i+len(p.text), p.trust, p.text == "login "
		switch {
		case netrc:
			at = s.afterLogin(i, at)
		case is == another:
			at, is = s.afterName(at)
		case strings.HasSuffix(p.text, "'"):
			at-- // the quote is the value's
		}
		if at == 0 {
			continue
		}
		if v := s.value(at, netrc); v.credential(is) {
			s.add(v.start, v.end, kindOf(is))
			return v.end
		}
	}
	return 0
}

// afterName returns where the value may begin that follows the name at i, and what the name tells.
func (s *scanner) afterName(i int) (int, trust) {
	start := s.skip(i, "\"'\\")
	end := start + wordLength(s.text[start:min(len(s.text), start+longestName)], token)
	if end == len(s.text) || strings.IndexByte(" '\"\\", s.text[end]) < 0 {
		return 0, none
	}
	is := s.before(end)
	if end > start && start > i { // in quotes, and so is the value
		end = s.skip(end, "\"'\\")
		end = s.skip(end, ", ")
	}
	return end, is
}

// afterLogin returns where the password is that follows the name at i, behind a login at word, or 0.
func (s *scanner) afterLogin(word, i int) int {
	rest := s.text[i:min(len(s.text), i+farthest)]
	name := strings.IndexAny(rest, " \t\n\\")
	if name < 1 {
		return 0
	}
	value, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimPrefix(rest[name:], `\n`), " \t\r\n"), "password ")
	s.work += name
	if !ok || !s.machine(word) {
		return 0
	}
	return i + len(rest) - len(value)
}

// machine reports whether the name of a machine precedes i, as in .netrc.
func (s *scanner) machine(i int) bool {
	text := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(s.text[max(0, i-farthest):i], " \t\r\n"), `\n`), " ")
	k := strings.LastIndex(text, "machine ")
	s.work += len(text)
	return k >= 0 && len(strings.Fields(text[k:])) == 2 || strings.HasSuffix(text, "default")
}

// shortCookie is how long the value of a cookie is at least to be a credential.
const shortCookie = 12

// cookie looks at the cookies in the line that begins at i: name=value; name=value. It always returns 0:
// what it finds is noted, and the names among them may tell of more.
func (s *scanner) cookie(i int) int {
	if i < s.told {
		return 0
	}
	end := i
	for end < len(s.text) && end < i+4*longestValue && strings.IndexByte("\n\r\"'`", s.text[end]) < 0 {
		end++
	}
	s.work += end - i
	s.told = end
	for at := i; at < end; {
		next := end
		if k := strings.IndexByte(s.text[at:end], ';'); k >= 0 {
			next = at + k
		}
		_, v, _ := strings.Cut(s.text[at:next], "=")
		v = strings.TrimRight(v, " \\")
		if c := count(v); c.size >= shortCookie && c.digits > 1 && c.letters() > 1 && c.spaces == 0 && !placeholder(v) && (c.dots == 0 || c.changes > 2) {
			stop := at + len(strings.TrimRight(s.text[at:next], " \\"))
			s.add(stop-len(v), stop, "cookie")
		}
		at = next + 1
	}
	return 0
}
