package page_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/decantdev/decant/testing/testkit"
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

// A browser is Chromium without a window. All tests share one: many that start at once need much, and some have crashed of it.
type browser struct {
	ctx context.Context
	end func()
}

// shared is the browser of all tests; nil: none has begun, or the last one has crashed.
var shared *browser

func TestMain(m *testing.M) {
	code := m.Run()
	if shared != nil {
		shared.end()
	}
	os.Exit(code)
}

// A crash is the panic that ends a look at a page whose browser has crashed.
type crash struct{ err error }

// inBrowser lets a test look at pages. That Chromium crashes tells nothing about a page: the test begins anew with another one.
// What it needs beside the browser it makes anew, too.
func inBrowser(t *testing.T, look func(b *browser)) {
	t.Helper()
	path := chromium(t)
	for left := 4; ; left-- {
		err := looked(path, look)
		if err == nil {
			return
		}
		if left == 0 {
			t.Fatal(err)
		}
		t.Logf("begun anew, %d more times at most: %v", left, err)
	}
}

// looked returns an error where the browser has crashed, or where none could be started.
func looked(path string, look func(b *browser)) (err error) {
	if shared != nil && shared.lost() {
		shared.end()
		shared = nil
	}
	if shared == nil {
		if shared, err = start(path); err != nil {
			return err
		}
	}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case crash:
			err = v.err
		default:
			panic(v)
		}
	}()
	look(shared)
	return nil
}

// start starts Chromium, which has a folder of its own, and waits until it can be spoken to.
func start(path string) (*browser, error) {
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(testkit.Patience))
	ctx, end := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, leave := chromedp.NewContext(ctx)
	b := &browser{ctx, func() { leave(); end() }}
	if err := chromedp.Do(ctx); err != nil {
		b.end()
		return nil, err
	}
	return b, nil
}

// lost reports whether the browser is gone.
func (b *browser) lost() bool {
	select {
	case <-chromedp.FromContext(b.ctx).Browser.LostConnection:
		return true
	default:
		return b.ctx.Err() != nil
	}
}

// A tab shows the page. Whatever it writes to the console as an error fails the test, but for what quiet holds.
type tab struct {
	*testing.T
	of      *browser
	ctx     context.Context
	crashed atomic.Bool

	mu    sync.Mutex
	quiet []string
	wrong []string
}

// tab opens a tab of a width and a theme, "light" or "dark", at an address. It shares nothing with others.
func (b *browser) tab(t *testing.T, url string, width int64, theme string) *tab {
	t.Helper()
	return b.open(t, b.ctx, url, width, theme, chromedp.WithNewBrowserContext())
}

// beside opens another tab, which shares with this one what tabs of one user share.
func (p *tab) beside(url string, width int64, theme string) *tab {
	p.Helper()
	return p.of.open(p.T, p.ctx, url, width, theme, chromedp.WithNewWindow(true))
}

func (b *browser) open(t *testing.T, parent context.Context, url string, width int64, theme string, opts ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, opts...)
	p := &tab{T: t, of: b, ctx: ctx}
	t.Cleanup(cancel)
	p.must("open", chromedp.Do(ctx))
	p.must("listen", chromedp.Listen(ctx, func(event any) {
		if _, is := event.(*inspector.EventTargetCrashed); is {
			p.crashed.Store(true)
			go cancel()
		}
	}))
	listening, hear := context.WithCancel(ctx)
	messages := chromedp.Console(listening)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		p.hear(messages)
	}()
	t.Cleanup(func() {
		p.check()
		hear()
		<-heard
	})
	p.do(chromedp.EmulateViewport(width, 860), media(theme), chromedp.Navigate(url))
	return p
}

// hear notes what the console tells of errors.
func (p *tab) hear(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err != nil {
			return
		}
		if m.Type == "error" || m.IsException() {
			p.mu.Lock()
			p.wrong = append(p.wrong, m.String())
			p.mu.Unlock()
		}
	}
}

// must ends the test where there is an error, or lets it begin anew where that is of a browser that has crashed.
func (p *tab) must(what string, err error) {
	p.Helper()
	if err == nil {
		return
	}
	if p.of.lost() || p.crashed.Load() {
		panic(crash{fmt.Errorf("%s: the browser has crashed: %w", what, err)})
	}
	p.picture("failed")
	p.Fatalf("%s: %v", what, err)
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
	ctx, cancel := context.WithTimeout(p.ctx, testkit.Patience)
	defer cancel()
	p.must("the page does not answer", chromedp.Do(ctx, steps...))
}

// eval returns what an expression is in the page.
func eval[T any](p *tab, js string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, testkit.Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	p.must(js, err)
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

// looking evaluates an expression until it is true, for some seconds: the page tells nobody when it is drawn. What is not there yet
// may be an error.
const looking = `(async () => {
	for (const begun = Date.now(); Date.now() < begun + 5000; await new Promise((done) => setTimeout(done, 20))) {
		try { if (await (%s)) return true; } catch {}
	}
	return false;
})()`

// until waits until an expression is true in the page.
func (p *tab) until(js string) {
	p.Helper()
	is := false
	defer func() {
		if !is && p.Failed() && p.ctx.Err() == nil {
			p.picture("failed")
			p.Logf("the page shows:\n%s", eval[string](p, "document.body.innerText.slice(0, 3000)"))
		}
	}()
	testkit.Eventually(p, js, func() bool {
		ctx, cancel := context.WithTimeout(p.ctx, testkit.Patience)
		defer cancel()
		v, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(looking, js), chromedp.EvalAwaitPromise))
		if err != nil && !between(err) {
			p.must(js, err)
		}
		is = v
		return is
	})
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
