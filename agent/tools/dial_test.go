package tools

import (
	"net/netip"
	"testing"
)

func TestPublic(t *testing.T) {
	for _, a := range []string{"1.1.1.1", "8.8.8.8", "172.32.0.1", "192.167.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8"} {
		if !public(netip.MustParseAddr(a)) {
			t.Errorf("%s is public", a)
		}
	}
	for _, a := range []string{"0.1.2.3", "198.18.0.1", "240.0.0.1", "192.0.2.1", "fe80::1%eth0", "fec0::1", "2001::1", "2001:db8::1", "64:ff9b:1::1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "fc00::1", "::"} {
		if public(netip.MustParseAddr(a)) {
			t.Errorf("%s is not public", a)
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// An address that carries another one is no more public than that.
func FuzzPublic(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1})
	f.Add([]byte{10, 1, 2, 3})
	f.Add([]byte{8, 8, 8, 8})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) != 4 {
			t.Skip()
		}
		a := netip.AddrFrom4([4]byte(b))
		if !a.IsGlobalUnicast() || a.IsPrivate() {
			if public(a) {
				t.Errorf("%s is public", a)
			}
		}
		mapped := netip.AddrFrom16(a.As16())
		if public(mapped) != public(a) {
			t.Errorf("%s is public: %t, %s: %t", a, public(a), mapped, public(mapped))
		}
		for _, with := range []netip.Addr{with(0x00, 0x64, a), with(0x20, 0x02, a)} {
			if public(with) {
				t.Errorf("%s is public", with)
			}
		}
	})
}

// with returns an address that carries another one: 64:ff9b::a.b.c.d or 2002:abcd::.
func with(first, second byte, a netip.Addr) netip.Addr {
	b := [16]byte{0: first, 1: second}
	four := a.As4()
	if first == 0x20 {
		copy(b[2:], four[:])
	} else {
		b[2], b[3] = 0xff, 0x9b
		copy(b[12:], four[:])
	}
	return netip.AddrFrom16(b)
}
