package front_test

import (
	"context"
	"crypto/tls"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/front"
	"github.com/decantdev/decant/testing/testkit"
)

func put(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// server answers handshakes with a pair and returns a function that says which serial number it shows.
func server(t *testing.T, p *front.Certificate) (shown func() int64) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", p.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.(*tls.Conn).Handshake() // the other side sees what went wrong
			conn.Close()
		}
	}()
	return func() int64 {
		conn, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
}

func TestPairIsReplacedWhileServing(t *testing.T) {
	dir := t.TempDir()
	p, err := front.LoadCertificate(testkit.Certificate(t, dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	shown := server(t, p)
	if got := shown(); got != 1 {
		t.Errorf("certificate %d, want 1", got)
	}
	testkit.Certificate(t, dir, 2)
	if got := shown(); got != 1 {
		t.Errorf("certificate %d before anybody has looked", got)
	}
	if err := p.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := shown(); got != 2 || p.Expires() != time.Unix(4_000_000_002, 0).UTC() {
		t.Errorf("certificate %d, expires %s", got, p.Expires())
	}
}

// What cannot be used is told once for each content, and again when somebody asks.
func TestWhatIsBrokenNeverReplacesWhatWorks(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := testkit.Certificate(t, dir, 1)
	p, err := front.LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	shown := server(t, p)
	said := make(chan error, 10)
	look := func() { // returns when the look has ended: none may be under way when the test changes a file
		ctx, stop := context.WithCancel(t.Context())
		tick, ended := make(chan time.Time), make(chan struct{})
		go func() {
			defer close(ended)
			p.Watch(ctx, tick, func(err error) { said <- err })
		}()
		tick <- time.Time{}
		stop()
		<-ended
	}
	look()
	if len(said) != 0 {
		t.Fatalf("nothing has changed, and it said %v", <-said)
	}
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"the certificate is cut", func() { put(t, certFile, []byte("-----BEGIN CERTIFICATE-----\nMIIB")) }, "tls.crt"},
		{"the certificate is gone", func() { os.Remove(certFile) }, "tls.cert: open"},
		{"the key is another one", func() {
			other := t.TempDir()
			fresh, _ := testkit.Certificate(t, other, 3)
			content, _ := os.ReadFile(fresh)
			put(t, certFile, content)
		}, "private key does not match"},
	} {
		c.do()
		look()
		if len(said) != 1 {
			t.Fatalf("%s: told %d times, want once", c.name, len(said))
		}
		if err := <-said; err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err := p.Reload(); err == nil {
			t.Errorf("%s: asked for, it says nothing", c.name)
		}
		if got := shown(); got != 1 {
			t.Errorf("%s: certificate %d is shown", c.name, got)
		}
	}
	testkit.Certificate(t, dir, 4)
	look()
	if err := <-said; err != nil || shown() != 4 {
		t.Errorf("whole again: %v, certificate %d", err, shown())
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	certFile, keyFile := testkit.Certificate(t, t.TempDir(), 1)
	for _, c := range []struct{ cert, key, want string }{
		{"no-such-file", keyFile, "tls.cert: open no-such-file"},
		{certFile, "no-such-file", "tls.key: open no-such-file"},
		{keyFile, certFile, keyFile},
	} {
		if _, err := front.LoadCertificate(c.cert, c.key); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.cert, c.key, err, c.want)
		}
	}
}
