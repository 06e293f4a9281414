package tools

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// errPrivate means that an address is not one of the public network.
var errPrivate = errors.New("its address is not public")

// reserved are addresses that are not of the public network, besides those that package netip knows: RFC 6890 and its
// registries, forms that carry an IPv4 address inside, and two that clouds give to services of the machine.
var reserved = prefixes(`0.0.0.0/8 100.64.0.0/10 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4
	::/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fec0::/10 168.63.129.16/32`)

func prefixes(s string) (out []netip.Prefix) {
	for _, p := range strings.Fields(s) {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// public reports whether an address is one of the public network.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	return !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

// A dialer connects to public addresses, and to hosts that are named.
type dialer struct {
	private []string // hosts that may have any address, in lower case, with or without a port
}

// dial connects. The address is looked at when it is known and nothing can change it any longer: in the moment of the connection.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n := net.Dialer{Timeout: 10 * time.Second}
	if !d.named(address) {
		n.Control = func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || !public(at.Addr()) {
				return fmt.Errorf("%w: %s", errPrivate, address)
			}
			return nil
		}
	}
	return n.DialContext(ctx, network, address)
}

// named reports whether a host may have any address.
func (d *dialer) named(address string) bool {
	address = strings.ToLower(address)
	host, _, err := net.SplitHostPort(address)
	return err == nil && (slices.Contains(d.private, address) || slices.Contains(d.private, host))
}
