package page_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/decantdev/decant/testing/testkit"
)

// serve begins a service and returns it with its address.
func serve(t *testing.T, key string) (*service, string) {
	t.Helper()
	s := newService(key)
	srv := httptest.NewServer(s.handler())
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return s, srv.URL
}

// everywhere runs a test at both widths and in both themes; only at the smaller one, in the dark one, where tests are quick.
func everywhere(t *testing.T, do func(t *testing.T, p *tab, s *service)) {
	for _, width := range testkit.Depth([]int64{420}, []int64{420, 1280}) {
		for _, theme := range testkit.Depth([]string{"dark"}, []string{"light", "dark"}) {
			t.Run(fmt.Sprint(width, "-", theme), func(t *testing.T) {
				inBrowser(t, func(b *browser) {
					s, url := serve(t, "")
					s.add("Plans for the move")
					p := b.tab(t, url, width, theme)
					p.until("document.querySelector('.welcome') && document.querySelector('#sessions a')")
					do(t, p, s)
					p.picture("end")
					if eval[bool](p, "document.documentElement.scrollWidth > innerWidth") {
						t.Error("the page is wider than the window")
					}
				})
			})
		}
	}
}

// after does something and waits until the service has begun another run.
func after(t *testing.T, s *service, do func()) {
	t.Helper()
	var before int
	s.do(func() { before = s.runs })
	do()
	s.comes(t, "new run", func() bool { return s.runs > before })
}

// comes waits until something is so at the service.
func (s *service) comes(t *testing.T, what string, is func() bool) {
	t.Helper()
	testkit.Eventually(t, "the service has seen a "+what, func() (so bool) {
		s.do(func() { so = is() })
		return so
	})
}

// list shows the list of conversations.
func (p *tab) list() {
	if eval[bool](p, "innerWidth < 760 && !document.getElementById('side').classList.contains('open')") {
		p.click("#menu-place button")
	}
	p.until("document.getElementById('side').checkVisibility({visibilityProperty: true})")
}

func TestSendStreamApproveAndPour(t *testing.T) {
	everywhere(t, func(t *testing.T, p *tab, s *service) {
		p.say("something rich")
		p.shows("to do")
		p.idle()
		for _, sel := range []string{"h4", "strong", "a[rel~=noopener]", "ol > li > ul", ".code code", "td.right", "blockquote", "input[type=checkbox]:checked", "details.thinking", "details.call"} {
			if !eval[bool](p, fmt.Sprintf("document.querySelector('#talk .assistant %s') !== null", sel)) {
				t.Errorf("the answer has no %s", sel)
			}
		}
		p.say("please approve")
		p.until("document.querySelector('.approval .diff .add') && document.getElementById('send-place').firstChild.disabled")
		p.press("Edit…")
		eval[any](p, `document.querySelector('.approval textarea').value = '{"path": '`)
		p.press("Run with these")
		p.until("document.querySelector('.approval .error').textContent.includes('JSON')")
		eval[any](p, `document.querySelector('.approval textarea').value = '{"path": "other.txt"}'`)
		p.press("Run with these")
		p.shows(`it was edit, {"path":"other.txt"}`)
		p.idle()
		p.say("now pour")
		p.shows("6 older messages became a record")
		p.idle()
		p.press("Undo")
		p.until("!document.querySelector('#talk .pour') && document.getElementById('gauge-text').textContent === '120K / 200K'")
	})
}

func TestPourAndUndoInThePanelAndForgetAMemory(t *testing.T) {
	everywhere(t, func(t *testing.T, p *tab, s *service) {
		p.say("first")
		p.shows("You said: first")
		p.idle()
		p.click("#gauge")
		p.until("document.getElementById('panel').innerText.includes('to 9,000 tokens')")
		p.picture("context")
		p.press("Pour now")
		p.until("document.getElementById('panel').innerText.includes('Pour 1') && document.querySelector('#talk .pour')")
		p.press("Undo")
		p.until("document.getElementById('panel').innerText.includes('was undone') && !document.querySelector('#talk .pour')")
		p.do(chromedp.KeyEvent(kb.Escape))
		p.until("document.getElementById('panel').hidden && document.activeElement.id === 'gauge'")
		p.list()
		p.click("#memories")
		p.until("document.querySelectorAll('[data-memory]').length === 2 && document.querySelector('[data-memory=m1] a').hash === '#/s/s1'")
		eval[any](p, "document.querySelector('[data-memory=m1] button').click()")
		p.press("Keep it")
		eval[any](p, "document.querySelector('[data-memory=m1] button').click()")
		p.press("Forget")
		p.until("document.querySelectorAll('[data-memory]').length === 1")
		s.do(func() {
			if len(s.memories) != 1 || s.memories[0]["id"] != "m2" {
				t.Errorf("what is left: %v", s.memories)
			}
		})
	})
}

