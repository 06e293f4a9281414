package doctor

import (
	"fmt"
	"os"
)

// keys checks who may use the gateway, and who may read its keys.
func (x *examination) keys() {
	if err := x.Config.CheckOpen(x.stored > 0); err != nil {
		x.say(broken, "keys", "%v", err)
		return
	}
	if err := x.Config.CheckPlain(); err != nil {
		x.say(broken, "tls", "%v", err)
	} else if x.Config.Public() && x.Config.TLS.Cert == "" {
		x.say(worry, "tls", "%s can be reached from other machines and has no certificate: keys and everything that is said cross the network in clear; set tls.cert and tls.key", x.Config.Listen)
	}
	count := fmt.Sprintf("%d in the settings, %d in the database", len(x.Config.Keys), x.stored)
	switch info, err := os.Stat(x.File); {
	case len(x.Config.Keys)+x.stored == 0:
		x.say(fine, "keys", "none: everybody on this machine is one user; only loopback is served")
	case len(x.Config.Keys) > 0 && x.File != "" && err == nil && info.Mode().Perm()&0o044 != 0:
		x.say(worry, "keys", "%s; others on this machine can read %s: chmod 600, or keep sha256 instead of key", count, x.File)
	default:
		x.say(fine, "keys", "%s", count)
	}
}
