package measure_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/event"
	"github.com/decantdev/decant/internal/triage/layer"
)

// cartBefore and cartAfter are a program whose second release has lost a check, and two ways to the line that then fails.
const (
	cartBefore = "def discount(cart, coupons):\n    coupon = coupons.get(cart.code)\n    if coupon is None:\n        return 0\n    return coupon.percent\n"
	cartAfter  = "def discount(cart, coupons):\n    coupon = coupons.get(cart.code)\n    return coupon.percent\n"
	callers    = "from shop import cart\n\n\ndef serve(request):\n    return cart.discount(request.cart, request.coupons)\n"
)

// cart returns a world with two errors that have one cause: they come through different transactions.
func cart(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	var stream strings.Builder
	commit := func(what string, days int, files ...string) {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter Ada <ada@example.com> %d +0000\ndata %d\n%s\n", day.AddDate(0, 0, -days).Unix(), len(what), what)
		for i := 0; i < len(files); i += 2 {
			fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", files[i], len(files[i+1]), files[i+1])
		}
	}
	commit("Carts", 20, "shop/cart.py", cartBefore, "shop/checkout.py", callers, "shop/mail.py", callers)
	stream.WriteString("reset refs/tags/v1\nfrom refs/heads/main\n")
	commit("Simplify", 2, "shop/cart.py", cartAfter)
	stream.WriteString("reset refs/tags/v2\nfrom refs/heads/main\n")
	for _, c := range []*exec.Cmd{exec.Command("git", "init", "-q", "-b", "main", dir), exec.Command("git", "-C", dir, "fast-import", "--quiet")} {
		c.Stdin, c.Env = strings.NewReader(stream.String()), append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c.Args, err, out)
		}
	}
	w := &world{now: day, repos: []code.Repo{{Name: "acme/shop", Dir: dir, Paths: []code.Mapping{{From: "/app/"}}}}}
	for i, by := range []string{"checkout", "mail"} {
		w.events = append(w.events, event.Event{ID: by, Time: day.Add(-time.Duration(2-i) * time.Hour), Service: "shop", Release: "v2", Class: "AttributeError", Message: "'NoneType' object has no attribute 'percent'",
			Transaction: by, Frames: []event.Frame{{File: "/app/shop/cart.py", Line: 3, Function: "discount", InApp: true}, {File: "/app/shop/" + by + ".py", Line: 5, Function: "serve", InApp: true}}})
	}
	return w
}

// Where what was found about an earlier error says what is wrong, nothing is looked into that is known, and at least a third of the
// answers are not needed. What is quoted was shown in the investigation itself, all the same. It counts for such errors only.
func TestAnEarlierErrorSavesReads(t *testing.T) {
	table := measured(t, cart(t), layer.CrossError)
	errors, with, without := table.Superfluous()
	if errors != 1 || with*3 > without*2 {
		t.Errorf("%d errors took %d answers, %d without", errors, with, without)
	}
	if table.On.Found != 2 || table.On.Related != 1 || table.Layers[0].Without.Related != 0 || table.On.Same != 2 {
		t.Errorf("%+v", table.On)
	}
	r := cart(t).investigated(t, layer.Set{}, false)
	for _, e := range r.Errors {
		if e.Number == 2 && (e.Finding.Related != 1 || len(e.Finding.Evidence) == 0 || len(e.Finding.Struck) > 0 || e.Finding.Work.Earlier != 1) {
			t.Errorf("%+v", e.Finding)
		}
	}
	table.Layers = nil
	if errors, _, _ := table.Superfluous(); errors != 0 {
		t.Errorf("%d errors count without a comparison", errors)
	}
}