func TestSwitchSearchRenameArchiveDelete(t *testing.T) {
	everywhere(t, func(t *testing.T, p *tab, s *service) {
		p.say("hello there")
		p.shows("You said: hello there")
		p.idle()
		p.list()
		eval[any](p, "[...document.querySelectorAll('#sessions a')].find((a) => a.title === 'Plans for the move').click()")
		p.until("document.getElementById('title').textContent === 'Plans for the move' && !document.getElementById('talk').innerText.includes('hello')")
		p.do(chromedp.NavigateBack())
		p.shows("You said: hello there")
		menu := func(title, choice string) {
			p.list()
			find := fmt.Sprintf("[...document.querySelectorAll('#sessions button')].find((b) => b.title === 'Actions for %s')", title)
			p.until(find)
			eval[any](p, find+".click()")
			p.press(choice)
		}
		// A menu stays while the list is read anew, and what is new is shown when it is closed.
		p.list()
		eval[any](p, "[...document.querySelectorAll('#sessions button')].find((b) => b.title === 'Actions for hello there').click()")
		s.add("Another one")
		var read int
		s.do(func() { read = s.lists })
		eval[any](p, "document.getElementById('search').dispatchEvent(new Event('input'))")
		s.comes(t, "question for the list", func() bool { return s.lists > read })
		p.until("fetch('v1/me').then((r) => r.ok && new Promise(requestAnimationFrame))")
		if !eval[bool](p, "document.querySelector('#sessions [role=menu]') !== null") {
			t.Error("the menu has gone")
		}
		p.do(chromedp.KeyEvent(kb.Escape))
		p.until("[...document.querySelectorAll('#sessions a')].some((a) => a.title === 'Another one') && document.activeElement.title === 'Actions for hello there'")
		menu("Another one", "Archive")
		p.until("document.querySelectorAll('#sessions a').length === 2")
		menu("hello there", "Rename")
		p.until("document.querySelector('dialog')")
		p.do(chromedp.KeyEvent("a new name" + kb.Enter))
		p.until("document.getElementById('title').textContent === 'a new name'")
		menu("Plans for the move", "Archive")
		p.until("document.querySelectorAll('#sessions a').length === 1")
		menu("a new name", "Delete…")
		p.press("Keep it")
		menu("a new name", "Delete…")
		p.press("Delete")
		p.until("document.querySelectorAll('#sessions a').length === 0 && document.querySelector('.welcome')")
		p.list()
		p.click("#archived")
		p.until("[...document.querySelectorAll('#sessions a')].some((a) => a.title === 'Plans for the move')")
	})
}

func TestStopSteerRegenerateEditAndBranch(t *testing.T) {
	everywhere(t, func(t *testing.T, p *tab, s *service) {
		p.say("be slow")
		p.shows("one more word")
		p.say("and this")
		p.until("document.querySelectorAll('article.user').length === 2")
		p.do(chromedp.KeyEvent(kb.Escape))
		p.shows("Stopped. What came of the answer stays.")
		p.idle()
		p.say("last words")
		p.shows("You said: last words")
		p.idle()
		after(t, s, func() { p.press("Regenerate") })
		p.idle()
		p.shows("You said: last words")
		p.press("Edit")
		p.until("document.querySelector('.editing textarea')")
		p.do(chromedp.KeyEvent(" indeed"))
		after(t, s, func() { p.press("Send") })
		p.shows("You said: last words indeed")
		p.idle()
		if n := eval[int](p, "document.querySelectorAll('article.user').length"); n != 3 {
			t.Errorf("%d things were said, want 3", n)
		}
		p.press("Edit")
		p.until("document.querySelector('.editing textarea')")
		p.do(chromedp.KeyEvent(" in a branch"))
		p.press("Branch")
		p.shows("You said: last words indeed in a branch")
		p.idle()
		p.until("document.getElementById('title').textContent.endsWith('(branch)')")
	})
}

