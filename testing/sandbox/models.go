package sandbox

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/token"
)

// listModels is GET /v1/models (docs/reference/anthropic.md, "Models").
func (x *exchange) listModels() *apiError {
	all := slices.DeleteFunc(x.s.catalog.Models(), func(m token.Model) bool { return m.Provider != token.Anthropic })
	page, more, err := paginate(all, x.r, func(m token.Model) string { return m.ID })
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
		b = appendModel(b, m, x.betas)
	}
	ends := [2]string{}
	if len(page) > 0 {
		ends = [2]string{page[0].ID, page[len(page)-1].ID}
	}
	return x.send(http.StatusOK, appendEnds(b, more, ends))
}

// paginate returns the page that a query asks for and whether there is more. id names an item.
func paginate[T any](all []T, r *http.Request, id func(T) string) ([]T, bool, *apiError) {
	q := r.URL.Query()
	limit := 20
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			return nil, false, invalid("limit: Input should be between 1 and 1000")
		}
		limit = n
	}
	position := func(name string) int { return slices.IndexFunc(all, func(one T) bool { return id(one) == name }) }
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

// appendEnds ends a list: whether there is more, and the names of its first and last item.
func appendEnds(b []byte, more bool, ends [2]string) []byte {
	b = strconv.AppendBool(append(b, `],"has_more":`...), more)
	b = append(append(b, `,"first_id":`...), quoteOrNull(ends[0])...)
	return append(append(append(b, `,"last_id":`...), quoteOrNull(ends[1])...), '}')
}

// oneModel is GET /v1/models/{id}.
func (x *exchange) oneModel(id string) *apiError {
	m, err := x.s.lookup(id)
	if err != nil {
		return err
	}
	return x.send(http.StatusOK, appendModel(nil, m, x.betas))
}

// dated is what may follow a model's name in its id.
var dated = lazyregexp.New(`^(-20\d{6})?$`)

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
// are reported as missing, whatever the real model can do, and compaction on demand only to those who name its beta.
func appendModel(b []byte, m token.Model, named betas) []byte {
	b = jsonspan.AppendQuote(append(b, `{"type":"model","id":`...), m.ID)
	b = jsonspan.AppendQuote(append(b, `,"display_name":`...), displayName(m.ID))
	b = append(b, `,"created_at":"1970-01-01T00:00:00Z","line":`...)
	b = jsonspan.AppendQuote(b, line(m.ID))
	b = jsonspan.AppendQuote(append(b, `,"lifecycle":`...), lifecycle(m.Status))
	b = strconv.AppendInt(append(b, `,"deprecated_at":null,"retires_at":null,"max_input_tokens":`...), int64(m.Window), 10)
	b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(m.MaxOutput), 10)
	b = append(b, `,"allowed_fallback_models":[],"capabilities":{"batch":{"supported":true},`...)
	if named.has(betaDemand) {
		b = append(appendSupport(b, "compaction", m.OnDemand), `,"summarize":{"supported":`...)
		b = append(strconv.AppendBool(b, m.OnDemand), `}},`...)
	}
	b = appendSupport(b, "context_management", m.Editing || m.Threshold)
	for _, strategy := range []string{clearThinking, clearTools, compactEdit} {
		b = append(appendSupport(append(b, ','), strategy, supports(m, strategy)), '}')
	}
	b = append(appendSupport(append(b, `},`...), "thinking", len(m.Thinking) > 0), `,"types":{`...)
	for i, mode := range []string{"adaptive", "between_tools", "disabled", "enabled"} {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonspan.AppendQuote(b, mode), `:{"supported":`...)
		b = append(strconv.AppendBool(b, m.Takes(mode)), '}')
	}
	return append(b, `}}}}`...)
}

// appendSupport appends a capability without its last brace.
func appendSupport(b []byte, name string, has bool) []byte {
	return strconv.AppendBool(append(jsonspan.AppendQuote(b, name), `:{"supported":`...), has)
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
