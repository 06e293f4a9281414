//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sample"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// A planted is something that nobody must see: itself, and how a message and code have it.
type planted struct{ value, message, code string }

// plant returns made-up secrets and personal data: 20 kinds of the ones below, drawn by chance, n of each.
func plant(r *rand.Rand, n int) (out []planted) {
	from := func(n int, set string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = set[r.IntN(len(set))]
		}
		return string(b)
	}
	const up, low, num = "ABCDEFGHJKLMNPQRSTUVWXYZ", "abcdefghijkmnopqrstuvwxyz", "0123456789"
	const all = up + low + num
	kinds := []func() planted{
		func() planted {
			v := from(8, low) + "@" + from(6, low) + ".org"
			return planted{v, "bounced: " + v, `admin = "` + v + `"`}
		},
		func() planted {
			v := from(5, low) + "+shop@" + from(6, low) + ".co.uk"
			return planted{v, "customer " + v + " not found", "# ask " + v}
		},
		func() planted {
			v := "+44 20 " + from(4, "123456789") + " " + from(4, num)
			return planted{v, "no carrier for " + v, `support = "` + v + `"`}
		},
		func() planted {
			v := fmt.Sprintf("%d.%d.%d.%d", 31+r.IntN(60), r.IntN(256), r.IntN(256), 1+r.IntN(250))
			return planted{v, "no route to host " + v, `HOST = "` + v + `"`}
		},
		func() planted {
			v := "AKIA" + from(16, up+"234567")
			return planted{v, "InvalidAccessKeyId: " + v, `KEY = "` + v + `"`}
		},
		func() planted {
			v := "ghp_" + from(36, all)
			return planted{v, "remote: denied to " + v, `TOKEN = "` + v + `"`}
		},
		func() planted {
			v := "sk-ant-api03-" + from(60, all) + "AA"
			return planted{v, "401 for key " + v, `MODEL_KEY = "` + v + `"`}
		},
		func() planted {
			v := "xoxb-" + from(11, num) + "-" + from(12, num) + "-" + from(24, all)
			return planted{v, "slack says invalid_auth: " + v, `SLACK = "` + v + `"`}
		},
		func() planted {
			v := "sk_live_" + from(24, all)
			return planted{v, "No such customer for key " + v, `STRIPE = "` + v + `"`}
		},
		func() planted {
			v := "eyJ" + from(20, all) + ".eyJ" + from(36, all) + "." + from(43, all)
			return planted{v, "jwt expired: " + v, `SAMPLE = "` + v + `"`}
		},
		func() planted {
			v := from(14, all) + "7!"
			return planted{v, "could not connect: mysql://root:" + v + "@db:3306/x", `password = "` + v + `"`}
		},
		func() planted {
			v := from(16, all) + "9"
			return planted{v, "login failed password=" + v + " try=2", `DB_PASSWORD = "` + v + `"`}
		},
		func() planted {
			v := from(40, all) + "3"
			return planted{v, "Authorization: Bearer " + v, `client_secret = "` + v + `"`}
		},
		func() planted {
			v := from(30, low+num) + "8"
			return planted{v, "Set-Cookie: session_id=" + v + "; HttpOnly", `api_key = "` + v + `"`}
		},
		func() planted {
			v := "AIza" + from(35, all)
			return planted{v, "API key not valid: " + v, `MAPS = "` + v + `"`}
		},
		func() planted {
			v := "npm_" + from(36, all)
			return planted{v, "npm 403 with " + v, `NPM = "` + v + `"`}
		},
		func() planted {
			v := "glpat-" + from(20, all)
			return planted{v, "gitlab 401 " + v, `LAB = "` + v + `"`}
		},
		func() planted {
			v := "SG." + from(22, all) + "." + from(43, all)
			return planted{v, "sendgrid refuses " + v, `MAILER = "` + v + `"`}
		},
		func() planted {
			v := "hooks.slack.com/services/T" + from(8, up) + "/B" + from(8, up) + "/" + from(24, all)
			return planted{v[len(v)-24:], "POST https://" + v + " 404", `HOOK = "https://` + v + `"`}
		},
		func() planted {
			v := from(9, low)
			return planted{v, "no such user user_name=" + v + " id=4", `user = User(user_name="` + v + `")`}
		},
		func() planted {
			v := from(3, "12345678") + "-" + from(2, "123456789") + "-" + from(4, "123456789")
			return planted{v, "ssn: " + v + " is taken", `ssn = "` + v + `"`}
		},
		func() planted {
			v := "4" + from(14, num)
			v += luhnDigit(v)
			return planted{v, "card " + v + " declined", `CARD = "` + v + `"`}
		},
		func() planted {
			v := from(10, low)
			return planted{v, "open /home/" + v + "/.netrc: denied", `path = "/home/` + v + `/x"`}
		},
		func() planted {
			v := from(6, up) + " " + from(7, up)
			return planted{v, `validation failed: {"full_name": "` + v + `"}`, `{"full_name": "` + v + `"}`}
		},
	}
	r.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for range n {
		for _, make := range kinds[:20] {
			out = append(out, make())
		}
	}
	return out
}

