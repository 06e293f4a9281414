package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/otlp"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

type doctorCmd struct {
	gatewayFlags
	Listen string     `placeholder:"ADDR" help:"Address at which clients should reach the gateway (127.0.0.1:4141)."`
	Tenant tenantName `placeholder:"NAME" help:"Tenant whose conversations are counted. Default: the only tenant of the database."`
	allFlag
}

// Run examines everything between an agent and the API. It fails when something is broken, but not when
// something only deserves attention.
func (c *doctorCmd) Run(s *streams) error {
	cfg, err := c.load(c.Listen)
	if err != nil {
		return err
	}
	out, err := outbound(cfg)
	if err != nil {
		return err
	}
	defer out.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	x := &examination{cfg: cfg, outbound: out, env: os.Getenv, now: time.Now, whose: c.Tenant, all: c.allFlag}
	x.upstream(ctx)
	x.collector(ctx)
	x.store(ctx)
	x.keys(c.Config)
	x.variables(ctx)
	x.costs()
	return x.print(s.out)
}

// verdict is how serious a finding is.
type verdict string

const (
	fine   verdict = "ok"
	note   verdict = "note"
	worry  verdict = "warn"
	broken verdict = "FAIL"
)

// A finding is one line of the diagnosis.
type finding struct {
	verdict verdict
	about   string
	text    string
}

// examination collects findings.
type examination struct {
	cfg      *config.Config
	outbound *gateway.Outbound
	env      func(string) string
	now      func() time.Time
	whose    tenantName // the tenants whose conversations are counted
	all      allFlag
	stored   int // keys in the database that are in force
	findings []finding
}

func (x *examination) say(v verdict, about, format string, args ...any) {
	x.findings = append(x.findings, finding{v, about, fmt.Sprintf(format, args...)})
}

// print prints the findings. It returns an error when something is broken.
func (x *examination) print(w io.Writer) error {
	n := 0
	for _, f := range x.findings {
		if f.verdict == broken {
			n++
		}
		if _, err := fmt.Fprintf(w, "%-4s  %-12s  %s\n", f.verdict, f.about, f.text); err != nil {
			return err
		}
	}
	if n > 0 {
		return fmt.Errorf("broken: %d of %d", n, len(x.findings))
	}
	return nil
}