// What a model says to do harm is text, and the page can be used while a megabyte is on one line.
func TestHostileContentIsText(t *testing.T) {
	everywhere(t, func(t *testing.T, p *tab, s *service) {
		p.say("be hostile")
		p.until("document.getElementById('talk').innerText.includes('</code><script>') && !document.getElementById('talk').classList.contains('running')")
		p.idle()
		if bad := eval[string](p, `[...document.querySelectorAll('#talk script, #talk img, #talk iframe, #talk [onerror], #talk a')].filter((n) => n.tagName !== 'A' || !/^(https?|mailto):/.test(n.href)).map((n) => n.outerHTML).join()`); bad != "" {
			t.Errorf("the conversation has %s", bad)
		}
		if eval[bool](p, "window.harmed !== undefined") {
			t.Error("a script of the model has run")
		}
		for _, want := range []string{"␛[31mred", "[U+202E]gnp.exe", "[click](javascript:window.harmed=3)", "Image: track"} {
			p.shows(want)
		}
		p.until("[...document.querySelectorAll('#talk button')].some((b) => /^Show all \\d{3},\\d{3}/.test(b.textContent))")
		p.say("still here")
		p.shows("You said: still here")
	})
}

// A text of which all is shown is the text, and no more: it can be copied.
func TestALongTextIsShownAsItIs(t *testing.T) {
	everywhere(t, func(t *testing.T, p *tab, s *service) {
		eval[bool](p, "void import(new URL('page/dom.js', document.baseURI)).then((dom) => { window.dom = dom; }) ?? true")
		p.until("window.dom")
		if !eval[bool](p, `(() => {
			const text = "line\n".repeat(12345) + "the end", node = window.dom.long("code", text);
			node.querySelector("button").click();
			return node.textContent === text;
		})()`) {
			t.Error("it is another text")
		}
	})
}

// Nothing is lost and nothing is there twice when the connection drops; what is written meanwhile is sent when it is back.
func TestTheConnectionIsLostAndRegained(t *testing.T) {
	everywhere(t, func(t *testing.T, p *tab, s *service) {
		p.quiet = []string{"ERR_", "Failed to load resource"}
		p.say("be slow")
		p.shows("one more word")
		s.connected(false)
		p.until("!document.getElementById('banner').hidden && document.getElementById('banner').innerText.includes('No connection')")
		p.say("sent later")
		p.until("document.querySelector('.waits .note')?.textContent === 'Waits for the connection'")
		p.picture("offline")
		s.connected(true)
		eval[any](p, "document.getElementById('retry').click()") // or it has connected by itself
		s.comes(t, "word while the answer comes", func() bool { return len(s.sessions[0].steered) > 0 })
		close(s.goOn)
		p.until("document.getElementById('banner').hidden")
		p.until("[...document.querySelectorAll('article.user')].filter((n) => n.innerText.includes('sent later')).length === 1 && !document.querySelector('.waits')")
		p.idle()
		said := strings.TrimSpace(eval[string](p, "[...document.querySelectorAll('.assistant .text')].map((n) => n.textContent).join(' ')"))
		if want := strings.TrimSpace(strings.Repeat("one more word ", 200)); said != want {
			t.Errorf("the answer has %d characters, want %d: ...%s", len(said), len(want), said[max(0, len(said)-80):])
		}
	})
}

func TestTwoTabsShowTheSame(t *testing.T) {
	inBrowser(t, func(b *browser) {
		s, url := serve(t, "")
		one := b.tab(t, url, 1280, "light")
		one.until("document.querySelector('.welcome')")
		one.say("be slow")
		one.shows("one more word")
		two := one.beside(url+"/"+eval[string](one, "location.hash"), 1280, "dark")
		two.shows("one more word")
		close(s.goOn)
		one.idle()
		two.idle()
		show := "document.getElementById('talk').innerText"
		if a, b := eval[string](one, show), eval[string](two, show); a != b {
			t.Errorf("one tab shows %d characters, the other one %d", len(a), len(b))
		}
	})
}

