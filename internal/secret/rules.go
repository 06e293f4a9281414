package secret

import "strings"

// A rule finds one kind of credential: a literal, then a number of bytes of a class.
type rule struct {
	kind     string
	literal  string
	class    uint8 // of the bytes that follow the literal
	min, max int   // how many of them
}

// rules are the credentials that their own text gives away. Where two rules share a beginning the
// longer literal comes first and wins.
var rules = []rule{
	{"anthropic-key", "sk-ant-", token, 20, 200},
	{"openai-key", "sk-proj-", token, 20, 200},
	{"openai-key", "sk-svcacct-", token, 20, 200},
	{"openrouter-key", "sk-or-v1-", token, 20, 200},
	{"api-key", "sk-", alnum, 32, 100},
	{"stripe-key", "sk_live_", alnum, 16, 200},
	{"stripe-key", "sk_test_", alnum, 16, 200},
	{"stripe-key", "rk_live_", alnum, 16, 200},
	{"webhook-secret", "whsec_", alnum, 16, 200},
	{"aws-key-id", "AKIA", upperDigit, 16, 16},
	{"aws-key-id", "ASIA", upperDigit, 16, 16},
	{"github-token", "github_pat_", token, 20, 200},
	{"github-token", "ghp_", alnum, 30, 100},
	{"github-token", "gho_", alnum, 30, 100},
	{"github-token", "ghu_", alnum, 30, 100},
	{"github-token", "ghs_", alnum, 30, 100},
	{"github-token", "ghr_", alnum, 30, 100},
	{"gitlab-token", "glpat-", token, 18, 100},
	{"google-key", "AIza", token, 30, 40},
	{"google-token", "ya29.", token, 20, 400},
	{"huggingface-token", "hf_", alnum, 30, 60},
	{"npm-token", "npm_", alnum, 30, 60},
	{"pypi-token", "pypi-", token, 50, 300},
	{"slack-token", "xoxb-", token, 20, 200},
	{"slack-token", "xoxp-", token, 20, 200},
	{"slack-token", "xoxa-", token, 20, 200},
	{"slack-token", "xapp-", token, 20, 200},
	{"slack-webhook", "hooks.slack.com/services/", path, 20, 100},
	{"sendgrid-key", "SG.", token, 40, 100},
	{"digitalocean-token", "dop_v1_", alnum, 40, 100},
	{"groq-key", "gsk_", alnum, 30, 100},
	{"jwt", "eyJ", path, 40, 4000},
}

// Classes of bytes.
const (
	upperDigit = 1 << iota
	alnum
	token // what URLs need no escapes for
	path
)

var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			t[c] = upperDigit | alnum | token | path
		case c >= 'a' && c <= 'z':
			t[c] = alnum | token | path
		case c == '-' || c == '_':
			t[c] = token | path
		case c == '.' || c == '/' || c == '+' || c == '=':
			t[c] = path
		}
	}
	return t
}()

// shortest is the length of the shortest credential: a literal of AWS and its 16 bytes.
const shortest = 20

// literals tells for each byte which rules' literals begin with it.
var literals = func() (t [256][]*rule) {
	for i := range rules {
		c := rules[i].literal[0]
		t[c] = append(t[c], &rules[i])
	}
	return t
}()

// byLiteral appends the matches of all rules in text. A credential is part of a run of bytes that are
// usual in addresses, and it begins the run or follows punctuation in it.
func byLiteral(dst []Match, text string) []Match {
	for end := 0; end < len(text); end++ {
		start := end
		for end < len(text) && class[text[end]]&path != 0 {
			end++
		}
		for i := start; i+shortest <= end; i++ {
			if i > start && class[text[i-1]]&alnum != 0 {
				continue
			}
			for _, r := range literals[text[i]] {
				dst = r.at(dst, text, i)
			}
		}
	}
	return dst
}

// at appends the match of r that begins at text[i], if there is one.
func (r *rule) at(dst []Match, text string, i int) []Match {
	if !strings.HasPrefix(text[i:], r.literal) {
		return dst
	}
	end := i + len(r.literal)
	most := min(len(text), end+r.max)
	for end < most && class[text[end]]&r.class != 0 {
		end++
	}
	if end-i-len(r.literal) < r.min || !r.plausible(text[i:end]) {
		return dst
	}
	return append(dst, Match{i, end, r.kind})
}

// plausible refuses what only looks like a credential: a word that goes on, a JWT without its dots.
func (r *rule) plausible(s string) bool {
	if r.kind == "jwt" {
		return strings.Count(s, ".") == 2
	}
	for i := len(r.literal); i < len(s); i++ {
		if s[i] >= '0' && s[i] <= '9' {
			return true
		}
	}
	return r.class == upperDigit
}