// upstream finds out whether the API answers, and how far this machine's clock is off. It needs no
// credentials, because any answer will do.
func (x *examination) upstream(ctx context.Context) {
	base := x.cfg.Destinations()[0].String()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, base, nil)
	if err != nil {
		x.say(broken, "upstream", "%v", err)
		return
	}
	begin := x.now()
	res, err := (&http.Client{Transport: x.outbound, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	if err != nil {
		x.say(broken, "upstream", "%v (check anthropic_upstream, HTTPS_PROXY and, behind a proxy with its own certificates, ca)", err)
		return
	}
	defer res.Body.Close()
	end := x.now()
	x.say(fine, "upstream", "%s answers after %d ms", base, end.Sub(begin).Milliseconds())
	x.clock(res.Header.Get("Date"), begin, end)
}

// clock compares this machine's clock with the upstream's.
func (x *examination) clock(date string, begin, end time.Time) {
	there, err := http.ParseTime(date)
	if err != nil {
		x.say(note, "clock", "the upstream does not say what time it is")
		return
	}
	skew := offset(there, begin, end).Round(time.Second)
	switch {
	case skew.Abs() > 5*time.Minute:
		x.say(broken, "clock", "this machine is %s off; when the provider's cache is cold and what a day cost will be wrong", skew)
	case skew.Abs() > 30*time.Second:
		x.say(worry, "clock", "this machine is %s off", skew)
	default:
		x.say(fine, "clock", "within %d s of the upstream's", max(1, int(skew.Abs().Seconds())))
	}
}

// offset returns by how many whole seconds, at least, a clock is ahead of another one that showed the time
// there at some moment between begin and end. Network delay must not count as skew.
func offset(there, begin, end time.Time) time.Duration {
	switch until := there.Add(time.Second); {
	case begin.After(until):
		return begin.Sub(until)
	case end.Before(there):
		return end.Sub(there)
	}
	return 0
}

// store finds out whether the database can be read and written.
func (x *examination) store(ctx context.Context) {
	path, err := databasePath(x.cfg.DB)
	if err != nil {
		x.say(broken, "store", "%v", err)
		return
	}
	if _, err := encryptionKey(x.cfg); err != nil {
		x.say(broken, "store", "%v", err)
		return
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		x.folder(path)
		return
	}
	db, err := openStore(ctx, x.cfg, path, sqlite.Options{})
	if err != nil {
		x.say(broken, "store", "%v", err)
		return
	}
	defer db.Close()
	if x.stored, err = storedCount(ctx, db); err != nil {
		x.say(broken, "keys", "%v", err)
	}
	count, err := x.count(ctx, db)
	if usage := (usageError{}); errors.As(err, &usage) {
		x.say(note, "store", "%v", err)
	} else if err != nil {
		x.say(broken, "store", "%v", err)
		return
	}
	// Indexing is a write test that is useful and changes nothing visible.
	if _, err := db.Index(ctx, 1); err != nil {
		x.say(broken, "store", "%s can be read but not written: %v", path, err)
		return
	}
	x.say(fine, "store", "%s can be read and written%s%s", path, count, encryptedBy(db))
}

// encryptedBy names the key under which a database is encrypted, if it is.
func encryptedBy(db *sqlite.DB) string {
	if id := db.KeyID(); id != "" {
		return "; encrypted under the key " + id
	}
	return ""
}

// mostCounted is how many conversations of a tenant are counted at most.
const mostCounted = 1000

// count says how many conversations the requested tenants have.
func (x *examination) count(ctx context.Context, db *sqlite.DB) (string, error) {
	tenants, err := x.whose.chosen(ctx, db, &x.all)
	if err != nil {
		return "", err
	}
	out := ""
	for _, t := range tenants {
		cs, err := db.Conversations(ctx, store.Filter{Tenant: t, Limit: mostCounted})
		if err != nil {
			return "", err
		}
		out += "; " + report.Count(len(cs), "conversation")
		if len(cs) == mostCounted {
			out += " or more"
		}
		if t != "" || len(tenants) > 1 {
			out += " of " + shown(t)
		}
	}
	return out, nil
}

// folder finds out whether a database could be made.
func (x *examination) folder(path string) {
	dir := filepath.Dir(path)
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".decant-doctor-*")
	if err != nil {
		x.say(broken, "store", "%s does not exist and cannot be made: %v", path, err)
		return
	}
	f.Close()
	os.Remove(f.Name())
	x.say(fine, "store", "%s does not exist yet and can be made", path)
}

// keys checks who may use the gateway, and who may read its keys.
func (x *examination) keys(file string) {
	if file == "" {
		file = x.env("DECANT_CONFIG")
	}
	if err := x.cfg.CheckOpen(x.stored > 0); err != nil {
		x.say(broken, "keys", "%v", err)
		return
	}
	if x.cfg.Public() && x.cfg.TLS.Cert == "" {
		x.say(worry, "tls", "%s can be reached from other machines and has no certificate: keys and everything that is said cross the network in clear; set tls.cert and tls.key", x.cfg.Listen)
	}
	count := fmt.Sprintf("%d in the settings, %d in the database", len(x.cfg.Keys), x.stored)
	switch info, err := os.Stat(file); {
	case len(x.cfg.Keys)+x.stored == 0:
		x.say(fine, "keys", "none: everybody on this machine is one user; only loopback is served")
	case len(x.cfg.Keys) > 0 && file != "" && err == nil && info.Mode().Perm()&0o044 != 0:
		x.say(worry, "keys", "%s; others on this machine can read %s: chmod 600, or keep sha256 instead of key", count, file)
	default:
		x.say(fine, "keys", "%s", count)
	}
}

// storedCount returns how many keys in a database are in force.
func storedCount(ctx context.Context, db store.Keyring) (n int, err error) {
	keys, err := db.TenantKeys(ctx)
	for i := range keys {
		if keys[i].Revoked.IsZero() {
			n++
		}
	}
	return n, err
}

