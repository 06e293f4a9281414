package tools

import (
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/secret"
)

// secretName matches names of variables that hold secrets, by the words that they are made of.
var secretName = lazyregexp.New(`(?i)(^|[_.-])(` +
	`(\w*(api|access|private|secret|signing|encryption))?keys?|\w*tokens?|\w*secrets?|\w*passw(or)?ds?|passphrase|pass|pwd|pw|` +
	`\w*credentials?|creds?|auth|\w*cookies?|jwt|bearer|pat|dsn|sas|webhook)([_.-]|\d*$)`)

// userInURL matches a URL with a password in it.
var userInURL = lazyregexp.New(`://[^/@\s]*:[^/@\s]+@`)

// services are variables that lead to services of the machine which act for the user.
var services = map[string]bool{"SSH_AUTH_SOCK": true, "GPG_AGENT_INFO": true, "DBUS_SESSION_BUS_ADDRESS": true, "DOCKER_HOST": true, "XAUTHORITY": true}

// known are variables whose names only look like those of secrets.
var known = map[string]bool{"PWD": true, "OLDPWD": true}

// withoutSecrets returns an environment without what looks like a secret: by its name, or by its value.
func withoutSecrets(env []string) (out []string) {
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case services[name], userInURL.MatchString(value):
			continue
		case secretName.MatchString(name) && !known[name]:
			continue
		case len(secret.Find(value)) > 0:
			continue
		}
		out = append(out, v)
	}
	return out
}
