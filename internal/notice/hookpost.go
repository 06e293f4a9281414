package notice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// post posts an event to an address. Its answer is not read, and it is not followed elsewhere.
func (h *Hooks) post(ctx context.Context, to string, event []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(event))
	if err != nil {
		return errors.New("post: the address cannot be parsed")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "decant")
	res, err := h.opts.Client.RoundTrip(r)
	if err != nil {
		return fmt.Errorf("post to %s: %w", host(to), err)
	}
	defer res.Body.Close()
	if _, err := io.CopyN(io.Discard, res.Body, 64<<10); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("post to %s: %w", host(to), err)
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("post to %s: status %d", host(to), res.StatusCode)
	}
	return nil
}

// host returns the host of an address: its path may be a secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address"
	}
	return u.Host
}
