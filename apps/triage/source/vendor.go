package source

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/process"
)

// A vendor is who runs a service, and what belongs together of it: a credential is sent nowhere else.
type vendor struct {
	prefix  string   // of the variables that are about it
	key     string   // the variable with the credential
	address string   // the variable by which a user names another address than the vendor's
	hosts   []string // of the vendor; one that begins with a dot stands for all that end with it
}

var vendors = map[string]vendor{
	"newrelic": {"NEW_RELIC_", "NEW_RELIC_API_KEY", "NEW_RELIC_URL", []string{"api.newrelic.com", "api.eu.newrelic.com", "api.jp.newrelic.com"}},
	"sentry":   {"SENTRY_", "SENTRY_AUTH_TOKEN", "SENTRY_URL", []string{"sentry.io", ".sentry.io"}},
}

// ownFile says where a user says what a repository cannot.
const ownFile = "keep the settings in a file of your own, outside of any repository, and name it with --config"

// names reports whether a variable is about the vendor.
func (v vendor) names(variable string) bool {
	return strings.HasPrefix(strings.TrimPrefix(variable, "DECANT_TRIAGE_"), v.prefix)
}

// has reports whether an address is the vendor's.
func (v vendor) has(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Port() != "" && u.Port() != "443" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(v.hosts, func(h string) bool { return host == h || h[0] == '.' && strings.HasSuffix(host, h) })
}

// bound returns an error where an entry of a repository would have a credential sent to an address that is neither the
// one that the user's environment names nor, where it names none, the vendor's.
func (e *entry) bound(p *process.Process) error {
	v := vendors[e.Type]
	users := variable(p, v.address)
	same := strings.TrimRight(e.BaseURL, "/") == strings.TrimRight(users, "/")
	if e.BaseURL == "" || e.own || same || users == "" && v.has(e.BaseURL) {
		return nil
	}
	return fmt.Errorf("%q; a repository does not choose where your credential is sent: say %s=... in your environment, or %s", cut(e.BaseURL, 100), v.address, ownFile)
}
