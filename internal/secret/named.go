package secret

import (
	"math"
	"strings"
)

// addresses appends the passwords in URLs ("postgres://user:password@host") and private keys.
func addresses(dst []Match, text string) []Match {
	for at := 0; ; {
		i := strings.Index(text[at:], "://")
		if i < 0 {
			break
		}
		at += i + 3
		if m, ok := password(text, at); ok {
			dst = append(dst, m)
		}
	}
	return privateKeys(dst, text)
}

// password finds the password of the URL whose host part starts at i.
func password(text string, i int) (Match, bool) {
	colon := -1
	for j := i; j < len(text) && j-i < 200; j++ {
		switch c := text[j]; {
		case c == ':' && colon < 0:
			colon = j
		case c == '@':
			ok := colon >= i && j-colon > 3 && !placeholder(text[colon+1:j])
			return Match{colon + 1, j, "password"}, ok
		case c <= ' ' || c == '/' || c == '"' || c == '\'' || c == '`' || c == '<' || c == '>' || c >= 0x7f:
			return Match{}, false
		}
	}
	return Match{}, false
}

// privateKeys appends the keys in PEM form, from the first line to the last, or to the end of the text.
func privateKeys(dst []Match, text string) []Match {
	for at := 0; ; {
		i := strings.Index(text[at:], "PRIVATE KEY-----")
		if i < 0 {
			return dst
		}
		i += at
		at = i + len("PRIVATE KEY-----")
		begin := strings.LastIndex(text[max(0, i-40):i], "-----BEGIN ")
		if begin < 0 {
			continue
		}
		begin += max(0, i-40)
		end := len(text)
		if k := strings.Index(text[at:], "-----END "); k >= 0 {
			end = at + k
			if k = strings.Index(text[end:], "KEY-----"); k >= 0 {
				end += k + len("KEY-----")
			}
		} else if k := keyEnd(text, at); k < end {
			end = k
		}
		if end-at < 40 {
			continue // the line alone, as in code that looks for keys
		}
		dst = append(dst, Match{begin, end, "private-key"})
		at = end
	}
}

// keyEnd returns where the base64 after i ends, in a key whose last line was cut off.
func keyEnd(text string, i int) int {
	for i < len(text) && (class[text[i]]&path != 0 || text[i] == '\n' || text[i] == '\r' || text[i] == '\\') {
		i++
	}
	return i
}

// telling are the ends of names whose value is a credential, in small letters without separators.
var telling = []string{"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "secretkey", "privatekey", "authtoken", "accesstoken", "refreshtoken", "bearertoken", "sessiontoken", "apitoken", "token", "clientsecret", "credentials", "authorization", "bearer"}

// named appends the values that follow telling names: NAME=value, "name": "value", name: value.
func named(dst []Match, text string) []Match {
	for _, sep := range [...]byte{'=', ':'} {
		for at := 0; ; {
			i := strings.IndexByte(text[at:], sep)
			if i < 0 {
				break
			}
			i += at
			at = i + 1
			if m, ok := after(text, i); ok {
				dst = append(dst, m)
				at = m.End
			}
		}
	}
	return dst
}

// after finds a credential after the separator at i.
func after(text string, i int) (Match, bool) {
	kind := tells(text, i)
	if kind == "" {
		return Match{}, false
	}
	j := i + 1
	for j < len(text) && (text[j] == ' ' || text[j] == '"' || text[j] == '\'' || text[j] == '\\') {
		j++
	}
	for _, scheme := range [...]string{"Bearer ", "Basic ", "token "} {
		if strings.HasPrefix(text[j:], scheme) {
			j += len(scheme)
		}
	}
	end := j
	for end < len(text) && end-j < 512 && (class[text[end]]&path != 0 || kind == "password" && strings.IndexByte("!@#%^&*~?", text[end]) >= 0) {
		end++
	}
	v := text[j:end]
	if end < len(text) && (text[end] == '(' || text[end] == '[' || text[end] == '{') || placeholder(v) {
		return Match{}, false
	}
	return Match{j, end, kind}, random(v, kind)
}

// tells returns what the value after the separator at i is, judging by the name before it.
func tells(text string, i int) string {
	end := i
	for end > 0 && i-end < 3 && (text[end-1] == '"' || text[end-1] == '\'' || text[end-1] == ' ' || text[end-1] == '\\') {
		end--
	}
	var name [40]byte
	n := len(name)
	for j := end; j > 0 && n > 0; j-- {
		c := text[j-1]
		if c == '_' || c == '-' {
			continue
		}
		if class[c]&alnum == 0 {
			break
		}
		n--
		name[n] = c | 0x20
	}
	if len(name)-n < 5 {
		return ""
	}
	for _, t := range telling {
		if strings.HasSuffix(string(name[n:]), t) {
			if strings.HasPrefix(t, "pass") {
				return "password"
			}
			return "secret"
		}
	}
	return ""
}

// placeholder reports whether v stands for a credential without being one.
func placeholder(v string) bool {
	low := strings.ToLower(v)
	for _, p := range [...]string{"example", "your", "xxxx", "****", "...", "redacted", "placeholder", "changeme", "dummy", "process.env", "os.environ", "getenv"} {
		if strings.Contains(low, p) {
			return true
		}
	}
	return strings.HasPrefix(v, "$") || strings.HasPrefix(v, "{") || strings.HasPrefix(v, "%")
}

// random reports whether v looks like a credential rather than a word, a name or a number.
func random(v, kind string) bool {
	letters, digits, other := 0, 0, 0
	var count [256]int
	for i := 0; i < len(v); i++ {
		count[v[i]]++
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters++
		default:
			other++
		}
	}
	if kind == "password" {
		return len(v) >= 8 && letters > 0 && digits+other > 1 && strings.IndexByte(v, '.') < 0 && strings.IndexByte(v, '/') < 0 && digits > 0
	}
	if len(v) < 16 || digits < 2 || letters < 4 {
		return false
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(v))
			bits -= p * math.Log2(p)
		}
	}
	return bits > 3.2 && other*4 < len(v) && strings.Count(v, "/") < 3
}
