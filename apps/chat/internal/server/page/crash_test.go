package page_test

import (
	"context"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/decantdev/decant/testing/testkit"
)

// Where the browser crashes, or what draws one page of it, a test begins anew.
func TestACrashFailsNothing(t *testing.T) {
	testkit.NeedFull(t, "that a browser that crashes fails no test")
	tries := 0
	inBrowser(t, func(b *browser) {
		_, url := serve(t, "")
		p := b.tab(t, url, 420, "dark")
		tries++
		switch tries {
		case 1:
			cdp.Call(p.ctx, chromedp.FromContext(p.ctx).Browser, cdpbrowser.Crash, cdp.Empty{}) // it cannot answer
			p.until("false")
		case 2:
			ctx, cancel := context.WithCancel(p.ctx)
			defer cancel()
			go chromedp.Call(ctx, page.Crash, cdp.Empty{}) // it may answer, or not
			p.until("false")
		}
		p.until("document.querySelector('.welcome')")
	})
	if tries != 3 {
		t.Errorf("%d tries, want 3", tries)
	}
}
