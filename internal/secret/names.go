package secret

import "strings"

// A trust says how much a name tells of the value behind it.
type trust int

const (
	none     trust = iota // it tells of something else
	mixed                 // the value is a credential when it is long and of all kinds of characters
	strong                // the value is one when it looks random
	password              // people choose these: the value is one unless it is a word, a variable or code
	cookies               // the value is a list of name=value
	another               // a name comes before, as in "name: DB_PASSWORD, value: x"
)

// names are the ends of names that tell what the value behind them is. A name is compared in small letters
// with "_" before each of its words: "clientSecret", "CLIENT-SECRET" and "client.secret" are "_client_secret".
// The longest end counts.
var names = []struct {
	end   string
	trust trust
}{
	{"password", password}, {"passwd", password}, {"passphrase", password}, {"passcode", password}, {"passwort", password},
	{"_pass", password}, {"_pwd", password}, {"_pw", password}, {"_userpass", password}, {"_dbpass", password},

	{"secret", strong}, {"apikey", strong}, {"api_key", strong}, {"apitoken", strong}, {"token", strong},
	{"credential", strong}, {"credentials", strong},
	{"accesskey", strong}, {"access_key", strong}, {"secretkey", strong}, {"secret_key", strong},
	{"privatekey", strong}, {"private_key", strong},
	{"private_key_id", strong}, {"signing_key", strong}, {"encryption_key", strong}, {"decryption_key", strong},
	{"account_key", strong},
	{"master_key", strong}, {"auth_key", strong}, {"session_key", strong}, {"license_key", strong},
	{"subscription_key", strong}, {"webhook_key", strong},
	{"secret_key_base", strong}, {"hmac_key", strong}, {"storage_key", strong}, {"service_key", strong},
	{"service_role_key", strong}, {"deploy_key", strong}, {"jwt_key", strong},
	{"cookie_key", strong}, {"app_key", strong}, {"application_key", strong}, {"admin_key", strong},
	{"shared_key", strong}, {"functions_key", strong},
	{"key_data", strong}, {"_accountkey", strong}, {"_sharedaccesskey", strong}, {"_signingkey", strong},
	{"_encryptionkey", strong}, {"_masterkey", strong},
	{"_pat", strong}, {"preshared_key", strong}, {"amz_signature", strong}, {"goog_signature", strong}, {"_psk", password},
	{"authorization", strong}, {"bearer", strong}, {"_jwt", strong}, {"_signing_salt", strong},

	{"_key", mixed}, {"_sig", mixed}, {"_auth", mixed}, {"_salt", mixed}, {"_seed", mixed}, {"_cred", mixed},
	{"_creds", mixed},
	{"cookie", cookies}, {"_value", another},

	// What is public, or is needed again as it is.
	{"public_key", none}, {"publickey", none}, {"publishable_key", none}, {"anon_key", none},
	{"site_key", none}, {"host_key", none},
	{"cache_key", none}, {"primary_key", none}, {"foreign_key", none}, {"partition_key", none},
	{"sort_key", none}, {"idempotency_key", none},
	{"object_key", none}, {"dedupe_key", none}, {"page_token", none}, {"next_token", none}, {"pagetoken", none},
	{"nexttoken", none},
	{"continuation_token", none}, {"sync_token", none}, {"cancellation_token", none}, {"per_token", none},
}

// endings are the names by their last two letters.
var endings = func() (out [1 << 10][]int) {
	for i := range names {
		end := names[i].end
		p := pair(end[len(end)-2], end[len(end)-1])
		out[p] = append(out[p], i)
	}
	return out
}()

// longestName is the most bytes of a name that are compared.
const longestName = 40

// before returns what the name that ends at text[end-1] tells.
func (s *scanner) before(end int) trust {
	if end < 2 {
		return none
	}
	some := endings[pair(s.text[end-2], s.text[end-1])]
	if some == nil {
		return none
	}
	var buf [2 * longestName]byte
	name := words(buf[:], s.text, end)
	s.work += len(name)
	longest, is := 0, none
	for _, i := range some {
		n := &names[i]
		if k := len(n.end); k > longest && k <= len(name) && string(name[len(name)-k:]) == n.end {
			longest, is = k, n.trust
		}
	}
	return is
}

// words writes the name that ends at text[end-1] to the end of buf, as names has it, and returns it.
func words(buf []byte, text string, end int) []byte {
	n := len(buf)
	put := func(c byte) {
		if n > 0 && (c != '_' || n < len(buf) && buf[n] != '_') {
			n--
			buf[n] = c
		}
	}
	i := end - 1
	for ; i >= 0 && i >= end-longestName; i-- {
		c := text[i]
		switch {
		case c == '_' || c == '-' || c == '.':
			put('_')
			continue
		case !isAlnum(c), escaped(text, i):
			put('_')
			return buf[n:]
		}
		if i+1 < end && isUpper(text[i+1]) && (!isUpper(c) || i+2 < end && isLetter(text[i+2]) && !isUpper(text[i+2])) {
			put('_') // a capital letter behind a small one, or before one
		}
		put(c | 0x20)
	}
	if i < 0 {
		put('_')
	}
	return buf[n:]
}

