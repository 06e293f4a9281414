package sandbox

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// Reader is a model that knows what it was sent and nothing else: its answer is a function of the prompt, without
// state, files or values of its own. It shows whether what is needed is still in a context. Its rules are the same for
// every text:
//
//   - "What is the URL of job 7?", "What is job 7's port?": it looks for the subject, newest mention first, and from
//     there to the next subject of the same kind (job 8), or to an empty line, for the property: an address behind or
//     before the mention if a URL is asked for, else "port: 8443", "port = 8443", "port is 8443".
//   - "What is the deadline?": the newest statement of that form, wherever it stands; what was corrected later wins.
//   - "Which language do I prefer?": the newest line that speaks of preferring and has the words of the question.
//   - "Score these jobs by the rubric", "Rank them": the rubric is the newest text with weights of two criteria or more
//     ("stack match (30%)", "pay: 25 %", "stack 4 points, pay 3"); things to score are those of the kind that is
//     named, with a number (job 7), whose text rates each criterion ("stack 8/10, pay 6"). The score is the weighted mean, best first, with the address
//     that stands with it. What a line forbids ("Never list Acme.") is left out.
//   - "Read notes.txt", "Execute the prompt from a.md", "Fetch https://...": it calls a tool whose name says that it
//     reads, or fetches, once in a turn for each name; then it says what it has read.
//   - "Search for remote Go jobs and open each result": it calls a tool whose name says that it searches, and then fetches each address of
//     what was found, once in a turn.
//   - "Delegate to marco: What is the port?": it calls the tool "delegate", once in a turn for each line that says so; then it says what
//     came back.
//   - What asks for a summary gets one of a Summarizer.
//   - Any other question is answered by the newest line that has all its longer words.
//
// Otherwise it says that it does not know.
type Reader struct {
	// Else answers where nothing is asked. Nil means that the Reader says so.
	Else Model
}

// Answer reads the prompt.
func (r Reader) Answer(ctx context.Context, p *Prompt) (Answer, error) {
	block := p.asking()
	asked := ""
	if block != nil {
		asked = block.Text
	}
	calls := p.delegations(asked)
	if !p.delegates(asked) {
		calls = readings(p, asked)
	}
	if len(calls) > 0 {
		if p.OneCall {
			calls = calls[:1]
		}
		return Answer{Blocks: calls}, nil
	}
	if report := p.reports(asked); report != "" {
		return Answer{Blocks: []Block{text(report)}}, nil
	}
	rest, _ := untagged(asked)
	if summaries.MatchString(rest) {
		return Summarizer{}.Answer(ctx, p)
	}
	seen := p.evidence(block)
	var said []string
	switch questions := interrogative.FindAllString(asked, -1); {
	case scoring.MatchString(asked):
		said = append(said, score(seen, asked))
	case len(questions) > 0:
		for _, q := range questions {
			said = append(said, answerTo(seen, strings.TrimSpace(q)))
		}
	case p.answersCalls():
		said = append(said, "I have read it.")
	case r.Else != nil:
		return r.Else.Answer(ctx, p)
	default:
		said = append(said, "I do not know what is asked of me.")
	}
	return Answer{Blocks: []Block{text(strings.Join(said, "\n"))}}, nil
}

var (
	interrogative = lazyregexp.New(`[^\n.?!]*(?:[.!]\S[^\n.?!]*)*\?`)
	scoring       = lazyregexp.New(`(?i)\b(score|rank|rate|evaluate)\b.*\b(rubric|these|those|them|all|jobs?|\w+s)\b`)
	summaries     = lazyregexp.New(`(?i)\bsummar(y|ize|ise)\b|\bwrite the record of\b`)
	ofSubject     = lazyregexp.New(`(?i)\bwhat(?: is|'s|s| was| are)\s+(?:the |my |our )?(.+?)\s+(?:of|for)\s+(?:the |my )?(.+?)\s*\?`)
	possessive    = lazyregexp.New(`(?i)\bwhat(?: is|'s|s| was| are)\s+(?:the |my )?(.+?)['’]s\s+(.+?)\s*\?`)
	plainQuestion = lazyregexp.New(`(?i)\bwhat(?: is|'s|s| was| are)\s+(?:the |my |our )?(.+?)\s*\?`)
	preference    = lazyregexp.New(`(?i)\b(prefer\w*|favou?rite|like best|want)\b`)
	numbered      = lazyregexp.New(`(?i)^(.*?[a-z])[\s#_-]*(\d+)$`)
	address       = lazyregexp.New(`https?://[^\s<>"'()\[\]` + "`" + `,;|]+`)
	ignorance     = lazyregexp.New(`(?m)^.*I do not know.*$`)
)

