package mask

import (
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// telling are names that say what stands behind them, by what it is. Underscores may be hyphens, points or missing.
var telling = []struct {
	kind string
	name string
}{
	{person, `(?:customer|client|contact|owner|holder|cardholder|patient|employee|member|guest|sender|recipient|display|full|first|last|middle|given|family|maiden|nick|sur|user|legal|real|account|billing|shipping|author)[_.\- ]?name|surname|firstname|lastname|fullname|nickname|username|login|user`},
	{email, `e[_-]?mail(?:[_-]?address)?`},
	{phone, `phone(?:[_-]?(?:number|no))?|mobile(?:[_-]?(?:number|no|phone))?|telephone|fax`},
	{place, `street(?:[_-]?(?:address|name|1|2))?|address[_-]?(?:line)?[_-]?[12]?|postal[_-]?code|post[_-]?code|zip(?:[_-]?code)?`},
	{birth, `dob|date[_-]of[_-]birth|birth[_-]?(?:date|day)`},
	{id, `ssn|social[_-]security(?:[_-]number)?|passport(?:[_-]?(?:number|no))?|tax[_-]?id|national[_-]?id|driver'?s?[_-]?licen[cs]e(?:[_-]?(?:number|no))?|id[_-]card`},
	{card, `card[_-]?(?:number|no)|credit[_-]?card|pan|cvv2?|cvc2?`},
	{account, `iban|account[_-]?(?:number|no)|bank[_-]?account`},
	{host, `(?:client|remote|user)[_-]?ip|ip[_-]?address|remote[_-]?addr`},
	{password, `pass(?:word|wd|phrase|code)|pwd|pin|otp`},
	{hidden, `secret|api[_-]?key|(?:access|auth|refresh|session|csrf|xsrf|bearer|id)[_-]?token|token|session[_-]?id|sessid|authenticity[_-]token`},
}

// ended finds a telling name at the end of a text.
var ended = func() *lazyregexp.Regexp {
	var all []string
	for _, t := range telling {
		all = append(all, t.name)
	}
	return lazyregexp.New(`(?i)(?:` + strings.Join(all, "|") + `)$`)
}()

// endings are the last letters of all telling names. Most names have none of them, and a look at that is cheap.
var endings = []string{"name", "login", "user", "mail", "ress", "phone", "mber", "no", "mobile", "fax", "street", "1", "2", "line", "code", "zip", "dob", "birth", "date", "day", "ssn", "port",
	"id", "nse", "nce", "card", "pan", "cvv", "cvc", "iban", "account", "ip", "addr", "word", "wd", "phrase", "pin", "otp", "secret", "key", "token"}

// kinds are telling names alone.
var kinds = func() (out []*lazyregexp.Regexp) {
	for _, t := range telling {
		out = append(out, lazyregexp.New(`(?i)^(?:.*[^A-Za-z0-9])?(?:`+t.name+`)$`))
	}
	return out
}()

// kindOf returns what a name says about its value, "" when it says nothing.
func kindOf(name string) string {
	for i, k := range kinds {
		if k.MatchString(name) {
			return telling[i].kind
		}
	}
	return ""
}

// behindNames returns the values behind telling names. In code only those between quotes are.
func behindNames(text string, code bool) (out []span) {
	if !strings.ContainsAny(text, "=:") {
		return nil
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '=' && text[i] != ':' {
			continue
		}
		sep := separator(text, i)
		start, end := nameBefore(text, sep.start)
		if start == end {
			i = sep.end - 1
			continue
		}
		kind := kindOf(text[start:end])
		v, quoted := valueAt(text, sep.end)
		v.kind = kind
		switch {
		case quoted && (!code || hasPersonal(kind)) && !nothing(text[v.start:v.end]):
			out, i = append(out, v), v.end
		case !quoted && !code:
			if v, ok := bareValue(text, v, text[start:end], text[sep.start:sep.end]); ok {
				out, i = append(out, v), v.end-1
			}
		}
	}
	return out
}

// separator returns what stands between a name and its value around text[i]: "=", ":", ":=" or "=>", with a space on each side.
func separator(text string, i int) span {
	s := span{start: i, end: i + 1}
	if two := text[i:min(len(text), i+2)]; two == ":=" || two == "=>" {
		s.end++
	}
	if before(text, i) == ' ' {
		s.start--
	}
	if after(text, s.end) == ' ' {
		s.end++
	}
	return s
}

// nameBefore returns the telling name that ends at end, behind quotes and brackets; start and end are equal when there is none.
func nameBefore(text string, end int) (int, int) {
	const most = 40
	for least := max(0, end-3); end > least && strings.IndexByte(`"'\])`, text[end-1]) >= 0; {
		end--
	}
	low := strings.ToLower(text[max(0, end-6):end])
	if !slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(low, e) }) {
		return end, end
	}
	from := max(0, end-most)
	m := ended.FindStringIndex(text[from:end])
	if m == nil || !begins(text, from+m[0]) {
		return end, end
	}
	return from + m[0], end
}