// escaped reports whether text[i] is the letter of an escape such as "\n", as JSON has it.
func escaped(text string, i int) bool {
	c := text[i]
	return i > 0 && text[i-1] == '\\' && (c == 'n' || c == 't' || c == 'r')
}

// named looks for the values behind telling names: NAME=value, "name": "value", name := "value",
// <name>value.
func (s *scanner) named() {
	for _, sep := range [...]byte{'=', ':', '>'} {
		for at := 0; ; {
			i := strings.IndexByte(s.text[at:], sep)
			if i < 0 {
				break
			}
			i += at
			at = max(i+1, s.assigned(i))
		}
	}
}

// assigned looks at the value behind the separator at i. It returns the end of the value when that is a
// credential, else 0.
func (s *scanner) assigned(i int) int {
	sep := s.text[i]
	if sep == ':' && i > 0 && s.text[i-1] == ':' ||
		i+1 < len(s.text) && (sep == ':' && (s.text[i+1] == '=' || s.text[i+1] == ':') || sep == '=' && s.text[i+1] == '=') {
		return 0 // the last byte of the separator counts
	}
	end := s.nameEnd(i)
	is := s.before(end)
	if sep == '=' && is == none {
		is = s.before(s.typed(end))
	}
	switch {
	case is == none, sep == '>' && !s.inTag(end):
		return 0
	case is == cookies:
		return s.cookie(i + 1)
	case is == another:
		is = s.beforeValue(end - len("value"))
	}
	v := s.value(i+1, s.inEnvironment(i))
	v.yaml = sep == ':' && s.capitals(i) && strings.Contains(s.text[max(0, i-len("_PASSWORD")):i], "_")
	if !v.credential(is) {
		return 0
	}
	s.add(v.start, v.end, kindOf(is))
	return v.end
}

func kindOf(is trust) string {
	if is == password {
		return "password"
	}
	return "secret"
}

// nameEnd returns where the name before the separator at i ends: quotes, brackets and spaces may stand
// between them.
func (s *scanner) nameEnd(i int) int {
	const most = 5
	end := i
	for end > 0 && i-end < most && strings.IndexByte("\"' ]`*:\\=?", s.text[end-1]) >= 0 {
		end--
	}
	return end
}

// typed returns where the name ends whose type ends at end, as in "password: str = ...", or 0.
func (s *scanner) typed(end int) int {
	for _, t := range [...]string{"str", "string", "String", "&str", "text"} {
		if rest, ok := strings.CutSuffix(s.text[max(0, end-len(t)-2):end], t); ok {
			end -= len(t)
			if n := len(strings.TrimRight(rest, " ")); n > 0 && rest[n-1] == ':' {
				return end - len(rest) + n - 1
			}
			return 0
		}
	}
	return 0
}

// inTag reports whether the name that ends at end is the whole of an XML tag.
func (s *scanner) inTag(end int) bool {
	i := end
	for i > 0 && end-i < longestName && (isAlnum(s.text[i-1]) || s.text[i-1] == '-' || s.text[i-1] == '_') {
		i--
	}
	return i > 0 && s.text[i-1] == '<'
}

// inEnvironment reports whether the separator at i is as in a file of variables: directly between a name of
// capital letters and a value.
func (s *scanner) inEnvironment(i int) bool { return s.text[i] == '=' && s.capitals(i) }

// capitals reports whether a name of capital letters ends at text[i-1].
func (s *scanner) capitals(i int) bool {
	return i > 1 && isUpper(s.text[i-1]) && (isUpper(s.text[i-2]) || s.text[i-2] == '_')
}

// beforeValue returns what the name tells that is itself a value, of "name" or "key", and stands before the
// word "value" at i.
func (s *scanner) beforeValue(i int) trust {
	const most = 60 // bytes between them: the end of a line, a dash, quotes
	end := i
	for end > 0 && i-end < most && strings.IndexByte(" \t\r\n\"',-\\n", s.text[end-1]) >= 0 {
		end--
	}
	if end > 1 && end < i && s.text[end] == 'n' { // of a name, not of an escape
		end++
	}
	start := end
	for start > 0 && end-start < longestName && class[s.text[start-1]]&token != 0 {
		start--
	}
	head := strings.TrimRight(s.text[max(0, start-12):start], "\"'\\ :=")
	s.work += i - start
	if start == end || !strings.HasSuffix(head, "name") && !strings.HasSuffix(head, "key") && !strings.HasSuffix(head, "Name") && !strings.HasSuffix(head, "Key") {
		return none
	}
	return s.before(end)
}
