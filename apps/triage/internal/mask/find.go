package mask

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/secret"
)

// The kinds of what is masked, beside those of package secret.
const (
	email    = "email"
	phone    = "phone"
	host     = "ip"
	mac      = "mac"
	card     = "card"
	account  = "iban"
	person   = "name"
	place    = "address"
	birth    = "birthdate"
	id       = "id"
	password = "password"
	hidden   = "secret"
)

// issued is a placeholder.
var issued = lazyregexp.New(`^\[[a-z][a-z0-9-]{1,30}-\d{1,9}\]$`)

// A rule finds what has a form of its own. What is masked is the first group, or the whole.
type rule struct {
	kind  string
	form  *lazyregexp.Regexp
	needs string // bytes of which a text without any has none of these; empty: unknown
	is    func(text string, start, end int) bool
}

var rules = []rule{
	{email, lazyregexp.New(`[\p{L}\p{N}._%+'\-]+(?:@|%40|\\u0040)(?:[\p{L}\p{N}\-]+\.)+\p{L}{2,24}`), "@4", isEmail},
	{host, lazyregexp.New(`\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}`), ".", isIPv4},
	{mac, lazyregexp.New(`(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}`), ":-", apart},
	{host, lazyregexp.New(`[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?:(?:\d{1,3}\.){3}\d{1,3})?`), ":", isIPv6},
	{id, lazyregexp.New(`\d{3}-\d{2}-\d{4}`), "-", isSSN},
	{phone, lazyregexp.New(`(?:1[ .-])?\(\d{3}\) ?\d{3}[ .-]\d{4}`), "(", apart},
	{phone, lazyregexp.New(`(?:1[ .-])?[2-9]\d{2}[ .-]\d{3}[ .-]\d{4}`), "-. ", apart},
	{phone, lazyregexp.New(`0[1-9]\d{1,3}[ /-]\d{3,4}[ -]?\d{2,5}`), "0", isLocal},
	{hidden, lazyregexp.New(`eyJ[\w-]{6,}\.eyJ[\w-]{6,}(?:\.[\w-]*)?`), "e", nil},
	{hidden, lazyregexp.New(`\b(?:NRAK-[A-Z0-9]{20,}|NRII-[\w-]{20,}|NRJS-[0-9a-f]{19}|sntry[su]_[\w+/=.-]{20,}|[0-9a-f]{36}NRAL)`), "", nil},
	{hidden, lazyregexp.New(`(?i)[?&;](?:access_?token|auth(?:_?token)?|token|id_token|refresh_token|api_?key|apikey|key|secret|client_secret|sig|signature|x-amz-signature|x-amz-credential|x-amz-security-token|session(?:_?id)?|sid|jsessionid|phpsessid|password|passwd|pwd|otp|invite|reset(?:_token)?|ticket)=([^&\s"'<>#;]{3,})`), "=", notIssued},
	{hidden, lazyregexp.New(`(?i)\b(?:Bearer|Basic|Token) ([A-Za-z0-9+/=_.~-]{16,})`), " ", isToken},
	{person, lazyregexp.New(`(?:/home/|/Users/|[A-Za-z]:\\\\?Users\\\\?)([\p{L}\p{N}._-]+)`), `/\`, isHome},
	{person, lazyregexp.New(`\b(?:for user|user) "([^"\s]{2,60})"`), `"`, nil},
}

// people are rules for what people and programs say, which in code would find names of other things.
var people = []rule{
	{person, lazyregexp.New(`(?i:\b(?:name|customer|client|contact|patient|employee|recipient|sender|buyer|seller|holder|guest|passenger)\b)\\?["']? ?(?:=>|[:=]) ?\\?["']?(` + fullName + `)`), ":=", nil},
	{person, lazyregexp.New(`\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau)\.? (\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?)`), "MDPHF", nil},
	{"value", lazyregexp.New(`Duplicate entry '((?:[^'\\]|\\.)+)' for key`), "'", nil}, // MySQL
}

// fullName is two words with capital letters, or more.
const fullName = `\p{Lu}[\p{L}'’-]+(?: (?:\p{Lu}\.|(?:van |von |de |der |da )?\p{Lu}[\p{L}'’-]+)){1,3}`

