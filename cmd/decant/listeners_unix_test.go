//go:build unix

package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// A server is a gateway that runs as its users run it.
type server struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	log  chan string // its lines; closed at its end
	base string
	attr map[string]string // of the line that says that it serves
}

var attribute = regexp.MustCompile(`(\w+)=("[^"]*"|\S+)`)

// start runs "decant serve" with settings in a file.
func start(t *testing.T, settings string, args ...string) *server {
	t.Helper()
	p := &server{t: t, dir: t.TempDir(), log: make(chan string, 100_000), attr: map[string]string{}}
	p.configure(settings)
	p.cmd = exec.Command("decant", append([]string{"serve", "--config", p.file("decant.yaml"), "--listen", "127.0.0.1:0"}, args...)...)
	p.cmd.Env = append(os.Environ(), "DECANT_DB="+p.file("d.db"))
	out, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	go func() {
		defer close(p.log)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.log <- lines.Text()
		}
	}()
	for _, m := range attribute.FindAllStringSubmatch(p.says("msg=serving"), -1) {
		p.attr[m[1]] = m[2]
	}
	p.base = "http://" + p.attr["listen"]
	if p.attr["tls"] == "true" {
		p.base = "https://" + p.attr["listen"]
	}
	return p
}

func (p *server) file(name string) string { return filepath.Join(p.dir, name) }

// configure writes the settings.
func (p *server) configure(settings string) {
	p.t.Helper()
	if err := os.WriteFile(p.file("decant.yaml"), []byte(settings), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// says waits for a line of the log that holds text, and returns it.
func (p *server) says(text string) string {
	p.t.Helper()
	for line := range p.log {
		if strings.Contains(line, text) {
			return line
		}
	}
	p.t.Fatalf("the gateway has ended and not said %q", text)
	return ""
}

func (p *server) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// decant runs another command on the gateway's database and returns what it prints.
func (p *server) decant(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("decant", args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "DECANT_DB="+p.file("d.db")), &strings.Builder{}
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("decant %v: %v\n%s", args, err, cmd.Stderr)
	}
	return strings.TrimSpace(string(out))
}

// request returns a request for a message with a key.
func (p *server) request(key string) *http.Request {
	p.t.Helper()
	const hello = `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"Hello."}]}`
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.base+"/v1/messages", strings.NewReader(hello))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header = http.Header{"X-Decant-Key": {key}, "X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
	return r
}

// ask sends a request for a message with a key, and returns the status and whose certificate it saw.
func (p *server) ask(key string) (status int, serial int64) {
	p.t.Helper()
	// Each request has a connection of its own, and with it a handshake.
	tr := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(s tls.ConnectionState) error {
		serial = s.PeerCertificates[0].SerialNumber.Int64()
		return nil
	}}}
	res, err := (&http.Client{Transport: tr}).Do(p.request(key))
	if err != nil {
		p.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode, serial
}

// becomes waits until a key has a status. It asks over and over, so over one connection.
func (p *server) becomes(key string, want int) {
	p.t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	testkit.Eventually(p.t, fmt.Sprintf("the key has status %d", want), func() bool {
		res, err := client.Do(p.request(key))
		if err != nil {
			p.t.Fatal(err)
		}
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, res.Body) // so that the connection can be used again
		return err == nil && res.StatusCode == want
	})
}

func (p *server) has(when, key string, want int) {
	p.t.Helper()
	if got, _ := p.ask(key); got != want {
		p.t.Errorf("%s: status %d, want %d", when, got, want)
	}
}

func upstream(t *testing.T) string {
	t.Helper()
	up := httptest.NewServer(sandbox.New(sandbox.Options{}))
	t.Cleanup(up.Close)
	return up.URL
}