func TestLoginKeepsNothingThatAScriptCanRead(t *testing.T) {
	inBrowser(t, func(b *browser) {
		_, url := serve(t, "sk-secret")
		p := b.tab(t, url, 420, "light")
		p.quiet = []string{"401"}
		p.until("!document.getElementById('login').hidden")
		p.write("#key", "wrong"+kb.Enter)
		p.until("document.getElementById('login-error').textContent.includes('not known')")
		p.picture("login")
		p.do(chromedp.KeyEvent("sk-secret" + kb.Enter))
		p.until("document.querySelector('.welcome') && !document.getElementById('logout-place').hidden")
		p.say("hello")
		p.shows("You said: hello")
		p.idle()
		if kept := eval[string](p, "document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.getElementById('key').value"); strings.Contains(kept, "sk-") || strings.Contains(kept, csrfToken) {
			t.Errorf("the page keeps %s", kept)
		}
		p.list()
		p.click("#logout-place button")
		p.press("Log out")
		p.until("document.readyState === 'complete' && document.getElementById('login')?.checkVisibility()")
	})
}

func TestAttachTheThemeAndTheKeyboard(t *testing.T) {
	inBrowser(t, func(b *browser) {
		s, url := serve(t, "")
		p := b.tab(t, url, 1280, "light")
		p.until("document.querySelector('.welcome')")
		file := filepath.Join(t.TempDir(), "notes.md")
		if err := os.WriteFile(file, []byte("# Notes"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file}))
		p.until("document.querySelector('#files li')?.innerText.includes('notes.md')")
		p.write("#say", "one")
		p.do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierShift)))
		p.say("two")
		p.shows("You said: one")
		p.idle()
		s.do(func() {
			m := s.sessions[0].messages[0]
			if m["text"] != "one\ntwo" || !strings.Contains(text(m["attachments"]), `"data":"IyBOb3Rlcw=="`) {
				t.Errorf("what was said: %v", m)
			}
		})
		p.click("#theme-place button")
		p.do(chromedp.Reload())
		p.until("document.documentElement.dataset.theme === 'dark' && document.querySelector('article.user .chips')")
		p.do(chromedp.KeyEvent("k", chromedp.KeyModifiers(kb.ModifierCtrl)))
		p.until("document.activeElement.id === 'search'")
		eval[any](p, "document.activeElement.blur(); window.scrollTo(0, 0)")
		seen := map[string]bool{}
		for range 40 {
			p.do(chromedp.KeyEvent(kb.Tab))
			if eval[bool](p, "document.activeElement !== document.body && getComputedStyle(document.activeElement).outlineStyle === 'none' && document.activeElement.id !== 'say'") {
				t.Errorf("the focus cannot be seen on %s", eval[string](p, "document.activeElement.outerHTML.slice(0, 200)"))
			}
			seen[eval[string](p, "document.activeElement.id || document.activeElement.ariaLabel || document.activeElement.className || document.activeElement.textContent")] = true
		}
		for _, want := range []string{"skip", "new", "search", "say", "memories", "gauge", "Attach images or text files"} {
			if !seen[want] {
				t.Errorf("the keyboard does not reach %s", want)
			}
		}
	})
}

func TestEverybodyCanUseThePage(t *testing.T) {
	source := axe(t)
	everywhere(t, func(t *testing.T, p *tab, s *service) {
		p.do(bypass(), chromedp.Reload())
		p.until("document.querySelector('.welcome')")
		p.accessible(source)
		p.say("something rich")
		p.shows("to do")
		p.idle()
		p.say("now pour")
		p.shows("became a record")
		p.idle()
		p.say("please approve")
		p.until("document.querySelector('.approval .diff .add')")
		p.idle()
		p.press("Why?")
		p.until("document.querySelectorAll('.why li').length === 3")
		eval[any](p, "document.querySelectorAll('details').forEach((d) => { d.open = true; })")
		p.until("document.querySelector('.why figure')")
		p.accessible(source)
		p.press("Deny…")
		p.click("#gauge")
		p.until("document.querySelector('#panel .items li')")
		p.accessible(source)
		p.do(chromedp.KeyEvent(kb.Escape))
		p.list()
		p.accessible(source)
		p.click("#memories")
		p.until("document.querySelectorAll('[data-memory]').length === 2")
		p.press("Forget everything…")
		p.accessible(source)
	})
}
