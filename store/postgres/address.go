package postgres

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// mostConns is how many connections there are by default.
const mostConns = 10

// parse reads the address of a database. Its errors do not quote the address.
func parse(address string) (cfg *pgconn.Config, most int, err error) {
	if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
		return nil, 0, errors.New("the address has to be a URL, postgres://USER@HOST/DATABASE")
	}
	cfg, err = pgconn.ParseConfig(address)
	if err != nil {
		return nil, 0, errors.New("the address is no valid postgres:// URL, or names a file with a certificate or a password that cannot be read")
	}
	if !strings.Contains(address, "sslmode=") && !safe(cfg) {
		sign := "?"
		if strings.Contains(address, "?") {
			sign = "&"
		}
		if cfg, err = pgconn.ParseConfig(address + sign + "sslmode=verify-full"); err != nil {
			return nil, 0, errors.New("the address cannot be used with sslmode=verify-full")
		}
	}
	if !safe(cfg) {
		return nil, 0, errors.New("beyond this machine the connection must be encrypted and the server verified: use sslmode=verify-full")
	}
	most = mostConns
	if n, ok := cfg.RuntimeParams["pool_max_conns"]; ok {
		delete(cfg.RuntimeParams, "pool_max_conns")
		if most, err = strconv.Atoi(n); err != nil || most < 1 {
			return nil, 0, errors.New("pool_max_conns of the address has to be a number from 1 on")
		}
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "decant"
	}
	return cfg, most, nil
}

// safe reports whether every server that may be connected to is on this machine or verified.
func safe(cfg *pgconn.Config) bool {
	all := append([]*pgconn.FallbackConfig{{Host: cfg.Host, TLSConfig: cfg.TLSConfig}}, cfg.Fallbacks...)
	for _, f := range all {
		// With verify-ca the certificate is verified by a function of its own.
		verified := f.TLSConfig != nil && (!f.TLSConfig.InsecureSkipVerify || f.TLSConfig.VerifyPeerCertificate != nil)
		if !verified && !local(f.Host) {
			return false
		}
	}
	return true
}

// local reports whether a host is this machine: a socket in the file system, or loopback.
func local(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && net.IP(ip.AsSlice()).IsLoopback()
}
