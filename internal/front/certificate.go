package front

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A Certificate is a certificate with its key, as two files hold it. It is safe for concurrent use.
type Certificate struct {
	cert, key string // names of files
	current   atomic.Pointer[tls.Certificate]

	mu    sync.Mutex
	tried string // what the files held, or why they could not be read, when they were looked at last
}

// LoadCertificate returns the pair in two PEM files.
func LoadCertificate(cert, key string) (*Certificate, error) {
	p := &Certificate{cert: cert, key: key}
	if err := p.Reload(); err != nil {
		return nil, err
	}
	return p, nil
}

// Config returns a configuration for servers. Each handshake uses what is newest then.
func (p *Certificate) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.current.Load(), nil },
	}
}

// Expires returns when the certificate in use expires.
func (p *Certificate) Expires() time.Time { return p.current.Load().Leaf.NotAfter }

// Reload takes what the files hold now. When that is no pair it says why, and the pair in use stays.
func (p *Certificate) Reload() error {
	_, err := p.look(true)
	return err
}

// Watch looks at the files with every tick until the context ends. It calls changed once for each new content:
// with nil when that is in use now, else with why it is not.
func (p *Certificate) Watch(ctx context.Context, tick <-chan time.Time, changed func(error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		if news, err := p.look(false); news {
			changed(err)
		}
	}
}

// look reads the files, and uses what they hold if it is new or if it must be tried anew. It reports whether it
// was new.
func (p *Certificate) look(anew bool) (news bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cert, key, err := p.read()
	found := fmt.Sprint(err)
	if err == nil {
		found = digest(cert, key)
	}
	news = found != p.tried
	p.tried = found
	if err != nil || !news && !anew {
		return news, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return news, fmt.Errorf("tls: %s and %s: %w", p.cert, p.key, err)
	}
	p.current.Store(&pair)
	return news, nil
}

// read returns the content of both files.
func (p *Certificate) read() (cert, key []byte, err error) {
	if cert, err = os.ReadFile(p.cert); err != nil {
		return nil, nil, fmt.Errorf("tls.cert: %w", err)
	}
	if key, err = os.ReadFile(p.key); err != nil {
		return nil, nil, fmt.Errorf("tls.key: %w", err)
	}
	return cert, key, nil
}

// digest tells contents apart without keeping the key in memory once more.
func digest(cert, key []byte) string {
	sum := sha256.Sum256(bytes.Join([][]byte{cert, key}, []byte{0}))
	return string(sum[:])
}