// asking returns the text to answer: of the newest message of the user with text the last text that asks or orders, or
// its last text; nil when there is none.
func (p *Prompt) asking() (out *Block) {
	for i := len(p.Messages) - 1; i >= 0; i-- {
		m := &p.Messages[i]
		for k := len(m.Blocks) - 1; k >= 0 && m.Role == decant.RoleUser; k-- {
			b := &m.Blocks[k]
			if b.Kind != decant.KindText {
				continue
			}
			if strings.Contains(b.Text, "?") || scoring.MatchString(b.Text) || summaries.MatchString(b.Text) || order.MatchString(b.Text) || searchFor.MatchString(b.Text) {
				return b
			}
			out = cmp.Or(out, b)
		}
		if out != nil {
			return out
		}
	}
	return nil
}

// evidence returns the texts of a prompt, newest first, without the questions of the block that asks.
func (p *Prompt) evidence(asking *Block) (out []string) {
	for i := len(p.Messages) - 1; i >= 0; i-- {
		blocks := p.Messages[i].Blocks
		for k := len(blocks) - 1; k >= 0; k-- {
			t := blocks[k].Text
			switch {
			case blocks[k].Kind == decant.KindUse:
				t = string(blocks[k].Input)
			case &blocks[k] == asking:
				t = interrogative.ReplaceAllString(t, "")
			}
			out = append(out, ignorance.ReplaceAllString(t, "")) // a record quotes it beside what is known since
		}
	}
	return append(out, p.System...)
}

// answerTo answers one question.
func answerTo(seen []string, question string) string {
	if preference.MatchString(question) {
		return lineAbout(seen, question, true)
	}
	property, subject := "", ""
	switch {
	case ofSubject.MatchString(question):
		m := ofSubject.FindStringSubmatch(question)
		property, subject = m[1], m[2]
	case possessive.MatchString(question):
		m := possessive.FindStringSubmatch(question)
		property, subject = m[2], m[1]
	case plainQuestion.MatchString(question):
		property = plainQuestion.FindStringSubmatch(question)[1]
	default:
		return lineAbout(seen, question, false)
	}
	for _, t := range seen {
		for _, near := range windows(t, subject) {
			if v := valueOf(near, property); v != "" {
				if subject != "" {
					property += " of " + subject
				}
				return "The " + property + " is " + v
			}
		}
	}
	return lineAbout(seen, question, false)
}

// maxWindow is how much of a text belongs to a mention of a subject at most, in bytes.
const maxWindow = 2000

// windows returns the parts of a text that belong to a subject, the newest first: all of it when there is no subject.
func windows(text, subject string) (out []string) {
	if subject == "" {
		return []string{text}
	}
	name, others := subjectPattern(subject)
	kind := others.FindAllStringIndex(text, -1)
	for _, at := range slices.Backward(name.FindAllStringIndex(text, -1)) {
		end := min(len(text), at[1]+maxWindow)
		if i := strings.Index(text[at[1]:end], "\n\n"); i >= 0 {
			end = at[1] + i
		}
		start := strings.LastIndexByte(text[:at[0]], '\n') + 1
		for _, o := range kind {
			if same := o[0] >= at[0] && o[0] < at[1] || name.MatchString(text[o[0]:o[1]]); same {
				continue
			}
			if o[0] >= at[1] {
				end = min(end, o[0])
			} else {
				start = max(start, o[1])
			}
		}
		out = append(out, text[at[1]:end], text[start:at[0]])
	}
	return out
}

// subjectPattern returns expressions for mentions of a subject and for those of its kind.
func subjectPattern(subject string) (name, others *regexp.Regexp) {
	if m := numbered.FindStringSubmatch(subject); m != nil {
		word := `(?i)\b` + regexp.QuoteMeta(strings.TrimSpace(m[1])) + `s?[\s#_-]*`
		return regexp.MustCompile(word + `0*` + m[2] + `\b`), regexp.MustCompile(word + `\d+\b`)
	}
	name = regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(subject) + `\b`)
	return name, regexp.MustCompile(`\n\s*[-*#]`)
}

