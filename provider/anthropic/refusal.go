package anthropic

import (
	"cmp"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/provider"
)

// refusal returns the error of an answer with a status other than 200, or of an event in a stream.
func (c *Client) refusal(status int, body []byte, res *http.Response) error {
	var e struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
			Details struct {
				Code string `json:"error_code"`
			} `json:"details"`
		} `json:"error"`
	}
	json.Unmarshal(body, &e, lenient) // what is not JSON says nothing that may be repeated
	f := &provider.Failure{
		Status: status, Kind: c.opts.Credential.Hide(e.Error.Type), After: after(res),
		Message: cmp.Or(c.opts.Credential.Hide(e.Error.Message), "no reason given"),
	}
	spent := e.Error.Details.Code == "enforced_spend_limit_reached"
	f.Refused = spent || status >= http.StatusBadRequest && !provider.Transient(status)
	if status == http.StatusOK {
		f.Refused = e.Error.Type == "invalid_request_error"
	}
	return f
}