// mostValue is how many bytes of a value are looked at.
const mostValue = 400

// valueAt returns the value that begins at i, and whether it stands between quotes, which JSON within a text escapes.
func valueAt(text string, i int) (span, bool) {
	rest := text[i:min(len(text), i+mostValue)]
	for _, q := range [...]string{`\"`, `"`, `'`} {
		if !strings.HasPrefix(rest, q) {
			continue
		}
		for k := len(q); k < len(rest) && rest[k] != '\n'; k++ {
			if strings.HasPrefix(rest[k:], q) {
				return span{start: i + len(q), end: i + k}, true
			}
			if rest[k] == '\\' {
				k++
			}
		}
	}
	if n := strings.IndexByte(rest, ')'); n > 0 && rest[0] == '(' && before(text, i) == '=' && i > 1 && text[i-2] == ')' { // PostgreSQL: Key (email)=(x)
		return span{start: i + 1, end: i + n}, true
	}
	n := strings.IndexAny(rest, " \t\r\n,;&|<>(){}[]\"'")
	if n < 0 {
		n = len(rest)
	}
	return span{start: i, end: i + n}, false
}

// begins reports whether a word of a name begins at i: after something else, or with a capital letter after a small one.
func begins(text string, i int) bool {
	b := before(text, i)
	return !word(b) || b == '_' || b >= 'a' && b <= 'z' && text[i] >= 'A' && text[i] <= 'Z'
}

// hasPersonal reports whether a quoted value behind a name of this kind is masked in code; credentials there are judged by package secret.
func hasPersonal(kind string) bool { return kind != password && kind != hidden && kind != host }

var (
	types     = lazyregexp.New(`(?i)^(?:string|str|text|int|integer|number|bool|boolean|any|object|none|null|nil|undefined|true|false|self|this|required|optional|varchar.*|char.*)$`)
	nameWords = lazyregexp.New(`^(?: [\p{Lu}][\p{L}'.\-]*){1,3}`)
	streets   = lazyregexp.New(`^[^,;&\n"'|(){}\[\]]{0,60}`)
)

// bareValue returns what stands behind a name without quotes, unless it is the text of a program or of a sentence.
func bareValue(text string, v span, name, sep string) (span, bool) {
	start, end, kind := v.start, v.end, v.kind
	value := text[start:end]
	trimmed := strings.TrimRight(value, ".:!?")
	end = start + len(trimmed)
	if nothing(trimmed) || trimmed == "" || strings.EqualFold(trimmed, name) || trimmed[0] == '$' || trimmed[0] == '%' && len(trimmed) < 4 || trimmed[0] == '\\' {
		return span{}, false
	}
	if next := after(text, end); next == '(' || next == '[' && start+len(value) == end {
		return span{}, false // a call, an index
	}
	spaced := strings.Contains(sep, " ")
	noted := strings.ContainsAny(trimmed, "0123456789@_-.!$%^*+/") || kind == person && trimmed[0] >= 'A' && trimmed[0] <= 'Z'
	switch {
	case strings.Contains(sep, "=") && !spaced: // name=value
	case kind == place || kind == birth || kind == phone || kind == id || kind == card || kind == account:
		if !strings.ContainsAny(trimmed, "0123456789") {
			return span{}, false
		}
	case !noted && (kind != person || name == "user" || name == "login" || strings.Contains(sep, "=")):
		return span{}, false // a sentence, or code
	}
	if kind == person {
		end += len(nameWords.FindString(text[end:]))
	}
	if kind == place && strings.ContainsAny(text[start:end], "0123456789") {
		end += len(strings.TrimRight(streets.FindString(text[end:]), " .:"))
	}
	return span{start, end, kind}, true
}

// nothing reports whether a value says nothing: it is empty, a type, masked already, or what stands between two texts.
func nothing(v string) bool {
	v = strings.TrimSpace(v)
	return v == "" || strings.IndexByte(",)]};", v[0]) >= 0 || types.MatchString(v) || issued.MatchString(v) || strings.HasPrefix(v, "[redacted") || strings.HasPrefix(v, "[FILTERED") || strings.Trim(v, "*xX.") == "" ||
		strings.HasPrefix(v, "{{") || strings.HasPrefix(v, "${") || strings.HasPrefix(v, "#{") || strings.HasPrefix(v, "%s") || strings.HasPrefix(v, "<")
}
