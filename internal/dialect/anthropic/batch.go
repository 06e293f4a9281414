package anthropic

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/dialect"
)

// BatchItems implements dialect.Batcher.
func (Dialect) BatchItems(body []byte) ([]dialect.BatchItem, error) {
	var q struct {
		Requests []struct {
			ID     string         `json:"custom_id"`
			Params jsontext.Value `json:"params"`
		} `json:"requests"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	if len(q.Requests) == 0 {
		return nil, errors.New("no requests")
	}
	items := make([]dialect.BatchItem, len(q.Requests))
	for i, item := range q.Requests {
		items[i] = dialect.BatchItem{ID: item.ID, Params: item.Params}
	}
	return items, nil
}

// BatchID implements dialect.Batcher.
func (Dialect) BatchID(answer []byte) string {
	var made struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(answer, &made, lenient) != nil {
		return ""
	}
	return made.ID
}

// BatchUnused implements dialect.Batcher. What the others have used only the results say.
func (Dialect) BatchUnused(answer []byte) bool {
	var state struct {
		Status string `json:"processing_status"`
		Counts *struct {
			Processing int `json:"processing"`
			Succeeded  int `json:"succeeded"`
		} `json:"request_counts"`
	}
	err := json.Unmarshal(answer, &state, lenient)
	return err == nil && state.Status == "ended" && state.Counts != nil &&
		state.Counts.Succeeded+state.Counts.Processing == 0
}

// BatchResult implements dialect.Batcher.
func (Dialect) BatchResult(line []byte) (dialect.BatchResult, bool) {
	var item struct {
		Result struct {
			Type    string `json:"type"`
			Message *struct {
				Model string `json:"model"`
				Usage *usage `json:"usage"`
			} `json:"message"`
		} `json:"result"`
	}
	if json.Unmarshal(line, &item, lenient) != nil {
		return dialect.BatchResult{}, false
	}
	switch m := item.Result.Message; item.Result.Type {
	case "errored", "canceled", "expired":
		return dialect.BatchResult{}, true
	case "succeeded":
		if m == nil || m.Usage == nil {
			return dialect.BatchResult{}, false
		}
		last, extra := m.Usage.passes()
		return dialect.BatchResult{Answered: true, Model: m.Model, Usage: last.Add(extra)}, true
	}
	return dialect.BatchResult{}, false
}
