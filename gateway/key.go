package gateway

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/keyring"
)

// keyHeader is where a client sends its key.
const keyHeader = "X-Decant-Key"

// identify finds out whose request it is, and reports whether it may pass. If not, identify answers it.
func (g *Gateway) identify(w http.ResponseWriter, r *http.Request, v *visit) bool {
	if g.opts.Keys == nil {
		return true
	}
	pass, err := g.opts.Keys.Admit(r.Header.Get(keyHeader))
	if pass != nil {
		v.pass, v.tenant = pass, pass.Tenant
	}
	switch rate := (*keyring.RateError)(nil); {
	case err == nil:
		return true
	case errors.As(err, &rate):
		w.Header().Set("Retry-After", strconv.Itoa(rate.Seconds()))
		refuse(w, v.api, http.StatusTooManyRequests, dialect.TooMany, "decant: "+err.Error())
	default:
		refuse(w, v.api, http.StatusUnauthorized, dialect.Unauthenticated, "decant: "+err.Error())
	}
	return false
}

// guarded reports whether requests come from people who do not run the gateway.
func (g *Gateway) guarded(*http.Request) bool { return g.opts.Keys != nil && g.opts.Keys.Closed() }

// budgetsOf returns the budgets of a request's key.
func budgetsOf(r *http.Request) (out []budget.Budget) {
	if pass := of(r.Context()).pass; pass != nil {
		for _, a := range pass.Limits.Budgets {
			out = append(out, budget.Budget(a))
		}
	}
	return out
}

// used returns how many tokens a visit counts towards a limit per minute. As with the provider's own limits, tokens
// read from the provider's cache do not count. If no usage was reported, the size of the bodies decides.
func (v *visit) used() int {
	const bytesPerToken = 4
	switch u := v.usage; {
	case v.tries == 0 || v.door.Kind == dialect.Count:
		return 0
	case u.Prompt() > 0:
		return u.Input + u.CacheWrite + u.Output
	case v.status/100 != 2:
		return 0
	case v.door.Kind == dialect.Prompt:
		return int(max(0, v.out)+v.in) / bytesPerToken
	}
	return int(max(0, v.out)) / bytesPerToken // a batch, for example. The answer does not count: it may be a file
}
