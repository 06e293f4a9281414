package tools

import (
	"path/filepath"
	"slices"
	"strings"
)

// machineFiles are the files and folders in /etc that programs need, as patterns. All else there is hidden from commands that see nothing but
// programs: services keep their settings in /etc, with keys and passwords in them.
var machineFiles = strings.Fields(`
	ld.so.cache ld.so.conf ld.so.conf.d ld.so.preload ld-musl-*.path
	passwd group nsswitch.conf hosts host.conf hostname resolv.conf gai.conf services protocols networks rpc
	ssl/certs ssl/cert.pem ssl/openssl.cnf pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/ca-trust crypto-policies ca-certificates ca-certificates.conf
	localtime timezone locale.conf locale.alias locale.gen default/locale
	os-release lsb-release debian_version redhat-release fedora-release alpine-release arch-release
	alternatives static profiles terminfo inputrc bash.bashrc DIR_COLORS mime.types magic papersize fonts
	perl python* java-* R julia texmf ImageMagick-* emacs`)

// machine returns what is there of it, and where the links among it lead to, but for what is hidden anyway.
func machine(hide []string) (out []string) {
	for _, pattern := range machineFiles {
		names, err := filepath.Glob(filepath.Join("/etc", pattern))
		if err != nil {
			panic("tools: " + pattern + ": " + err.Error())
		}
		for _, name := range names {
			real, err := filepath.EvalSymlinks(name)
			if err != nil {
				continue // a link that leads nowhere
			}
			for _, at := range []string{name, real} {
				if !slices.Contains(out, at) && !slices.ContainsFunc(hide, func(h string) bool { return below(at, h) || below(real, h) }) {
					out = append(out, at)
				}
			}
		}
	}
	return out
}
