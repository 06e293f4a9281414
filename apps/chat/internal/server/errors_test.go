package chatserver

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/provider"
)

// What a user is told of a failed run says neither where the model is nor with what it is asked; the log says where.
func TestErrorsOfTheProviderNameNoAddress(t *testing.T) {
	const key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789-ABCDEFGH"
	for _, c := range []struct {
		err  error
		want string
	}{
		{&provider.Failure{Status: 401, Kind: "authentication_error", Message: "invalid x-api-key " + key + " at http://inner.corp:8080/v1"}, "answered 401"},
		{&provider.Failure{Status: 403, Message: "key abcdefghijklmnop of inner.corp may not do that"}, "answered 403"},
		{&provider.Failure{Status: 400, Kind: "invalid_request_error", Message: key + " at http://inner.corp:8080/v1"}, "400 invalid_request_error"},
		{&provider.Failure{Status: 502, Message: "no route to 10.0.0.7:443 or [fd00::7]:443"}, "no route to (address)"},
		{fmt.Errorf("%w: is http://inner.corp:8080 its base URL?", provider.ErrBroken), provider.ErrBroken.Error()},
		{errors.New("Post http://inner.corp:8080/v1/messages: lookup inner.corp on 10.0.0.7:53: no such host"), "gave no answer"},
		{fmt.Errorf("run: %w", agent.ErrRunning), agent.ErrRunning.Error()},
	} {
		var log strings.Builder
		got := (&Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).told(c.err)
		if !strings.Contains(got, c.want) {
			t.Errorf("%v is told as %q, want %q", c.err, got, c.want)
		}
		for _, no := range []string{"inner.corp", "10.0.0.7", "fd00", "abcdefghijklmnop"} {
			if strings.Contains(got, no) {
				t.Errorf("%v is told as %q", c.err, got)
			}
		}
		if strings.Contains(c.err.Error(), "inner.corp") && !strings.Contains(log.String(), "inner.corp") {
			t.Errorf("%v is logged as %q", c.err, &log)
		}
	}
}
