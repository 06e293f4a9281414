package secret

import "strings"

// phrases are words that stand directly before a credential.
var phrases = []struct {
	text  string
	trust trust
}{
	{"Bearer ", strong}, {"bearer ", strong},
	{"password is ", password}, {"Password is ", password},
	{"IDENTIFIED BY '", password}, {"identified by '", password}, {"PASSWORD '", password}, {"password '", password}, // SQL
	{"requirepass ", password}, {"masterauth ", password}, // Redis
	{"login ", password}, // .netrc: login NAME password ...
}

// introduced returns the end of the credential behind a phrase, one of some, that begins at i, or 0.
func (s *scanner) introduced(i int, some []int) int {
	for _, k := range some {
		p := &phrases[k]
		if !strings.HasPrefix(s.text[i:], p.text) {
			continue
		}
		at := i + len(p.text)
		if p.text == "login " {
			if at = s.afterLogin(at); at == 0 {
				continue
			}
		}
		if strings.HasSuffix(p.text, "'") {
			at--
		}
		if v := s.value(at, false); v.credential(p.trust) {
			s.add(v.start, v.end, kindOf(p.trust))
			return v.end
		}
	}
	return 0
}

// afterLogin returns where the password is that follows the name at i, or 0.
func (s *scanner) afterLogin(i int) int {
	const most = 128
	rest := s.text[i:min(len(s.text), i+most)]
	name := strings.IndexAny(rest, " \t\n\\")
	if name < 1 {
		return 0
	}
	gap := rest[name:]
	word := strings.TrimLeft(strings.TrimPrefix(gap, `\n`), " \t\r\n")
	if !strings.HasPrefix(word, "password ") {
		return 0
	}
	return i + len(rest) - len(word) + len("password ")
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