// luhnDigit returns the last digit of the number of a card.
func luhnDigit(v string) string {
	for d := range 10 {
		sum := 0
		for i, c := range v + fmt.Sprint(d) {
			x := int(c - '0')
			if i%2 == 0 {
				if x *= 2; x > 9 {
					x -= 9
				}
			}
			sum += x
		}
		if sum%10 == 0 {
			return fmt.Sprint(d)
		}
	}
	return ""
}

// leaky writes a sample whose events and code have what is planted, and returns it.
func leaky(t *testing.T, all []planted) *sample.Sample {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sample.yaml", "name: leaky\nnow: 2026-11-20T06:00:00Z\nrepos:\n  - name: acme/shop\n    dir: shop\n    services: [shop]\n    paths: [{from: /srv/}]\n")
	var events strings.Builder
	for i := range 4 {
		mine := all[i*len(all)/4 : (i+1)*len(all)/4]
		code, message := "", ""
		for k, p := range mine {
			if k%2 == 0 {
				code += "    " + p.code + "\n"
			} else {
				message += p.message + "\n"
			}
		}
		write(fmt.Sprintf("shop/part%d.py", i), "def part(rows, n):\n"+code+"    return rows[n]\n")
		line := 2 + strings.Count(code, "\n")
		fmt.Fprintf(&events, `{"id": "e%d", "time": "2026-11-19T0%d:00:00Z", "service": "shop", "class": "IndexError%d", "message": %q, "transaction": %q, "attributes": {"note": %q}, "frames": [{"file": "/srv/part%d.py", "line": %d, "function": "part", "in_app": true}]}`+"\n",
			i, i, i, "list index out of range\n"+message, "GET /part?"+mine[1].message, mine[3].message, i, line)
	}
	write("events.jsonl", events.String())
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "All"}} {
		cmd := exec.Command("git", append([]string{"-C", filepath.Join(dir, "shop"), "-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	s, err := sample.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// 200 secrets and personal data in messages and code, 20 kinds drawn anew in each run of the test: none in prompts, on standard output and error,
// in reports, in the database, or in what other commands print of the run.
func TestNoSecretLeavesARun(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	all := plant(rand.New(rand.NewPCG(seed, 1)), 10)
	t.Logf("seed %d, %d values", seed, len(all))
	f := newField(t, leaky(t, all))
	r := f.triage("run", "--since", "2026-10-21", "--html", "page.html", "--parallel", "2", "--error-tokens", "90000", "--run-tokens", "900000")
	if r.code != 0 || !strings.Contains(r.out, "4 investigated") {
		t.Fatalf("exit %d: %s\n%s", r.code, r.out, r.errs)
	}
	seen := map[string]string{"standard output": r.out, "standard error": r.errs}
	for _, args := range [][]string{{"runs", "last", "--json"}, {"runs", "--errors"}, {"runs"}, {"runs", "last#1"}, {"run", "--dry-run", "--since", "2026-10-21"}} {
		r := f.triage(args...)
		seen["decant triage "+strings.Join(args, " ")] = r.out + r.errs
	}
	shown := ""
	for _, e := range f.Model.Log.Entries() {
		shown += string(e.Body) + string(e.Answer)
	}
	seen["prompts and answers"] = shown
	for _, name := range []string{"page.html", "t.db", "t.db-wal"} {
		b, err := os.ReadFile(f.file(name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		seen[name] = string(b)
	}
	seen["journals"] = journals(t, f.file("t.db"))
	if !strings.Contains(shown, "part0.py") || !strings.Contains(seen["journals"], "IndexError0") || !strings.Contains(seen["page.html"], "IndexError") {
		t.Fatal("the run was not looked at")
	}
	for where, text := range seen {
		for _, p := range all {
			if strings.Contains(text, p.value) {
				i := strings.Index(text, p.value)
				t.Errorf("%s has %q of %q: %.200q", where, p.value, p.message, text[max(0, i-60):])
			}
		}
	}
}

// journals returns all that the journals of a database hold.
func journals(t *testing.T, name string) string {
	t.Helper()
	db, err := embedded.Open(t.Context(), name, &embedded.Options{Engine: engine.Options{Timeouts: sandboxtest.Patient}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found, err := db.Store().Journals(t.Context(), store.JournalQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, j := range found {
		b.Write(j.Head)
		steps, err := db.Store().Steps(t.Context(), store.Key{Tenant: j.Tenant, ID: j.ID}, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			b.Write(s)
		}
	}
	return b.String()
}
