package secret

import "strings"

// farthest is how far behind "://" the end of a password is looked for.
const farthest = 256

// urls looks for the passwords of addresses ("postgres://user:password@host") and for the tokens that
// stand in place of a user's name.
func (s *scanner) urls() {
	for at := 0; ; {
		i := strings.Index(s.text[at:], "://")
		if i < 0 {
			return
		}
		at += i + len("://")
		at = max(at, s.address(at))
	}
}

// address looks at the address whose host part begins at i. It returns the end of a credential in it, or 0.
func (s *scanner) address(i int) int {
	limit := min(len(s.text), i+farthest)
	if i < limit && s.text[i] == '[' {
		return 0 // the number of a host; its colons are no user's
	}
	end := s.until(i, limit, "/?#") // of the authority
	at := strings.LastIndexByte(s.text[i:end], '@')
	colon := strings.IndexByte(s.text[i:end], ':')
	if at < 0 && colon >= 0 && end < limit && !allDigits(s.text[i+colon+1:end]) && s.nextAt(end) < limit {
		end = s.until(i, limit, "@") // what should have been escaped is not
		if at = end - i; end == limit || s.text[end] != '@' {
			at = -1
		}
	}
	s.work += end - i
	v := value{start: i + colon + 1, end: i + at, how: quoted}
	if at < 0 || v.start > v.end {
		return 0
	}
	v.text = s.text[v.start:v.end]
	kind, ok := "password", len(v.text) > 2 && !placeholder(v.text)
	if colon < 0 {
		kind, ok = "secret", len(v.text) >= 20 && v.random(count(v.text[:min(len(v.text), judged)]))
	}
	if !ok {
		return 0
	}
	s.add(v.start, v.end, kind)
	return v.end
}

// nextAt returns where the first @ from i on is.
func (s *scanner) nextAt(i int) int {
	if i < s.sign.start || i > s.sign.end {
		j := strings.IndexByte(s.text[i:], '@')
		if j < 0 {
			j = len(s.text) - i
		}
		s.work += j
		s.sign = span{i, i + j}
	}
	return s.sign.end
}

// until returns where an address ends that begins at i: at a space, a quote, a bracket, what is not ASCII,
// or one of the bytes in ends.
func (s *scanner) until(i, limit int, ends string) int {
	for ; i < limit; i++ {
		c := s.text[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"'`<>\\", c) >= 0 || strings.IndexByte(ends, c) >= 0 {
			break
		}
	}
	return i
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}
