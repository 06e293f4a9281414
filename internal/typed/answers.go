package typed

import "strings"

// Asks are the tools by which clients put questions of the model to the user.
var asks = map[string]bool{
	"AskUserQuestion": true, "ask_user": true, "ask_user_question": true, "ask_followup_question": true,
	"askuserquestion": true, "question": true, "request_user_input": true,
}

// Asks reports whether a tool puts questions of the model to the user.
func Asks(tool string) bool { return asks[tool] }

// How Claude Code begins the result of a call that the user refused with words of their own, which follow to the end, and
// what it may add behind them.
var refusals = [...]string{
	"The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n",
	"Permission for this tool use was denied. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). The user said:\n",
}

const refusalNote = "\n\nNote: The user's next message may contain a correction or preference."

// Texts that Claude Code puts into a refusal when the user asks for other questions. They list the questions.
var rephrase = [...]string{
	"The user wants to clarify these questions.",
	"The user has indicated they have provided enough answers for the plan interview.",
}

// Refused returns what the user said when they refused a call, from its result, and whether it is a refusal in which they
// said something: other than answers, "" then. It is known by the form in which the client writes a refusal, never by
// what a text says.
func Refused(result string) (words string, ok bool) {
	for _, r := range refusals {
		words, ok := strings.CutPrefix(result, r)
		if !ok {
			continue
		}
		words, _, _ = strings.Cut(words, refusalNote)
		for _, p := range rephrase {
			if strings.HasPrefix(words, p) {
				return "", true
			}
		}
		return strings.TrimSpace(words), true
	}
	return "", false
}

// An Answer is what the user answered to a question of the model's.
type Answer struct{ Question, Text string }

// around are the client's words before and behind all answers, those behind them "" where the answer ends the result.
// Read off Claude Code 2.0.76 to 2.1.332 and Copilot CLI.
var around = [...][2]string{
	{"User has answered your questions: ", ". You can now continue with the user's answers in mind"},
	{"Your questions have been answered: ", ". You can now continue with these answers in mind"},
	{"The user answered: ", ". Read the answers carefully"},
	{"The user asked for more questions before you proceed. So far they answered: ", ". Call AskUserQuestion again"},
	{"The user asked for more questions before answering.", " Call AskUserQuestion again"},
	{"The user responded: ", ""},
	{"User responded: ", ""},
	{"User selected: ", ""},
}

// silent begin results in which the user said nothing.
var silent = [...]string{
	"The user did not answer", "The user asked for more questions before answering.", "No response after ", "User declined",
	"The user declined", "User skipped",
}

// unsaid are answers that the client writes where the user gave none.
var unsaid = map[string]bool{"(no option selected)": true, "(notes only)": true, "(No answer provided)": true, "": true}

// What stands between two answers of a list, or between an answer and what the user wrote beside it.
const (
	wroteToo  = ` They also wrote: "`
	idleWords = "Before going idle the user had selected: "
)

// Answers returns what the user answered to questions, from the result of the call that put them. A client either lists
// them as "question"="answer", with notes of the user behind an answer, or returns the bare answer.
func Answers(questions []string, result string) (out []Answer) {
	if refused := refusedAnswers(result); refused != nil {
		return refused
	}
	body := strings.TrimSpace(result)
	for _, a := range around {
		if rest, ok := strings.CutPrefix(body, a[0]); ok {
			if body = rest; a[1] != "" {
				body = body[:lastIndex(body, a[1])]
			}
			break
		}
	}
	if _, chosen, ok := strings.Cut(body, idleWords); ok {
		body = strings.TrimSuffix(chosen, ".")
	}
	body, also, _ := strings.Cut(body, wroteToo)
	for i := range questions {
		if at := strings.Index(body, `"`+questions[i]+`"=`); at >= 0 {
			body = body[at+len(questions[i])+3:]
			out = given(out, questions[i], body[:nextQuestion(body, questions[i+1:])])
		}
	}
	switch {
	case also != "":
		return append(out, Answer{strings.Join(questions, " "), also[:lastIndex(also, `"`)]})
	case out != nil || len(questions) > 1 && strings.HasPrefix(body, `"`):
		return out
	}
	for _, s := range silent {
		if strings.HasPrefix(body, s) {
			return nil
		}
	}
	if body = strings.TrimSpace(body); body != "" {
		out = append(out, Answer{strings.Join(questions, " "), body})
	}
	return out
}

// lastIndex returns where s begins in text for the last time, the end of text where it does not.
func lastIndex(text, s string) int {
	if i := strings.LastIndex(text, s); i >= 0 {
		return i
	}
	return len(text)
}

// nextQuestion returns where the answer that text begins with ends: before the next question, or at the end.
func nextQuestion(text string, questions []string) int {
	for _, q := range questions {
		if i := strings.Index(text, `, "`+q+`"=`); i >= 0 {
			return i
		}
	}
	return len(text)
}

// given adds an answer of a list: in quotation marks, with a preview that the client shows and notes of the user's behind.
func given(out []Answer, question, text string) []Answer {
	text = strings.TrimSpace(text)
	body, notes := text, ""
	if open := strings.HasPrefix(text, `"`); open || strings.HasPrefix(text, "(") {
		end := len(text)
		for _, behind := range [...]string{" selected preview:", " notes: ", " user notes: "} {
			for _, close := range [...]string{`"`, ")"} {
				if at := strings.Index(text, close+behind); at >= 0 {
					end = min(end, at+1)
				}
			}
		}
		if at := strings.LastIndex(text[end:], "notes: "); at >= 0 {
			notes = strings.TrimSpace(text[end+at+len("notes: "):])
		}
		if body = text[:end]; open {
			body = strings.TrimSuffix(strings.TrimRight(body, ". "), `"`)[1:]
		}
	}
	if unsaid[body] {
		body = ""
	}
	if body != "" && notes != "" {
		body += "\n"
	}
	if body += notes; body != "" {
		out = append(out, Answer{question, body})
	}
	return out
}

// refusedAnswers returns the answers in a refusal that lists the questions, not nil where a result is one.
func refusedAnswers(result string) []Answer {
	listed := false
	for _, p := range rephrase {
		listed = listed || strings.Contains(result[:min(len(result), 400)], p)
	}
	if !listed {
		return nil
	}
	out, question := []Answer{}, ""
	for line := range strings.Lines(result) {
		line = strings.TrimSpace(line)
		if q, ok := strings.CutPrefix(line, `- "`); ok {
			question = strings.TrimSuffix(q, `"`)
		} else if a, ok := strings.CutPrefix(line, "Answer: "); ok {
			out = given(out, question, a)
		}
	}
	return out
}
