package page_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// A turn is answered once more, by another model; both answers stand side by side, and the new one can be kept.
func TestWhatIfOnThePage(t *testing.T) {
	inBrowser(t, func(b *browser) {
		service, end := begin(t, filepath.Join(t.TempDir(), "chat.db"), model{})
		srv := httptest.NewServer(service)
		t.Cleanup(func() {
			srv.CloseClientConnections()
			srv.Close()
			end()
		})
		p := b.tab(t, srv.URL, 420, "dark")
		if os.Getenv("DECANT_AXE") != "" {
			p.do(bypass(), chromedp.Reload())
		}
		p.until("document.querySelector('.welcome')")
		p.say("hello")
		p.shows("I heard: hello")
		p.idle()
		was := eval[string](p, "location.hash")
		p.click("#more-place button")
		p.press("What if…")
		p.write("#if-model", "claude-haiku-4-5")
		p.press("Answer once more")
		p.until("[...document.querySelectorAll('.what-if td')].some((c) => c.textContent === 'claude-haiku-4-5')")
		p.until("[...document.querySelectorAll('.what-if .plain')].filter((c) => c.textContent === 'I heard: hello').length === 2")
		p.picture("what-if")
		if os.Getenv("DECANT_AXE") != "" {
			p.accessible(axe(t))
		}
		if eval[bool](p, "document.documentElement.scrollWidth > innerWidth") {
			t.Error("the page is wider than the window")
		}
		if now := eval[string](p, "location.hash"); now != was {
			t.Errorf("the conversation is %s, want %s", now, was)
		}
		p.press("Keep the new answer")
		p.until("!document.querySelector('dialog') && location.hash !== '" + was + "' && document.querySelectorAll('#sessions a').length === 2")
		p.shows("I heard: hello")
		p.say("and on")
		p.shows("I heard: and on")
		p.idle()
	})
}
