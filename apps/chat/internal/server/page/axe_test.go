package page_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// axe returns the source of axe-core, which judges whether everybody can use a page. DECANT_AXE names the file axe.min.js of the npm package
// axe-core.
func axe(t *testing.T) string {
	t.Helper()
	path := os.Getenv("DECANT_AXE")
	if path == "" {
		t.Skip("DECANT_AXE does not name axe.min.js, so it was not judged whether everybody can use the page: npm pack axe-core")
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// bypass lets a test bring a script of its own into the page, which the page's policy forbids.
func bypass() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
		return err
	})
}

// accessible judges what the tab shows.
func (p *tab) accessible(source string) {
	p.Helper()
	eval[any](p, source+"; null")
	type violation struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML, FailureSummary string }
	}
	var found []violation
	if err := json.Unmarshal([]byte(eval[string](p, "axe.run(document).then((r) => JSON.stringify(r.violations))")), &found); err != nil {
		p.Fatal(err)
	}
	for _, v := range found {
		if v.Impact != "serious" && v.Impact != "critical" {
			p.Logf("axe: %s: %s, %s", v.Impact, v.ID, v.Help)
			continue
		}
		for _, n := range v.Nodes {
			p.Errorf("axe: %s: %s: %s\n%s", v.Impact, v.Help, n.HTML, n.FailureSummary)
		}
	}
}
