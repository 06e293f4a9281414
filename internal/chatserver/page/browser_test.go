package page_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// chromium returns the browser. Without one the test is skipped, unless DECANT_BROWSER is must.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("DECANT_BROWSER") == "must" {
		t.Fatal("no Chromium was found: install the package chromium")
	}
	t.Skip("no Chromium was found, so the page was not seen in a browser: install the package chromium")
	return ""
}

// A browser is Chromium without a window.
type browser struct {
	ctx context.Context
}

// starting is held while a browser starts. Some that started beside others have crashed; of what is not known.
var starting sync.Mutex

// newBrowser starts a browser. Chromium sometimes crashes before it can be spoken to; that tells nothing about the page, so
// it is started anew, a few times.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := chromium(t)
	starting.Lock()
	defer starting.Unlock()
	for left := 4; ; left-- {
		ctx, err := start(t, path)
		if err == nil {
			return &browser{ctx}
		}
		if left == 0 {
			t.Fatal(err)
		}
		t.Logf("started anew, %d more times at most: %v", left, err)
		time.Sleep(time.Second) // what it crashed of may be over
	}
}

// start starts Chromium, which ends with the test, and waits until it can be spoken to.
func start(t *testing.T, path string) (context.Context, error) {
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	ctx, end := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, leave := chromedp.NewContext(ctx)
	if err := chromedp.Do(ctx); err != nil {
		leave()
		end()
		return nil, err
	}
	t.Cleanup(end)
	t.Cleanup(leave)
	return ctx, nil
}

// A tab shows the page. Whatever it writes to the console as an error fails the test, but for what quiet holds.
type tab struct {
	*testing.T
	ctx context.Context

	mu    sync.Mutex
	quiet []string
	wrong []string
}

// tab opens a tab of a width and a theme, "light" or "dark", at an address. The tab shares nothing with others that have another browser context.
func (b *browser) tab(t *testing.T, url string, width int64, theme string, opts ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, opts...)
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	p := &tab{T: t, ctx: ctx}
	listening, hear := context.WithCancel(ctx)
	messages := chromedp.Console(listening)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for m, err := range messages {
			if err != nil {
				return
			}
			p.mu.Lock()
			if m.Type == "error" || m.IsException() {
				p.wrong = append(p.wrong, m.String())
			}
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		p.check()
		hear()
		<-heard
		stop()
		cancel()
	})
	p.do(chromedp.EmulateViewport(width, 860), media(theme), chromedp.Navigate(url))
	return p
}

// media sets what the user prefers. Motion is reduced, so that nothing is looked at while it moves.
func media(theme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
		return err
	})
}

// check reports what the console has told.
func (p *tab) check() {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
next:
	for _, line := range p.wrong {
		for _, known := range p.quiet {
			if strings.Contains(line, known) {
				continue next
			}
		}
		p.Errorf("the console tells: %s", line)
	}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		if p.ctx.Err() != nil {
			p.picture("failed")
		}
		p.Fatal(err)
	}
}

// eval returns what an expression is in the page.
func eval[T any](p *tab, js string) T {
	p.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", js, err)
	}
	return v
}

// between reports whether an expression could not be looked at because another page was about to take the place of this one.
func between(err error) bool {
	for _, text := range []string{"navigated or closed", "context was destroyed", "Cannot find context"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// until waits until an expression is true in the page.
func (p *tab) until(js string) {
	p.Helper()
	for range 400 {
		is, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("Boolean("+js+")", chromedp.EvalAwaitPromise))
		if err != nil && !between(err) {
			p.Fatalf("%s: %v", js, err)
		}
		if is {
			return
		}
		time.Sleep(25 * time.Millisecond) // the page tells nobody when it is drawn
	}
	p.picture("failed")
	p.Fatalf("it never comes to %s; the page shows:\n%s", js, eval[string](p, "document.body.innerText.slice(0, 3000)"))
}

// click clicks on what a selector finds first, as soon as it can be seen.
func (p *tab) click(selector string) {
	p.Helper()
	p.until(fmt.Sprintf("document.querySelector(%q)?.checkVisibility()", selector))
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// press clicks on the button with a text, the last one if there are several.
func (p *tab) press(label string) {
	p.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll('button')].filter((b) => b.textContent.trim() === %q && b.checkVisibility()).at(-1)", label)
	p.until(fmt.Sprintf("((b) => b && !b.disabled && (b.click(), true))(%s)", find)) // at once: what is seen now may be gone in a moment
}

// write types a text where a selector finds a field.
func (p *tab) write(selector, text string) {
	p.Helper()
	p.do(chromedp.Focus(chromedp.CSS(selector)), chromedp.KeyEvent(text))
}

// say types a message and sends it.
func (p *tab) say(text string) {
	p.Helper()
	p.write("#say", text+kb.Enter)
}

// shows waits for a text in the conversation.
func (p *tab) shows(text string) {
	p.Helper()
	p.until(fmt.Sprintf("document.getElementById('talk').innerText.includes(%q)", text))
}

// idle waits until no run is under way.
func (p *tab) idle() {
	p.Helper()
	p.until("!document.getElementById('talk').classList.contains('running') && document.getElementById('status').hidden && !document.querySelector('.waits')")
}

// picture keeps what is seen in the folder that DECANT_PICTURES names.
func (p *tab) picture(name string) {
	dir := os.Getenv("DECANT_PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(context.WithoutCancel(p.ctx), chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(dir+"/"+strings.ReplaceAll(p.Name(), "/", "-")+"-"+name+".png", png, 0o600)
	}
	if err != nil {
		p.Log(err)
	}
}