// find returns what is to be masked in a text, in order and apart from each other.
func find(text string, code bool) []span {
	var out []span
	for _, f := range secret.Find(text) {
		out = append(out, span{f.Start, f.End, f.Kind})
	}
	all := rules
	if !code {
		all = slices.Concat(rules, people)
	}
	for _, r := range all {
		if r.needs != "" && !strings.ContainsAny(text, r.needs) {
			continue
		}
		for _, m := range r.form.FindAllStringSubmatchIndex(text, -1) {
			start, end := m[0], m[1]
			if len(m) > 2 && m[2] >= 0 {
				start, end = m[2], m[3]
			}
			if r.is == nil || r.is(text, start, end) {
				out = append(out, span{start, end, r.kind})
			}
		}
	}
	out = slices.Concat(out, cards(text), accounts(text), phones(text), behindNames(text, code))
	return merged(out)
}

// merged sorts spans and joins those that overlap. The kind of the one that begins first counts, then that of the longer one.
func merged(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	var out []span
	for _, s := range spans {
		if n := len(out); n > 0 && s.start < out[n-1].end {
			out[n-1].end = max(out[n-1].end, s.end)
		} else if s.start < s.end {
			out = append(out, s)
		}
	}
	return out
}

// before and after return the byte next to a stretch of text, 0 where there is none.
func before(text string, start int) byte {
	if start == 0 {
		return 0
	}
	return text[start-1]
}

func after(text string, end int) byte {
	if end == len(text) {
		return 0
	}
	return text[end]
}

// word reports whether a byte is part of a word or a number.
func word(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

// apart reports whether a stretch of text is not a part of a longer word or number.
func apart(text string, start, end int) bool {
	b, a := before(text, start), after(text, end)
	if word(b) || word(a) || b == '-' || b == '.' && start > 1 && word(text[start-2]) || b == '+' {
		return false
	}
	return a != '-' && a != '.' || end+1 >= len(text) || !word(text[end+1])
}

func notIssued(text string, start, end int) bool { return !issued.MatchString(text[start:end]) }

// files are the ends of names of files that look like a domain: icon@2x.png.
var files = lazyregexp.New(`(?i)\.(?:png|jpe?g|gif|svg|webp|js|mjs|cjs|ts|css|json|zip|tgz|gz|html|go|py|rb|java|so|jar)$`)

func isEmail(text string, start, end int) bool {
	return !strings.HasPrefix(text[start:end], "git@") && !files.MatchString(text[start:end])
}

func isIPv4(text string, start, end int) bool {
	b, a := before(text, start), after(text, end)
	if word(b) && b != 'T' || word(a) && a != '_' || b == '.' || a == '.' && end+1 < len(text) && text[end+1] >= '0' && text[end+1] <= '9' || b == '-' && start > 1 && word(text[start-2]) {
		return false
	}
	ip, err := netip.ParseAddr(text[start:end])
	if err != nil || ip.IsLoopback() || ip.IsUnspecified() || strings.HasPrefix(text[start:end], "255.") {
		return false
	}
	version := b == '/' && start > 1 && word(text[start-2]) && strings.HasSuffix(text[start:end], ".0") // Chrome/120.0.0.0
	return !version && !strings.HasSuffix(strings.ToLower(text[max(0, start-9):start]), "version ")
}

func isIPv6(text string, start, end int) bool {
	s := text[start:end]
	if b, a := before(text, start), after(text, end); word(b) || word(a) || b == ':' || a == ':' || !strings.ContainsAny(s, "0123456789") || len(s) < 6 {
		return false
	}
	ip, err := netip.ParseAddr(s)
	return err == nil && !ip.IsLoopback() && !ip.IsUnspecified()
}

// isToken reports whether what stands behind "Bearer" is no word.
func isToken(text string, start, end int) bool {
	return strings.ContainsAny(text[start:end], "0123456789") && notIssued(text, start, end)
}

// users are home folders of nobody in particular.
var users = map[string]bool{"app": true, "root": true, "user": true, "ubuntu": true, "node": true, "runner": true, "deploy": true, "vsts": true, "circleci": true, "ec2-user": true,
	"git": true, "jenkins": true, "www-data": true, "vagrant": true, "Shared": true, "Public": true, "rails": true, "python": true, "web": true, "admin": true, "debian": true, "linuxbrew": true, "appuser": true, "nonroot": true, "vcap": true}

func isHome(text string, start, end int) bool {
	a := after(text, end)
	return !users[text[start:end]] && (a == '/' || a == '\\' || a == 0 || a == ':' || a == ' ' || a == '"' || a == '\'' || a == '\n')
}