func TestKeysAndCertificatesOfARunningGateway(t *testing.T) {
	t.Parallel()
	certs := t.TempDir()
	certFile, keyFile := testkit.Certificate(t, certs, 1)
	settings := fmt.Sprintf("anthropic_upstream: %s\ntls: {cert: %s, key: %s}\nmetrics_listen: 127.0.0.1:0\nkeys: [{tenant: alice, key: %%s}]\n", upstream(t), certFile, keyFile)
	p := start(t, fmt.Sprintf(settings, "one"))
	p.has("its key", "one", 200)
	p.has("no key", "", 401)

	bob := p.decant("key", "add", "bob", "--note", "laptop")
	p.becomes(bob, 200)

	p.configure("keys: [")
	p.signal(syscall.SIGHUP)
	if line := p.says("the settings cannot be used; the keys of the old ones stay in force"); !strings.Contains(line, "decant.yaml") {
		t.Error(line)
	}
	p.has("after broken settings", "one", 200)
	p.configure(fmt.Sprintf(settings, "two"))
	p.signal(syscall.SIGHUP)
	p.says("msg=reloaded keys=2") // of the broken settings
	p.says("msg=reloaded keys=2")
	p.has("the old key", "one", 401)
	p.has("the new key", "two", 200)
	p.has("a stored key", bob, 200)

	testkit.Certificate(t, certs, 2)
	p.signal(syscall.SIGHUP)
	p.says("msg=reloaded")
	if _, serial := p.ask("two"); serial != 2 {
		t.Errorf("certificate %d, want the second", serial)
	}
	os.WriteFile(certFile, []byte("no certificate"), 0o600)
	p.signal(syscall.SIGHUP)
	if line := p.says("the certificate cannot be used; the old one stays in force"); !strings.Contains(line, certFile) {
		t.Error(line)
	}
	if status, serial := p.ask("two"); status != 200 || serial != 2 {
		t.Errorf("status %d, certificate %d after a broken one", status, serial)
	}
	p.metrics()

	id := strings.Split(bob, "_")[1]
	p.decant("key", "revoke", id)
	p.becomes(bob, 401)
	if audit := p.decant("audit"); !strings.Contains(audit, "key revoke") || strings.Contains(audit, bob) {
		t.Error(audit)
	}
	p.signal(syscall.SIGTERM)
	p.says("msg=stopped")
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	db, _ := os.ReadFile(p.file("d.db"))
	if wal, _ := os.ReadFile(p.file("d.db-wal")); strings.Contains(string(db)+string(wal), bob) {
		t.Error("the key itself is in the database")
	}
}

// metrics checks what the listener of metrics shows.
func (p *server) metrics() {
	p.t.Helper()
	res, err := http.Get("http://" + p.attr["metrics"] + "/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	docs, err := os.ReadFile("../../docs/RUNNING.md")
	if err != nil {
		p.t.Fatal(err)
	}
	named := regexp.MustCompile(`decant_[a-z_]+`).FindAllString(string(docs), -1) // what alerts are made of
	if len(named) < 9 {
		p.t.Errorf("the page names the metrics %q", named)
	}
	for _, want := range append(named, "decant_build_info{", `decant_database_bytes{file="data"} `, "decant_keys 2\n", "decant_certificate_expires_seconds 4.000000002e+09", `decant_usd_total{kind="spent"}`) {
		if !strings.Contains(string(text), want) {
			p.t.Errorf("the metrics lack %s", want)
		}
	}
}

// The client of a certificate's own authority needs no exception.
func TestTLSIsWhatItSays(t *testing.T) {
	certFile, keyFile := testkit.Certificate(t, t.TempDir(), 1)
	p := start(t, "anthropic_upstream: "+upstream(t), "--tls-cert", certFile, "--tls-key", keyFile)
	authority, err := os.ReadFile(certFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	res, err := client.Get(p.base + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 || res.ProtoMajor != 2 || res.TLS.Version < tls.VersionTLS12 {
		t.Errorf("%s over %s", res.Status, res.Proto)
	}
}
