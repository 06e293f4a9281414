package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

var _ provider.Lister = (*Client)(nil)

// mostPages bounds how much is read of a list that does not end.
const mostPages = 20

// demandBeta has the API say which models compact on request.
const demandBeta = "compact-2026-09-04"

// A modelsPage is a page of GET /v1/models, as far as it matters (docs/reference/anthropic.md, "Models").
type modelsPage struct {
	Data []struct {
		ID           string `json:"id"`
		Window       int    `json:"max_input_tokens"`
		MaxOutput    int    `json:"max_tokens"`
		Capabilities struct {
			Context *struct {
				Tools   *ability `json:"clear_tool_uses_20250919"`
				Compact *ability `json:"compact_20260112"`
			} `json:"context_management"`
			Compaction *ability `json:"compaction"`
		} `json:"capabilities"`
	} `json:"data"`
	More bool   `json:"has_more"`
	Last string `json:"last_id"`
}

// An ability is something that the API says a model can do or not.
type ability struct {
	Supported bool `json:"supported"`
}

// say returns what an ability says, Unsaid for none.
func (a *ability) say() token.Say {
	if a == nil {
		return token.Unsaid
	}
	return token.SayOf(a.Supported)
}

// Models implements provider.Lister.
func (c *Client) Models(ctx context.Context) (out []token.Facts, err error) {
	after := ""
	for range mostPages {
		p, err := c.page(ctx, after)
		if err != nil {
			return nil, err
		}
		for i := range p.Data {
			m := &p.Data[i]
			f := token.Facts{ID: m.ID, Window: max(0, m.Window), MaxOutput: max(0, m.MaxOutput), OnDemand: m.Capabilities.Compaction.say()}
			if has := m.Capabilities.Context; has != nil {
				f.Editing, f.Threshold = has.Tools.say(), has.Compact.say()
			}
			out = append(out, f)
		}
		if !p.More || p.Last == "" || p.Last == after {
			return out, nil
		}
		after = p.Last
	}
	return nil, errors.New("list the models: the list does not end")
}

// page reads a page of the list, the first one behind an id.
func (c *Client) page(ctx context.Context, after string) (*modelsPage, error) {
	path := "v1/models?limit=1000"
	if after != "" {
		path += "&after_id=" + url.QueryEscape(after)
	}
	res, err := c.get(ctx, path, demandBeta)
	if err != nil {
		return nil, err
	}
	var p modelsPage
	if err := c.decode(res, &p); err != nil {
		return nil, fmt.Errorf("list the models: %w", err)
	}
	return &p, nil
}
