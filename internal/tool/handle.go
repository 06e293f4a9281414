package tool

import (
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A Handle is what the result of a call opens or leaves for later: it can only be reached by its name.
type Handle struct {
	Kind HandleKind
	ID   string   // an identifier; of an Output its path
	Also []string // other names of the same thing
	Path string   // of something Running: where its output is written, if the result says so
}

// HandleKind is what a handle stands for.
type HandleKind uint8

// The kinds of handles.
const (
	Running HandleKind = iota // a command in the background, a delegate, a session of a shell, a monitor, a schedule
	Created                   // a ticket, a cart, a reservation, and what else a tool has made
	Output                    // the whole output of a call, which the client has saved
)

// Runs reports whether a result says that what the call started still runs.
func Runs(text string) bool {
	text = text[:min(len(text), 600)]
	return holds(text, "ackground", "unning", "aunched", "tarted", "pawned", "cheduled", "pending", "progress") && runs.MatchString(text)
}

// holds reports whether a text has one of the parts: the expressions, which take longer, need one of them.
func holds(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
}

// How clients say that something still runs or was started, and what it is called by. The names of the tools do not matter.
var (
	runs = lazyregexp.New(`(?i)\b(?:running|runs|continues|executing) in (?:the )?background|\b(?:manually )?backgrounded\b|` +
		`\brunning with (?:session|cell|process) id|<status>running</status>|"status": ?"(?:running|in_progress|started|pending)"|` +
		`\b(?:async )?(?:agent|task|job|subagent|workflow|monitor|process|server|session|watcher)\b[^\n.]{0,40} (?:launched|started|spawned|scheduled)\b|` +
		`\bstill running (?:after|in|with)\b|\bmoved to (?:the )?background|\bstarted in (?:the )?background|` +
		`\b(?:started|launched|spawned|scheduled) (?:[a-z-]+ ){0,3}(?:agent|task|job|subagent|workflow|monitor|process|session|watcher)\b`)
	runIDs = [...]*lazyregexp.Regexp{
		lazyregexp.New(`(?i)(?:\b(?:session|cell|shell|task|agent|job|process|monitor|workflow|watcher|cron|thread|bash|wakeup)[ _-]?id|<(?:task|shell)[-_]id>)["']? ?[:=#(]? ?["'(]?([a-z0-9][\w.-]*)`),
		lazyregexp.New(`(?i)\b(?:id|pid|name|task|job|monitor|agent|shell|session|process)\b["']? ?[:=#(]? ?["'(]?([a-z0-9][\w.-]*)`),
	}
	jobLine = lazyregexp.New(`(?m)^\[\d+\]\+? +(\d{2,9})$`) // what an interactive shell says of a command with &
	saved   = lazyregexp.New(`(?im)\b(?:output|outputs|results?|logs?|transcript|content|response|data)\b[^\n/~\\]{0,70}?` +
		`\b(?:saved|written|stored|persisted|available|see|spilled|dumped)\b[^\n/~\\]{0,24}?[ :("'` + "`" + `]((?:~|\.{0,2})/[^\n]+|[a-z]:\\[^\n]+)|` +
		`\b(?:full|complete|entire|raw|untruncated) (?:[a-z]+ )?(?:output|log|result|transcript|content)s?\b[^\n/~\\]{0,20}[:=] ?((?:~|\.{0,2})/[^\n]+)|` +
		`^(?:saved to|output[_ -]file|full output|see|<output-file>): ?((?:~|\.{0,2})/[^\n]+)`)
)

// reach is how much of the start and of the end of a result can be the client's, and not what a program wrote.
const reach = 1200

// Handles returns what a call has opened or left, as its result says it.
func (c *Call) Handles(result string, o *Outcome) (out []Handle) {
	if !strings.Contains(result, "<persisted-output>") && (c.Effect == Read || c.Effect == Search) && len(result) > 4*reach {
		result = result[:reach] + "\n" + result[len(result)-reach:]
	}
	head, tail := result[:min(len(result), reach)], ""
	if len(result) > reach {
		tail = result[max(reach, len(result)-reach):]
	}
	path := savedPath(head)
	if path == "" {
		path = savedPath(tail)
	}
	switch {
	case o.Bad() && path == "", c.reads() && path == "":
		return nil
	case c.reads() || o.Bad():
	case c.Class == Shell && jobLine.MatchString(head):
		out = append(out, Handle{Kind: Running, ID: jobLine.FindStringSubmatch(head)[1]})
	case o.Status == Started || c.Class == Agent || c.Class == Other || c.Class == Write || c.Class == Edit:
		if Runs(head) && !c.looks() {
			if ids := objectIDs(head, c.Name, 0); len(ids) > 0 {
				return []Handle{{Kind: Running, ID: ids[0], Also: ids[1:], Path: path}}
			}
			if id := runningID(head); id != "" {
				return []Handle{{Kind: Running, ID: id, Path: path}}
			}
		}
		if c.launches() && c.Class != Agent && len(c.Files) == 0 {
			if ids := createdIDs(c, result); len(ids) > 0 {
				out = append(out, Handle{Kind: Created, ID: ids[0], Also: ids[1:]})
			}
		}
	}
	if path != "" {
		out = append(out, Handle{Kind: Output, ID: path})
	}
	return out
}

// reads reports whether the call only shows a file or lines, whose text may quote any client.
func (c *Call) reads() bool { return c.Effect == Read || c.Effect == Search || c.Effect == Web }

// looks reports whether a tool that is neither a shell nor an agent only looks, by its name.
func (c *Call) looks() bool {
	verbs := Verbs(c.Name)
	return c.Class == Other && len(verbs) > 0 && lookVerbs[verbs[0]]
}

// savedPath returns the path that a text names for the whole output.
func savedPath(text string) string {
	if !holds(text, "aved", "ritten", "tored", "ersisted", "vailable", "utput", "pilled", "umped", "ranscript", "See ") {
		return ""
	}
	var m []string
	for line := range strings.Lines(text) { // the expression has all of it on one
		if strings.ContainsAny(line, `/\\`) {
			if m = saved.FindStringSubmatch(line); m != nil {
				break
			}
		}
	}
	if m == nil {
		return ""
	}
	p := first(first(m[1], m[2]), m[3])
	for _, end := range [...]string{`"`, "'", "`", "<", ">", "]", ")", ". ", ", ", "; ", " ("} {
		p, _, _ = strings.Cut(p, end)
	}
	return strings.TrimRight(strings.TrimSpace(p), ".,;:")
}

// runningID returns by what name a text says that something runs.
func runningID(text string) string {
	for _, r := range runIDs {
		for _, m := range r.FindAllStringSubmatch(text, 20) {
			if id := strings.TrimRight(m[1], ".-_"); isID(id) {
				return id
			}
		}
	}
	return ""
}

// isID reports whether a word is an identifier rather than a word of a language: it has a digit.
func isID(s string) bool { return len(s) > 0 && len(s) <= 80 && strings.ContainsAny(s, "0123456789") }

// Verbs and nouns of what stays open until something closes it, and of what is done with as soon as it is there.
var (
	openVerbs = set("create open start book reserve add schedule place order issue register launch provision new request hold rent " +
		"subscribe spawn make put insert post init begin lease allocate enroll raise file")
	doneNouns = set("comment comments reply message messages email mail note label labels tag tags reaction file files log attachment review field " +
		"line row to item items payment refund member")
)

// launches reports whether a call opens something by the verb of its tool's name.
func (c *Call) launches() bool {
	verbs := Verbs(c.Name)
	at := slices.IndexFunc(verbs, func(w string) bool { return openVerbs[w] })
	return at >= 0 && !slices.ContainsFunc(verbs[:at], func(w string) bool { return lookVerbs[w] || actVerbs[w] }) &&
		(!doneNouns[lastWord(verbs[at+1:])] || slices.Contains(verbs, "cart"))
}

func lastWord(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

var (
	ticketID  = lazyregexp.New(`\b[A-Z][A-Z0-9]{1,9}-\d+\b|#\d+\b|\b[a-z]{2,12}_[A-Za-z0-9]*\d[A-Za-z0-9]*\b|https?://[^\s"'<>)]+`)
	createdID = lazyregexp.New(`(?i)\b(?:id|number|reference|ref|code|key|confirmation|ticket|order|booking|reservation)\b["']? ?[:=#]? ?["'(]?([a-z0-9][\w-]*\d[\w-]*)`)
)

// createdIDs returns the identifiers of what a result says was made: those of an object that name the whole, or the first
// that a text has.
func createdIDs(c *Call, result string) []string {
	result = strings.TrimSpace(result)
	if strings.HasPrefix(result, "{") {
		if ids := objectIDs(result, c.Name, 0); len(ids) > 0 {
			return ids
		}
	}
	head := result[:min(len(result), reach)]
	if m := createdID.FindStringSubmatch(head); m != nil {
		return []string{m[1]}
	}
	if id := ticketID.FindString(head); id != "" {
		return []string{strings.TrimRight(id, ".,;")}
	}
	return nil
}

// objectIDs returns the identifiers of an object, the most telling first: that which is called like what the tool makes,
// its key, its id. Where it has none, or only those of others, they are those of the object in it.
func objectIDs(object, tool string, depth int) []string {
	low := strings.ToLower(tool)
	var ranked [4][]string
	var inner []string
	s := scanner{src: object}
	s.object(func(name, raw string) {
		n := strings.ToLower(name)
		switch v := strings.Trim(raw, `"`); {
		case v == "" || v == "null" || len(v) > 100:
			if raw != "" && raw[0] == '{' && inner == nil && depth < 2 {
				inner = objectIDs(raw, tool, depth+1)
			}
		case raw[0] == '{' && inner == nil && depth < 2:
			inner = objectIDs(raw, tool, depth+1)
		case IsID(n) && raw[0] != '{' && raw[0] != '[':
			r := idRank(n, low)
			ranked[r] = append(ranked[r], v)
		}
	})
	ids := slices.Concat(ranked[0], ranked[1], ranked[2])
	if len(ids) == 0 {
		ids = inner
	}
	if len(ids) == 0 && len(ranked[3]) > 0 {
		ids = ranked[3][:1]
	}
	return ids[:min(len(ids), 4)]
}

// idRank says how well the member of a name tells what a tool has made.
func idRank(name, tool string) int {
	noun := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "id"), "number"), "key"), "_")
	switch {
	case noun != "" && strings.Contains(tool, noun):
		return 0
	case name == "key" || name == "identifier" || strings.HasPrefix(name, "confirmation"):
		return 1
	case name == "id" || name == "number" || name == "reference" || name == "iid" || name == "uuid":
		return 2
	}
	return 3
}

