package newrelic

import (
	"encoding/json"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
)

// An execution is one query that is carried out.
type execution struct {
	server *Server
	vars   map[string]any
	errs   []any
}

// fields are what an object has: a value, or a function of the arguments that gives one. A value that is fields is an object.
type fields map[string]any

// resolver gives a value by its arguments, or an error with its class.
type resolver func(args map[string]any) (v any, class, message string)

// object returns the fields of an object that a query selects.
func (x *execution) object(set ast.SelectionSet, from fields) map[string]any {
	out := map[string]any{}
	x.fill(out, set, from)
	return out
}

func (x *execution) fill(out map[string]any, set ast.SelectionSet, from fields) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if s.Name == "__typename" {
				out[s.Alias] = s.ObjectDefinition.Name
				continue
			}
			out[s.Alias] = x.value(s, from[s.Name])
		case *ast.InlineFragment:
			x.fill(out, s.SelectionSet, from)
		case *ast.FragmentSpread:
			x.fill(out, s.Definition.SelectionSet, from)
		}
	}
}

// value returns the value of one field.
func (x *execution) value(f *ast.Field, v any) any {
	if r, ok := v.(resolver); ok {
		got, class, message := r(f.ArgumentMap(x.vars))
		if message != "" {
			x.errs = append(x.errs, map[string]any{"message": message, "path": []string{f.Alias}, "extensions": map[string]any{"errorClass": class}})
			return nil
		}
		v = got
	}
	switch v := v.(type) {
	case fields:
		return x.object(f.SelectionSet, v)
	case []fields:
		out := make([]any, 0, len(v))
		for _, one := range v {
			out = append(out, x.object(f.SelectionSet, one))
		}
		return out
	}
	return v
}

// root is where all queries begin.
func (x *execution) root() fields {
	number := x.server.opts.Account
	account := fields{"id": number, "name": "Account " + strconv.Itoa(number), "nrql": resolver(x.nrql)}
	return fields{"actor": fields{
		"user":     fields{"email": "user@example.com", "id": 1, "name": "User"},
		"accounts": []fields{{"id": number, "name": account["name"]}},
		"account": resolver(func(args map[string]any) (any, string, string) {
			if whole(args["id"]) != number {
				return nil, "ACCESS_DENIED", "Access denied."
			}
			return account, "", ""
		}),
	}}
}

// nrql carries out a query of NRQL.
func (x *execution) nrql(args map[string]any) (any, string, string) {
	if t, told := args["timeout"]; told && t != nil && (whole(t) < 5 || whole(t) > 120) {
		return nil, "BAD_USER_INPUT", "timeout must be between 5 and 120 seconds"
	}
	if async, _ := args["async"].(bool); async {
		return nil, "BAD_USER_INPUT", "asynchronous queries are not answered here"
	}
	text, _ := args["query"].(string)
	q, err := parseQuery(text, x.server.opts.Now())
	if err != nil {
		return nil, "NRQL_SYNTAX_ERROR", err.Error()
	}
	rows := x.server.opts.Rows[q.from]
	results := q.run(rows)
	return fields{
		"nrql": text, "results": results, "rawResponse": map[string]any{"results": results}, "totalResult": nil,
		"metadata": fields{"eventTypes": []string{q.from}, "facets": q.facet, "messages": []string{}, "timeWindow": fields{
			"begin": q.since, "end": q.until, "since": strconv.FormatInt(q.since, 10), "until": strconv.FormatInt(q.until, 10)}},
	}, "", ""
}

// whole reads a number of JSON or of a query.
func whole(v any) int {
	switch v := v.(type) {
	case int64:
		return int(v)
	case int:
		return v
	case float64:
		return int(v)
	case json.Number:
		n, err := strconv.Atoi(v.String())
		if err == nil {
			return n
		}
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			return n
		}
	}
	return -1
}
