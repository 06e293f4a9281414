package page_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// why says what an answer rests on: one sentence was sent, one was poured away, one is hostile.
func (s *service) why(w http.ResponseWriter, r *http.Request, t *talk, _ object) {
	if r.PathValue("n") != "1" && r.PathValue("n") != "3" {
		refuse(w, 404, "not_noted", "what the model was sent for this answer was not noted")
		return
	}
	place := object{"message": 3, "block": 0, "role": "user", "kind": "result", "tool": "search", "call": "call-0", "start": 10, "end": 30}
	answer(w, 200, object{"answer": 2, "hash": "0", "messages": 7, "said": 31, "sentences": []object{
		{"number": 1, "text": "The flat costs EUR 1,450.", "start": 0, "end": 25, "verdict": "sent", "sources": []object{
			{"form": "record", "place": place, "handle": "c:1", "pour": 1, "before": "The user plans a move.\n", "quote": "Flat: Rua da Rosa 12, EUR 1,450 a month.", "after": "\nOpen: a school."}}},
		{"number": 2, "text": "The school is in Rua Nova.", "start": 26, "end": 52, "verdict": "unsent", "sources": []object{}, "missing": []string{"Rua Nova"}, "unsent": []object{
			{"form": "left", "place": place, "handle": "c:2", "pour": 2, "quote": "The school is in Rua do Sol."}}},
		{"number": 3, "text": hostile[:200], "start": 53, "end": 253, "verdict": "partly", "sources": []object{{"form": "verbatim", "place": place, "quote": hostile}}},
	}})
}

// A sentence opens its sources, and says what was not sent; the keyboard reaches all of it, and what is quoted is text.
func TestWhy(t *testing.T) {
	everywhere(t, func(t *testing.T, p *tab, s *service) {
		p.say("the rent")
		p.shows("You said: the rent")
		p.idle()
		p.press("Why?")
		p.until("document.querySelectorAll('.why li').length === 3 && document.querySelector('.why-button').ariaExpanded === 'true'")
		p.shows("7 messages, of a conversation of 31 messages")
		p.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab))
		eval[any](p, "document.querySelector('.why summary').focus()")
		p.do(chromedp.KeyEvent(kb.Enter))
		p.until("document.querySelector('.why details[open] mark')?.textContent.includes('Rua da Rosa 12')")
		p.shows("Message 3, result of search; sent in the record of a pour (c:1)")
		p.until("document.querySelector('.why').getBoundingClientRect().top < document.getElementById('below').getBoundingClientRect().top")
		eval[any](p, "document.querySelectorAll('.why summary')[1].click()")
		p.picture("why")
		eval[any](p, "document.querySelectorAll('.why summary')[2].click()")
		p.shows("Nothing that was sent says this.")
		p.shows("Message 3, result of search; poured away in pour 2 (c:2)")
		p.until("document.querySelectorAll('.why figure').length === 3")
		if eval[bool](p, "window.harmed !== undefined || document.querySelector('.why script, .why img, .why a') !== null") {
			t.Error("what is quoted is more than text")
		}
		if eval[bool](p, "document.documentElement.scrollWidth > innerWidth || document.querySelector('.why').getBoundingClientRect().right > innerWidth") {
			t.Error("the receipt is wider than the window")
		}
		p.press("Why?")
		p.until("!document.querySelector('.why') && document.querySelector('.why-button').ariaExpanded === 'false'")
		p.do(chromedp.Reload())
		p.shows("You said: the rent")
		p.press("Why?")
		p.until("document.querySelectorAll('.why li').length === 3")
	})
}
