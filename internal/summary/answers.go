package summary

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/typed"
)

// answers takes in what the user said in the result of a call.
func (r *reader) answers(m *decant.Message, i int, b *decant.Block, a *act, body string) {
	t := text{author: byUser, index: i, number: m.Number, handle: decant.HandleOf(b.Hash())}
	if b.Error {
		words, ok := typed.Refused(body)
		if t.body = words; !ok || words != "" {
			r.add(t)
			return
		}
	}
	if !typed.Asks(a.Name) {
		return
	}
	a.result = "" // it is said as what it is
	t.author = byAnswer
	for _, answer := range typed.Answers(a.questions(), body) {
		t.question, t.body = answer.Question, answer.Text
		r.add(t)
	}
}

func (r *reader) add(t text) {
	if t.body != "" {
		r.texts = append(r.texts, &t)
	}
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
