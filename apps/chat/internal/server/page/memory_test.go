package page_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// A keeper is a model that saves, corrects, recalls and forgets as it is told. It knows nothing but what it is sent.
type keeper struct{}

// remembered finds the id of something that is remembered.
var remembered = regexp.MustCompile(`m:[0-9a-f]{12}`)

func (keeper) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	what, rest, last := "", "", ""
	for _, m := range p.Messages {
		for _, b := range m.Blocks {
			switch {
			case b.Kind == decant.KindResult:
				last = b.Text
			case b.Kind == decant.KindText && m.Role == decant.RoleUser:
				what, rest, _ = strings.Cut(b.Text, ": ")
				last = ""
			}
		}
	}
	id := ""
	if strings.HasPrefix(last, "From earlier sessions") {
		id = remembered.FindString(last)
	}
	switch {
	case what == "remember" && last == "":
		return calls(p, "save_memory", "content", rest), nil
	case last == "" && slices.Contains([]string{"correct", "forget", "recall"}, what):
		return calls(p, "recall"), nil
	case what == "correct" && id != "":
		return calls(p, "save_memory", "content", rest, "corrects", id), nil
	case what == "forget" && id != "":
		return calls(p, "forget", "id", id), nil
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "So: " + last}}}, nil
}

// calls returns an answer that calls a tool with arguments, names and values in turn.
func calls(p *sandbox.Prompt, tool string, args ...string) sandbox.Answer {
	in := []byte{'{'}
	for i, arg := range args {
		switch {
		case i%2 == 1:
			in = append(in, ':')
		case i > 0:
			in = append(in, ',')
		}
		in = jsonspan.AppendQuote(in, arg)
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, ID: fmt.Sprint("toolu_", len(p.Messages)), Name: tool, Input: append(in, '}')}}}
}

// memories shows what is remembered, and waits until it is that: parts of the texts.
func (p *tab) memories(want ...string) {
	p.Helper()
	if eval[bool](p, "!document.getElementById('panel').hidden") {
		p.do(chromedp.KeyEvent(kb.Escape))
	}
	p.list()
	p.click("#memories")
	p.until("!document.getElementById('panel').hidden")
	if len(want) == 0 {
		p.until("document.getElementById('panel').innerText.includes('Nothing is remembered yet')")
	}
	p.until(fmt.Sprintf("document.querySelectorAll('[data-memory]').length === %d", len(want)))
	for _, text := range want {
		p.until(fmt.Sprintf("[...document.querySelectorAll('[data-memory]')].some((m) => m.innerText.includes(%q))", text))
	}
}

// What an agent remembers, before the real service: it is listed with where it is from, a correction takes the place of what it corrects, it
// outlives its conversation and answers in a new one, and who forgets it, on the page or by the agent, finds nothing of it afterwards.
func TestMemoriesBeforeTheRealService(t *testing.T) {
	for width, theme := range testkit.Depth(map[int64]string{420: "dark"}, map[int64]string{420: "dark", 1280: "light"}) {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			inBrowser(t, func(b *browser) {
				service, end := begin(t, filepath.Join(t.TempDir(), "chat.db"), keeper{})
				srv := httptest.NewServer(service)
				t.Cleanup(func() {
					srv.CloseClientConnections()
					srv.Close()
					end()
				})
				p := b.tab(t, srv.URL, width, theme)
				p.until("document.querySelector('.welcome')")
				p.remembers()
				p.forgets()
			})
		})
	}
}

// remembers has something remembered and corrected, and what was corrected answers after its conversation is gone.
func (p *tab) remembers() {
	p.Helper()
	p.say("remember: The user likes tea.")
	p.shows("So: Saved.")
	p.idle()
	p.memories("The user likes tea.")
	p.until("document.querySelector('[data-memory] a').hash === location.hash")
	p.do(chromedp.KeyEvent(kb.Escape))
	p.say("correct: The user likes coffee.")
	p.until("document.querySelectorAll('article.user').length === 2")
	p.idle()
	p.memories("The user likes coffee.")
	p.picture("corrected")
	p.do(chromedp.KeyEvent(kb.Escape))
	p.list()
	eval[any](p, "document.querySelector('#sessions button[title^=\"Actions for\"]').click()")
	p.press("Delete…")
	p.until("document.querySelector('dialog').innerText.includes('What is remembered stays')")
	p.press("Delete")
	p.until("document.querySelectorAll('#sessions a').length === 0")
	p.until("document.querySelector('.welcome')")
	p.do(chromedp.KeyEvent(kb.Escape))
	p.say("recall: what does the user like?")
	p.shows("The user likes coffee.")
	p.idle()
	if eval[bool](p, "document.getElementById('talk').innerText.includes('tea')") {
		p.Error("what was corrected answers, too")
	}
	p.memories("The user likes coffee.")
	p.until("document.querySelector('[data-memory]').innerText.includes('Its conversation is gone')")
}

// forgets has one thing forgotten on the page, and one by the agent, which asks first.
func (p *tab) forgets() {
	p.Helper()
	if path := os.Getenv("DECANT_AXE"); path != "" {
		p.do(bypass(), chromedp.Reload())
		p.memories("The user likes coffee.")
		p.accessible(axe(p.T))
	}
	eval[any](p, "document.querySelector('[data-memory] button').click()")
	p.press("Forget")
	p.memories()
	p.do(chromedp.KeyEvent(kb.Escape))
	p.say("remember: Prices are in cents.")
	p.shows("So: Saved.")
	p.idle()
	p.say("forget: it")
	p.until("document.querySelector('.approval')?.innerText.includes('Prices are in cents.')")
	p.press("Allow")
	p.until("document.querySelectorAll('article.user').length === 3")
	p.idle()
	p.memories()
}