// Verbs that end what a tool has opened, and those that end it if it was only for the purpose.
var (
	endVerbs = set("cancel close delete remove kill stop end terminate complete finish resolve release archive merge return dismiss void " +
		"destroy abandon unschedule cleanup shutdown exit quit drop discard expire decommission hangup reject decline unbook")
	spendVerbs = set("checkout place purchase buy submit pay confirm convert")
	endStates  = set("closed resolved done completed complete cancelled canceled merged deleted removed archived expired finished failed succeeded " +
		"success terminated stopped exited killed ended error rejected released returned")
)

// Ends reports whether a call that names a handle in its arguments ends what the tool called opener has opened:
// by its verb, or because its arguments or its result give it a state that is final.
func (c *Call) Ends(opener string, states []string) bool {
	for _, s := range states {
		if endStates[strings.ToLower(s)] {
			return true
		}
	}
	verbs := Verbs(c.Name)
	for i, w := range verbs {
		switch noun := strings.TrimSuffix(lastWord(verbs[i+1:]), "s"); {
		case lookVerbs[w] && i == 0:
			return false
		case spendVerbs[w]:
			return slices.ContainsFunc(Verbs(opener), func(v string) bool { return hasWord("cart basket draft hold quote checkout", v) })
		case endVerbs[w]:
			return noun == "" || !slices.Contains(verbs, "from") && (c.Class == Shell || c.Class == Agent || ofSame(noun, opener))
		}
	}
	return false
}

// ofSame reports whether a noun is what a tool opens, by its name; shells, tasks and jobs have many names.
func ofSame(noun, opener string) bool {
	if hasWord("task shell job bash agent process session monitor background worker subagent run workflow cron trigger schedule", noun) {
		return true
	}
	verbs := Verbs(opener)
	last := strings.TrimSuffix(lastWord(verbs), "s")
	return last == noun || len(verbs) < 2 || hasWord("flight trip hotel room seat table car", last) && hasWord("reservation booking", noun)
}
