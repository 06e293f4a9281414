package front

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// own reports whether the socket from an address to another belongs to the user of this process, or to root. One that
// is not listed does not: it has ended.
func own(from, to netip.AddrPort) bool {
	for _, file := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		uid, err := ownerIn(file, from, to)
		if err != nil {
			return true // the system does not say
		}
		if uid >= 0 {
			return uid == 0 || uid == os.Getuid()
		}
	}
	return false
}

// ownerIn returns the user of a socket that a file of proc_net(5) lists; -1: it lists no such socket.
func ownerIn(file string, from, to netip.AddrPort) (int, error) {
	f, err := os.Open(file)
	if os.IsNotExist(err) && strings.HasSuffix(file, "6") {
		return -1, nil // a machine without IPv6
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// sl local_address rem_address st queues timer retransmits uid ...
		col := strings.Fields(lines.Text())
		if len(col) < 8 || !isAddress(col[1], from) || !isAddress(col[2], to) {
			continue
		}
		return strconv.Atoi(col[7])
	}
	return -1, lines.Err()
}

// isAddress reports whether a text such as "0100007F:1F90" is an address: words of 32 bits in the byte order of the
// machine, and the port.
func isAddress(text string, a netip.AddrPort) bool {
	host, port, ok := strings.Cut(text, ":")
	if n, err := strconv.ParseUint(port, 16, 16); !ok || err != nil || uint16(n) != a.Port() {
		return false
	}
	b, err := hex.DecodeString(host)
	if err != nil || len(b)%4 != 0 {
		return false
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	ip, ok := netip.AddrFromSlice(b)
	return ok && ip.Unmap() == a.Addr().Unmap()
}
