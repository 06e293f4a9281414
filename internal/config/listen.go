package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// ErrOpen means that a gateway would serve everybody who reaches it from other machines.
var ErrOpen = errors.New("no keys are configured")

// Public reports whether the gateway can be reached from other machines.
func (c *Config) Public() bool { return public(c.Listen) }

// MetricsPublic reports whether the listener of metrics can be reached from other machines.
func (c *Config) MetricsPublic() bool { return c.Metrics != "" && public(c.Metrics) }

// CheckOpen insists on keys where others can reach the gateway; stored says that the database has some.
func (c *Config) CheckOpen(stored bool) error {
	if len(c.Keys) > 0 || stored || !c.Public() {
		return nil
	}
	return fmt.Errorf("listen: %s can be reached from other machines, and %w; make one with \"decant key add TENANT\", add keys to the configuration file, set DECANT_KEYS=TENANT:KEY, or listen on 127.0.0.1", c.Listen, ErrOpen)
}

// CheckPlain insists on TLS where others can reach the server, unless plain HTTP is asked for by name.
func (c *Config) CheckPlain() error {
	if c.TLS.Cert != "" || c.Plain || !c.Public() {
		return nil
	}
	return fmt.Errorf("listen: %s can be reached from other machines, and without TLS keys and everything that is said would cross the network in clear; "+
		"set tls.cert and tls.key, listen on 127.0.0.1 behind a proxy on this machine that ends TLS, "+
		"or ask for it by plain_http: true (DECANT_PLAIN_HTTP=true, --plain-http)", c.Listen)
}

// checkListen finds invalid addresses, and a certificate without its key.
func (c *Config) checkListen() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("listen: %q is not an address like 127.0.0.1:4141", c.Listen)
	}
	if _, _, err := net.SplitHostPort(c.Metrics); err != nil && c.Metrics != "" {
		return fmt.Errorf("metrics_listen: %q is not an address like 127.0.0.1:9141", c.Metrics)
	}
	switch {
	case c.TLS.Cert == "" && c.TLS.Key != "":
		return errors.New("tls: a key without a certificate; set tls.cert (DECANT_TLS_CERT, --tls-cert)")
	case c.TLS.Cert != "" && c.TLS.Key == "":
		return errors.New("tls: a certificate without a key; set tls.key (DECANT_TLS_KEY, --tls-key)")
	}
	return nil
}

// public reports whether an address can be reached from other machines.
func public(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err != nil || !Loopback(host)
}

// Loopback reports whether an address of the host can be reached from this machine only.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
