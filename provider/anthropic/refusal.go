package anthropic

import (
	"cmp"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/internal/modelhttp"
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
	json.Unmarshal(body, &e, lenient) // what is not JSON is a page of something in between
	var head http.Header
	if res != nil {
		head = res.Header
	}
	f := modelhttp.Failed(status, head)
	f.Kind = c.opts.Credential.Hide(e.Error.Type)
	f.Message = c.opts.Credential.Hide(cmp.Or(e.Error.Message, modelhttp.Page(body), "no reason given"))
	f.Refused = f.Refused || e.Error.Details.Code == "enforced_spend_limit_reached"
	if status == http.StatusOK {
		f.Refused = e.Error.Type == "invalid_request_error"
	}
	return f
}
