package front

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// asNobody names an address that a child of the test asks.
const asNobody = "DECANT_TEST_ASK"

func TestMain(m *testing.M) {
	if url := os.Getenv(asNobody); url != "" {
		res, err := http.Get(url)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		io.Copy(os.Stdout, res.Body)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A request of another user of the machine is told from one's own, over IPv4 and IPv6.
func TestOtherUser(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err)
			continue
		}
		srv := Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, OtherUser(r)) }), slog.New(slog.DiscardHandler))
		go srv.Serve(l)
		defer srv.Close()
		ask := func(uid uint32) string {
			c := exec.Command("/proc/self/exe")
			c.Env = append(os.Environ(), asNobody+"=http://"+l.Addr().String())
			if uid > 0 {
				c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
			}
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			return string(out)
		}
		if got := ask(0); got != "false" {
			t.Errorf("%s: own request: %s", address, got)
		}
		if os.Getuid() != 0 {
			continue // only root may become somebody else
		}
		if got := ask(65534); got != "true" {
			t.Errorf("%s: request of another user: %s", address, got)
		}
	}
}