// variables checks the environment in which clients would start.
func (x *examination) variables(ctx context.Context) {
	want := "http://" + x.cfg.Listen
	if x.cfg.TLS.Cert != "" {
		want = "https://" + x.cfg.Listen
	}
	switch base := strings.TrimSuffix(x.env("ANTHROPIC_BASE_URL"), "/"); {
	case base == "":
		x.say(note, "clients", "ANTHROPIC_BASE_URL is not set: clients of this shell go straight to the API; export ANTHROPIC_BASE_URL=%s, or use decant run", want)
	case strings.HasSuffix(base, "/v1"):
		x.say(broken, "clients", "ANTHROPIC_BASE_URL=%s: clients append /v1 themselves; set %s", base, want)
	case base != want && base != strings.Replace(want, "127.0.0.1", "localhost", 1):
		x.say(worry, "clients", "ANTHROPIC_BASE_URL=%s is not this gateway (%s)", base, want)
	default:
		x.listening(ctx, want)
	}
	for _, name := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		if x.env(name) != "" {
			x.say(worry, "clients", "%s is set: Claude Code talks to that service and not to ANTHROPIC_BASE_URL", name)
		}
	}
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"} {
		if strings.HasPrefix(x.env(name), want) {
			x.say(worry, "clients", "%s leads clients of OpenAI to this gateway, which manages the Messages API and refuses theirs", name)
		}
	}
	proxy := x.env("HTTP_PROXY") + x.env("http_proxy")
	if except := x.env("NO_PROXY") + x.env("no_proxy"); proxy != "" && !strings.Contains(except, "127.0.0.1") && except != "*" {
		x.say(worry, "clients", "HTTP_PROXY is set and NO_PROXY does not hold 127.0.0.1: clients may ask the proxy for the gateway; add 127.0.0.1,localhost to NO_PROXY")
	}
}

// listening finds out whether a gateway listens where clients look for it.
func (x *examination) listening(ctx context.Context, base string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/healthz", nil)
	if err != nil {
		x.say(broken, "clients", "%v", err)
		return
	}
	ca, err := authorities(x.cfg)
	if err != nil {
		x.say(broken, "clients", "%v", err)
		return
	}
	here, err := gateway.NewOutbound(gateway.OutboundOptions{Allow: []*url.URL{req.URL}, CA: ca, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }})
	if err != nil {
		x.say(broken, "clients", "%v", err)
		return
	}
	defer here.CloseIdleConnections()
	res, err := (&http.Client{Transport: here, Timeout: 5 * time.Second}).Do(req)
	if err != nil {
		x.say(broken, "clients", "ANTHROPIC_BASE_URL names this gateway, and nothing answers there: start decant serve (%v)", errors.Unwrap(err))
		return
	}
	res.Body.Close()
	x.say(fine, "clients", "ANTHROPIC_BASE_URL names this gateway, and it answers")
}

// costs says what each client loses by a base URL that is not the provider's.
func (x *examination) costs() {
	if x.env("ENABLE_TOOL_SEARCH") == "" && x.env(firstParty) == "" {
		x.say(note, "Claude Code", "with a base URL of its own it sends all MCP tools instead of searching them; ENABLE_TOOL_SEARCH=true brings the search back")
	}
	switch {
	case x.env(firstParty) != "":
		x.say(fine, "Claude Code", "%s is set: windows of 1M tokens and tool search as without a gateway", firstParty)
	case x.cfg.Destinations()[0].Hostname() == firstPartyHost:
		x.say(note, "Claude Code", "with a base URL of its own it counts on 200,000 tokens where the model has 1M; %s=1 tells it that the requests reach %s (decant run sets it)", firstParty, firstPartyHost)
	}
	x.say(note, "Claude Code", "remote control does not work with a base URL of its own")
	x.say(note, "opencode", "reads provider.anthropic.options.baseURL from its configuration, with /v1 at the end, not ANTHROPIC_BASE_URL (decant run sets it)")
	x.say(note, "SDKs", "Go, Python and TypeScript read ANTHROPIC_BASE_URL; it costs them nothing")
}

// firstParty tells Claude Code that its base URL leads to the provider's own API, which is true when
// the upstream is firstPartyHost.
const (
	firstParty     = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL"
	firstPartyHost = "api.anthropic.com"
)

// collector finds out whether the collector accepts traces, by sending an empty list.
func (x *examination) collector(ctx context.Context) {
	e := &x.cfg.Tracing.Export
	if e.URL == "" {
		return
	}
	at, header, err := collectorOf(e)
	if err != nil {
		x.say(broken, "traces", "%v", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := otlp.New(otlp.Options{Endpoint: at, Header: header, Base: x.outbound}).UploadTraces(ctx, nil); err != nil {
		x.say(worry, "traces", "%s: %v; requests are not affected, traces are lost", e.URL, err)
		return
	}
	x.say(fine, "traces", "%s takes them", e.URL)
}
