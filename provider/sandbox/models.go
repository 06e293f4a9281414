package sandbox

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/token"
)

// listModels is GET /v1/models (docs/reference/anthropic.md, "Models").
func (x *exchange) listModels() *apiError {
	all := slices.DeleteFunc(x.s.catalog.Models(), func(m token.Model) bool { return m.Provider != token.Anthropic })
	page, more, err := paginate(all, x.r)
	if err != nil {
		return err
	}
	b := []byte(`{"data":[`)
	for i, m := range page {
		if i > 0 {
			b = append(b, ',')
		}
		if x.s.opts.Window > 0 {
			m.Window = x.s.opts.Window
		}
		b = appendModel(b, m)
	}
	b = strconv.AppendBool(append(b, `],"has_more":`...), more)
	b = appendID(append(b, `,"first_id":`...), page, 0)
	b = appendID(append(b, `,"last_id":`...), page, len(page)-1)
	return x.send(http.StatusOK, append(b, '}'))
}

// paginate returns the page that a query asks for and whether there is more.
func paginate(all []token.Model, r *http.Request) ([]token.Model, bool, *apiError) {
	q := r.URL.Query()
	limit := 20
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			return nil, false, invalid("limit: Input should be between 1 and 1000")
		}
		limit = n
	}
	position := func(id string) int { return slices.IndexFunc(all, func(m token.Model) bool { return m.ID == id }) }
	if after := q.Get("after_id"); after != "" {
		all = all[position(after)+1:]
	}
	if before := q.Get("before_id"); before != "" {
		if i := position(before); i >= 0 {
			all = all[:i]
		}
		return all[max(0, len(all)-limit):], len(all) > limit, nil
	}
	return all[:min(limit, len(all))], len(all) > limit, nil
}

func appendID(b []byte, page []token.Model, i int) []byte {
	if i < 0 || i >= len(page) {
		return append(b, `null`...)
	}
	return jsonspan.AppendQuote(b, page[i].ID)
}

// oneModel is GET /v1/models/{id}.
func (x *exchange) oneModel(id string) *apiError {
	m, err := x.s.lookup(id)
	if err != nil {
		return err
	}
	return x.send(http.StatusOK, appendModel(nil, m))
}

// dated is what may follow a model's name in its id.
var dated = regexp.MustCompile(`^(-20\d{6})?$`)

// lookup returns the model with an id, which is the API's own: what hosts and routers put around
// ids does not belong here.
func (s *Server) lookup(id string) (token.Model, *apiError) {
	m, ok := s.catalog.Lookup(id)
	rest, named := strings.CutPrefix(id, m.ID)
	if !ok || m.Provider != token.Anthropic || !named || !dated.MatchString(rest) {
		return m, &apiError{status: http.StatusNotFound, kind: kindNotFound, message: "model: " + id}
	}
	if s.opts.Window > 0 {
		m.Window = s.opts.Window
	}
	return m, nil
}

// olderMillion reports whether a model has a window of a million tokens for those who ask for it:
// the Sonnets of generation 4 before those that always have it.
func olderMillion(m token.Model) bool {
	return line(m.ID) == "sonnet" && m.Since(4, 0) && !m.Since(4, 6)
}

// appendModel appends a model as the API describes it. Capabilities that the sandbox does not offer
// are reported as missing, whatever the real model can do.
func appendModel(b []byte, m token.Model) []byte {
	b = jsonspan.AppendQuote(append(b, `{"type":"model","id":`...), m.ID)
	b = jsonspan.AppendQuote(append(b, `,"display_name":`...), displayName(m.ID))
	b = append(b, `,"created_at":"1970-01-01T00:00:00Z","line":`...)
	b = jsonspan.AppendQuote(b, line(m.ID))
	b = jsonspan.AppendQuote(append(b, `,"lifecycle":`...), lifecycle(m.Status))
	b = strconv.AppendInt(append(b, `,"deprecated_at":null,"retires_at":null,"max_input_tokens":`...), int64(m.Window), 10)
	b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(m.MaxOutput), 10)
	b = append(b, `,"allowed_fallback_models":[],"capabilities":{"batch":{"supported":false},"context_management":{"supported":`...)
	b = strconv.AppendBool(b, m.Editing)
	b = append(b, `,"clear_thinking_20251015":{"supported":`...)
	b = strconv.AppendBool(b, m.Editing)
	b = append(b, `},"clear_tool_uses_20250919":{"supported":`...)
	b = strconv.AppendBool(b, m.Editing)
	b = append(b, `},"compact_20260112":{"supported":false}},"thinking":{"supported":`...)
	b = strconv.AppendBool(b, len(m.Thinking) > 0)
	b = append(b, `,"types":{`...)
	for i, mode := range []string{"adaptive", "between_tools", "disabled", "enabled"} {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonspan.AppendQuote(b, mode), `:{"supported":`...)
		b = append(strconv.AppendBool(b, m.Takes(mode)), '}')
	}
	return append(b, `}}}}`...)
}

// displayName makes a name for people out of an id: "Claude Sonnet 4 5".
func displayName(id string) string {
	words := strings.Split(id, "-")
	for i, w := range words {
		if w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

// line returns the model line that an id names, "" when it names none.
func line(id string) string {
	for _, l := range []string{"haiku", "sonnet", "opus", "fable", "mythos"} {
		if strings.Contains(id, l) {
			return l
		}
	}
	return ""
}

// lifecycle returns the first word of a status, "active" when nothing is known.
func lifecycle(status string) string {
	for _, l := range []string{"deprecated", "retired"} {
		if strings.HasPrefix(status, l) {
			return l
		}
	}
	return "active"
}
