package summary

import (
	"strings"

	"github.com/decantdev/decant"
)

// rejected is how Claude Code begins the result of a call that the user refused with words of their own;
// the words follow to the end. Seen in recorded sessions of version 2.
const rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"

// asks are the tools by which a client puts questions of the model to the user.
var asks = map[string]bool{
	"AskUserQuestion": true, "ask_user": true, "ask_user_question": true, "ask_followup_question": true,
	"askuserquestion": true, "question": true, "request_user_input": true,
}

// answers takes in what the user said in the result of a call. It is known by the tool, or by the form in
// which the client writes a refusal, never by what a text says: the output of a command may say anything.
func (r *reader) answers(m *decant.Message, i int, b *decant.Block, a *act, body string) {
	t := text{author: byAnswer, index: i, number: m.Number, handle: decant.HandleOf(b.Hash())}
	switch {
	case b.Error && strings.HasPrefix(body, rejected):
		t.author, t.body = byUser, strings.TrimSpace(body[len(rejected):])
		r.add(t)
	case asks[a.Name] && !b.Error && a.done:
		a.result = "" // it is said as what it is
		r.replies(t, a, body)
	}
}

func (r *reader) add(t text) {
	if t.body != "" {
		r.texts = append(r.texts, &t)
	}
}

// replies takes in the answers to the questions of a call: Claude Code lists them as "question"="answer"
// behind one another; other clients return the bare answer to their one question.
func (r *reader) replies(t text, a *act, body string) {
	questions := a.questions()
	rest := body
	for k, q := range questions {
		_, after, ok := strings.Cut(rest, `"`+q+`"="`)
		if !ok {
			continue
		}
		next := ""
		if k+1 < len(questions) {
			next = `, "` + questions[k+1] + `"="`
		}
		t.question, t.body = q, answerIn(after, next)
		r.add(t)
		rest = after
	}
	if rest != body || len(questions) > 1 {
		return
	}
	for _, p := range [...]string{"User responded: ", "User selected: "} { // Copilot CLI
		body = strings.TrimPrefix(body, p)
	}
	t.question, t.body = strings.Join(questions, ""), strings.TrimSpace(body)
	r.add(t)
}

// answerIn returns the answer that text begins with: up to the question that follows it, or to the last
// quotation mark before the client's closing words.
func answerIn(text, next string) string {
	if i := strings.Index(text, `"`+next); next != "" && i >= 0 {
		return text[:i]
	}
	if i := strings.LastIndex(text, `". `); i >= 0 {
		return text[:i]
	}
	return strings.TrimRight(strings.TrimSpace(text), `".`)
}

// questions returns what a call asks the user.
func (a *act) questions() (out []string) {
	for _, v := range a.values {
		if v.name == "question" || v.name == "prompt" {
			out = append(out, v.text)
		}
	}
	return out
}
