package anthropic

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/provider"
)

var _ provider.Batcher = (*Client)(nil)

const batchesPath = "v1/messages/batches"

// Submit implements provider.Batcher. The betas of all items hold for the whole batch.
func (c *Client) Submit(ctx context.Context, items []provider.BatchItem) (*provider.Batch, error) {
	body, betas := []byte(`{"requests":[`), []string(nil)
	for i := range items {
		if err := jsonspan.Validate(items[i].Body); err != nil {
			return nil, fmt.Errorf("request %s of a batch: %w", items[i].ID, err)
		}
		if i > 0 {
			body = append(body, ',')
		}
		body = jsonspan.AppendQuote(append(body, `{"custom_id":`...), items[i].ID)
		body = append(append(append(body, `,"params":`...), items[i].Body...), '}')
		for _, b := range items[i].Betas {
			if !slices.Contains(betas, b) {
				betas = append(betas, b)
			}
		}
	}
	res, err := c.send(ctx, http.MethodPost, batchesPath, append(body, `]}`...), betas)
	if err != nil {
		return nil, err
	}
	return c.oneBatch(res)
}

// Batch implements provider.Batcher.
func (c *Client) Batch(ctx context.Context, id string) (*provider.Batch, error) {
	res, err := c.get(ctx, batchPath(id))
	if err != nil {
		return nil, err
	}
	return c.oneBatch(res)
}

func batchPath(id string) string { return batchesPath + "/" + url.PathEscape(id) }

// shown is a batch as the API shows it.
type shown struct {
	ID      string         `json:"id"`
	Status  string         `json:"processing_status"`
	Counts  map[string]int `json:"request_counts"`
	Created time.Time      `json:"created_at"`
	Expires time.Time      `json:"expires_at"`
}

func (s *shown) batch() *provider.Batch {
	b := &provider.Batch{ID: s.ID, Created: s.Created, Expires: s.Expires, Ended: s.Status == "ended"}
	for _, n := range s.Counts {
		b.Requests += n
	}
	return b
}

// oneBatch reads an answer that is a batch.
func (c *Client) oneBatch(res *http.Response) (*provider.Batch, error) {
	var s shown
	if err := c.decode(res, &s); err != nil {
		return nil, err
	}
	if s.ID == "" {
		return nil, fmt.Errorf("%w: it is no batch of the Messages API; is %s its base URL?", provider.ErrBroken, c.opts.Base)
	}
	return s.batch(), nil
}

// decode reads an answer that is a JSON object.
func (c *Client) decode(res *http.Response, into any) error {
	defer res.Body.Close()
	src, err := io.ReadAll(io.LimitReader(res.Body, c.opts.Largest))
	if err == nil {
		err = json.Unmarshal(src, into, lenient)
	}
	if err != nil {
		return fmt.Errorf("%w: %s", provider.ErrBroken, c.opts.Credential.Hide(err.Error()))
	}
	return nil
}

// Batches implements provider.Batcher.
func (c *Client) Batches(ctx context.Context, since time.Time) (out []provider.Batch, err error) {
	for after := ""; ; {
		var page struct {
			Data []shown `json:"data"`
			More bool    `json:"has_more"`
			Last string  `json:"last_id"`
		}
		path := batchesPath + "?limit=100"
		if after != "" {
			path += "&after_id=" + url.QueryEscape(after)
		}
		res, err := c.get(ctx, path)
		if err != nil {
			return nil, err
		}
		if err := c.decode(res, &page); err != nil {
			return nil, err
		}
		for i := range page.Data {
			if page.Data[i].Created.Before(since) {
				return out, nil
			}
			out = append(out, *page.Data[i].batch())
		}
		if after = page.Last; !page.More || after == "" {
			return out, nil
		}
	}
}

// Results implements provider.Batcher.
func (c *Client) Results(ctx context.Context, id string) (out []provider.BatchResult, err error) {
	res, err := c.get(ctx, batchPath(id)+"/results")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for {
		line, err := c.line(lines)
		if len(line) > 0 {
			r, bad := c.result(line)
			if bad != nil {
				return nil, fmt.Errorf("%w: a result of batch %s: %w", provider.ErrBroken, id, bad)
			}
			out = append(out, *r)
		}
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("%w: the results of batch %s broke off: %s", provider.ErrBroken, id, c.opts.Credential.Hide(err.Error()))
		}
	}
}

// line reads a line that is not longer than an answer may be.
func (c *Client) line(r *bufio.Reader) (out []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if out = append(out, part...); int64(len(out)) > c.opts.Largest {
			return nil, fmt.Errorf("a line has more than %d bytes", c.opts.Largest)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return out, err
		}
	}
}

// result reads a line of results.
func (c *Client) result(line []byte) (*provider.BatchResult, error) {
	var l struct {
		ID     string `json:"custom_id"`
		Result struct {
			Type    provider.BatchOutcome `json:"type"`
			Message message               `json:"message"`
			Error   jsontext.Value        `json:"error"`
		} `json:"result"`
	}
	if err := json.Unmarshal(line, &l, lenient); err != nil {
		return nil, err
	}
	r := &provider.BatchResult{ID: l.ID, Outcome: l.Result.Type}
	switch r.Outcome {
	case provider.BatchSucceeded:
		if r.Answer, r.Err = answer(&l.Result.Message); r.Answer != nil {
			r.Answer.Batch = true
		}
	case provider.BatchErrored:
		r.Err = c.refused(l.Result.Error)
	case provider.BatchExpired, provider.BatchCanceled:
		r.Err = fmt.Errorf("the request %s in its batch", map[provider.BatchOutcome]string{provider.BatchExpired: "has expired", provider.BatchCanceled: "was canceled"}[r.Outcome])
	default:
		return nil, fmt.Errorf("the outcome %q of request %s is unknown", r.Outcome, r.ID)
	}
	return r, nil
}

// batchStatus are the statuses that errors of requests have outside of batches.
var batchStatus = map[string]int{"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "overloaded_error": 529}

// refused returns the error of a request of a batch that has failed.
func (c *Client) refused(src jsontext.Value) error {
	var e struct {
		Error struct {
			Type string `json:"type"`
		} `json:"error"`
	}
	json.Unmarshal(src, &e, lenient) // what is not JSON says nothing
	return c.refusal(cmp.Or(batchStatus[e.Error.Type], http.StatusInternalServerError), src, nil)
}
