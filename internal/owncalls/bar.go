package owncalls

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/decantdev/decant/provider"
)

// A bar keeps the configured account from asking again and again for what its provider refuses whatever is asked: with a credential that it
// does not take, or of a model that it does not have. It is safe for concurrent use.
type bar struct {
	mu    sync.Mutex
	until map[string]barred // by model; "" stands for all: the credential is not taken
}

type barred struct {
	at  time.Time
	why error
}

// refuses returns an error that wraps ErrRefused while a model is not asked.
func (b *bar) refuses(model string, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range []string{"", model} {
		if x := b.until[m]; now.Before(x.at) {
			return fmt.Errorf("%w; it is not asked again before %s", x.why, x.at.UTC().Format("15:04 UTC"))
		}
	}
	return nil
}

// note learns from how a call has ended, for so long.
func (b *bar) note(model string, err error, until time.Time) {
	f := (*provider.Failure)(nil)
	if !errors.As(err, &f) {
		return
	}
	switch f.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		model = ""
	case http.StatusNotFound:
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until == nil {
		b.until = map[string]barred{}
	}
	b.until[model] = barred{until, err}
}