// valueOf returns the value of a property in a text, the newest; "" when there is none.
func valueOf(text, property string) string {
	if slices.Contains([]string{"url", "link", "address", "web address"}, strings.ToLower(property)) {
		return strings.TrimRight(address.FindString(text), ".:!?")
	}
	says := regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(regexp.QuoteMeta(property), " ", `[\s_-]+`) +
		`["'*` + "`" + `)\]]*(?:\s+is(?:\s+now)?|\s+was|\s*:|\s*=|\s+has changed to|\s+changed to)\s*["'*` + "`" + `]*([^\n,;"'*` + "`" + `{}]+)`)
	all := says.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return ""
	}
	v := all[len(all)-1][1]
	if end := sentenceEnd(v); end < len(v) {
		v = v[:end]
	}
	if end := strings.IndexByte(v, ')'); end >= 0 && !strings.Contains(v[:end], "(") {
		v = v[:end]
	}
	return strings.TrimRight(strings.TrimSpace(v), ".!")
}

var words = lazyregexp.New(`[\pL\pN][\pL\pN_-]{2,}`)

// common are words of questions that answers need not have.
var common = strings.Fields("what which who when where why how many much does did was were are the for and you your our my with that this have has had can could should would will please tell know from about again not any there their his her its prefer preferred favourite favorite like best want user")

// lineAbout returns the newest line that has the words of a question, and speaks of preferring if that is asked.
func lineAbout(seen []string, question string, prefers bool) string {
	need := slices.DeleteFunc(words.FindAllString(strings.ToLower(question), -1), func(w string) bool { return slices.Contains(common, w) })
	for _, t := range seen {
		for _, line := range slices.Backward(strings.Split(t, "\n")) {
			low := strings.ToLower(line)
			missing := slices.ContainsFunc(need, func(w string) bool { return !strings.Contains(low, strings.TrimSuffix(w, "s")) })
			if len(need) > 0 && !missing && (!prefers || preference.MatchString(line)) && !strings.Contains(line, "?") {
				return strings.TrimSpace(line)
			}
		}
	}
	return "I do not know: " + question
}

var (
	order    = lazyregexp.New(`(?i)\b(read|open|execute|follow|fetch|visit|use|look at|work through)\b`)
	fileName = lazyregexp.New(`[\w./~-]*\w\.[a-z]{1,5}\b`)
	reads    = lazyregexp.New(`(?i)^(read|view|open|cat)|read`)
	fetches  = lazyregexp.New(`(?i)fetch|browse|visit|http|url`)
)

// readings returns the calls that read what the user orders to be read and what was not read in this turn.
func readings(p *Prompt, asked string) (calls []Block) {
	if calls = p.search(asked); len(calls) > 0 || !order.MatchString(asked) {
		return calls
	}
	rest := address.ReplaceAllStringFunc(asked, func(url string) string {
		calls = append(calls, p.call(fetches, strings.TrimRight(url, ".:!?"))...)
		return ""
	})
	for _, name := range fileName.FindAllString(rest, -1) {
		calls = append(calls, p.call(reads, name)...)
	}
	return calls
}

// called reports whether a call with such a piece of its arguments was made in this turn.
func (p *Prompt) called(argument string) bool {
	for _, m := range slices.Backward(p.Messages) {
		for _, b := range m.Blocks {
			if b.Kind == decant.KindUse && strings.Contains(string(b.Input), argument) {
				return true
			}
		}
		if m.Role == decant.RoleUser && m.text() != "" {
			break
		}
	}
	return false
}

// call returns a call of the first tool whose name fits, with one argument, unless it was made in this turn.
func (p *Prompt) call(tool *lazyregexp.Regexp, argument string) []Block {
	if p.called(argument) {
		return nil
	}
	i := slices.IndexFunc(p.Tools, tool.MatchString)
	if i < 0 || p.Choice == "none" {
		return nil
	}
	input := jsonspan.AppendQuote(append(jsonspan.AppendQuote([]byte(`{`), firstString(p.Schemas, i)), ':'), argument)
	return []Block{{Kind: decant.KindUse, Name: p.Tools[i], Input: append(input, '}')}}
}

// firstString returns the name of the first property of a tool that is a string, of those it requires if it does.
func firstString(schemas []stdjson.RawMessage, i int) string {
	if i >= len(schemas) {
		return "path"
	}
	root, err := parse(schemas[i])
	if err != nil {
		return "path"
	}
	props := root.get("properties")
	for _, name := range names(root.get("required")) {
		if props.get(name).str("type") == "string" {
			return name
		}
	}
	if props != nil {
		for k, v := range props.items {
			if v.str("type") == "string" {
				return props.names[k]
			}
		}
	}
	return "path"
}
