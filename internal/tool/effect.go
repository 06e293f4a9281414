package tool

import (
	"slices"
	"strings"
	"unicode"
)

// Verbs in the names of tools: those that only look, and those that change something or start it.
var (
	lookVerbs = set("get list search find read fetch show describe query lookup look check count calculate compute think view browse " +
		"retrieve validate verify preview summarize compare estimate explain resolve-library inspect analyze analyse peek ping status " +
		"help info wait load select ask reflect plan diff history tail watch test can is has head stat")
	actVerbs = set("create update cancel send delete book add set merge close assign remove modify change insert append put post patch " +
		"write edit move rename copy archive unarchive restore reopen open start stop pause resume enable disable activate deactivate " +
		"schedule reschedule reserve release refund charge pay purchase buy order checkout submit approve reject accept decline confirm " +
		"transfer forward reply comment publish unpublish deploy rollback trigger run rerun retry execute invoke upload import export share invite " +
		"subscribe unsubscribe follow unfollow label tag untag unassign link unlink attach detach mark flag complete finish resolve " +
		"register unregister deregister provision terminate kill restart reboot reset turn lock unlock switch toggle play increase decrease raise lower " +
		"return exchange replace upgrade downgrade apply issue grant revoke rotate block unblock ban mute escalate log record save store upsert " +
		"commit push draft convert duplicate clone fork install uninstall configure notify call message email invoke dispatch assign " +
		"lend borrow renew rent sign void ship deliver pick press click type fill drop empty clear sync bulk dismiss snooze acknowledge ack join leave")
)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// Verbs returns the words of the name of a tool in small letters, without the server that an MCP client puts before it:
// "update", "cart", "item" of mcp__shop__updateCartItem.
func Verbs(name string) []string {
	if i := strings.LastIndex(name, "__"); i >= 0 && i+2 < len(name) {
		name = name[i+2:]
	}
	var out []string
	var word []rune
	lower := false
	end := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsUpper(r) && lower {
			end()
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	end()
	return out
}

// Acts reports whether a call has an effect in the world that is no file and no command: it books, sends, cancels. It
// goes by the verb of the tool's name, and where that is unusual by what the result says.
func (c *Call) Acts(result string) bool {
	switch c.Class {
	case Read, Search, Web, Shell, Agent, Todo:
		if c.Class != Search && c.Class != Read || !c.named() {
			return false
		}
	}
	if len(c.Files) > 0 {
		return false
	}
	for _, w := range Verbs(c.Name) {
		if lookVerbs[w] {
			return false
		}
		if actVerbs[w] {
			return true
		}
	}
	good, _ := reports(result)
	return good
}

// named reports whether the name of a tool has more than one word, of which its class may have misread the first:
// open_ticket is no view of a file.
func (c *Call) named() bool {
	return len(Verbs(c.Name)) > 1 && c.Path == "" && actVerbs[Verbs(c.Name)[0]]
}

// Words with which the result of a tool says, at its start or as its status, that something was done or that it was not.
var (
	doneWords = set("ok success successful successfully succeeded created updated deleted removed cancelled canceled sent done completed complete " +
		"scheduled booked reserved added closed merged assigned confirmed submitted published approved refunded moved queued accepted saved true " +
		"resolved archived triggered started enabled disabled transferred deployed issued renamed open reopened locked unlocked paid ordered")
	failedWords = set("error errors failed failure fail invalid denied forbidden unauthorized rejected declined exception conflict " +
		"cannot unable couldn")
)

// reports says whether a result states that what was asked was done, or that it was not.
func reports(result string) (good, bad bool) {
	result = strings.TrimSpace(result)
	if strings.HasPrefix(result, "{") {
		return reportsIn(result)
	}
	words := strings.FieldsFunc(result[:min(len(result), 160)], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words[:min(len(words), 12)] {
		w = strings.ToLower(w)
		switch {
		case failedWords[w] && (i < 3 || w == "failed"):
			return false, true
		case (w == "not" || w == "no") && i < 6 && slices.Contains(words, "found"):
			return false, true
		case doneWords[w] && (i < 2 || i > 0 && hasWord("was were been is now has have", strings.ToLower(words[i-1])) || i == len(words)-1):
			return true, false
		}
	}
	return false, false
}

// reportsIn is reports for a JSON object.
func reportsIn(object string) (good, bad bool) {
	s := scanner{src: object}
	s.object(func(name, raw string) {
		value := strings.ToLower(strings.Trim(raw, `"`))
		switch strings.ToLower(name) {
		case "error", "errors", "errormessage", "error_message":
			bad = bad || raw != "null" && raw != "false" && raw != `""` && raw != "[]" && raw != "{}" && raw != "0"
		case "success", "ok", "succeeded":
			good, bad = good || raw == "true", bad || raw == "false"
		case "iserror", "is_error":
			bad = bad || raw == "true"
		case "status", "state", "result", "outcome":
			good, bad = good || doneWords[value], bad || failedWords[value]
		case "statuscode", "status_code", "code":
			n := integer(raw)
			good, bad = good || n >= 200 && n < 300, bad || n >= 400 && n < 600
		}
	})
	return good && !bad, bad
}

// mostTold bounds what is told of the result of an effect: members of an object, or lines.
const mostTold = 8

// told returns what the result of an effect says of it: the telling members of an object, or the first lines.
func told(result string) (out []string) {
	result = strings.TrimSpace(result)
	if strings.HasPrefix(result, "{") || strings.HasPrefix(result, "[{") {
		var ranked [3][]string
		members(strings.TrimPrefix(result, "["), 0, &ranked)
		for _, ms := range ranked {
			out = append(out, ms[:min(len(ms), mostTold-len(out))]...)
		}
		if len(out) > 0 {
			return out
		}
	}
	for line := range strings.Lines(result) {
		if line = plain(strings.TrimSpace(line)); says(line) && len(out) < mostTelling {
			out = append(out, clip(line, maxError))
		}
	}
	return out
}

// members gathers the members of an object that tell what it is and how it is, by rank.
func members(object string, depth int, ranked *[3][]string) {
	s := scanner{src: object}
	s.object(func(name, raw string) {
		switch {
		case raw == "" || raw == "null":
		case raw[0] == '{' && depth < 2:
			members(raw, depth+1, ranked)
		case raw[0] != '[' && raw[0] != '{' && raw != `""` && len(raw) <= maxError:
			value := strings.Trim(raw, `"`)
			if raw[0] == '"' {
				value = strings.Join(strings.Fields(decode(raw)), " ")
			}
			if r := rank(strings.ToLower(name)); r < len(ranked) && len(ranked[r]) < mostTold {
				ranked[r] = append(ranked[r], name+"="+value)
			}
		}
	})
}

// rank says how early a member of an object is told: 0 first, 3 not at all.
func rank(name string) int {
	switch {
	case hasWord("status state error message result success ok outcome reason", name):
		return 0
	case IsID(name) || hasWord("url web_url html_url permalink link number version sha hash", name):
		return 1
	case hasWord("total amount price balance count quantity title name subject summary date time start end due assignee owner priority stage "+
		"to from email cabin currency created_at due_date start_time end_time total_price refund value temperature mode branch", name):
		return 2
	}
	return 3
}

// IsID reports whether the name of a member, in small letters, is one of an identifier.
func IsID(name string) bool {
	return name == "id" || name == "key" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "id") && !hasWord("paid valid void bid grid", name) ||
		strings.HasSuffix(name, "_key") || strings.HasSuffix(name, "_number") || strings.HasSuffix(name, "ticket") || name == "number" ||
		name == "iid" || name == "identifier" || name == "uuid" || name == "confirmation" || name == "confirmation_code" || name == "reference"
}
