package newrelic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// run returns the results of a query over the rows of its type.
func (q *query) run(rows []Row) []any {
	var found []Row
	for _, row := range rows {
		if at := stamp(row); at >= q.since && at < q.until && q.holds(row) {
			found = append(found, row)
		}
	}
	slices.SortStableFunc(found, func(a, b Row) int { return cmp.Compare(stamp(b), stamp(a)) })
	out := []any{}
	switch {
	case q.facet != nil:
		return q.facets(found)
	case q.count || q.latest != nil:
		return append(out, q.aggregate(found))
	}
	for _, row := range found[:min(len(found), q.limit)] {
		out = append(out, q.selected(row))
	}
	return out
}

// holds reports whether all conditions do.
func (q *query) holds(row Row) bool {
	for _, c := range q.where {
		v, ok := row[c.attribute]
		if !ok || v == nil {
			return false
		}
		s := text(v)
		if c.like != nil && !c.like.MatchString(s) || c.like == nil && !slices.Contains(c.values, s) {
			return false
		}
	}
	return true
}

// selected returns what a query wants of a row.
func (q *query) selected(row Row) Row {
	if q.all {
		return row
	}
	out := Row{"timestamp": row["timestamp"]}
	for _, a := range q.attributes {
		out[a] = row[a]
	}
	return out
}

// aggregate returns count and latest of rows, the newest of which is the first.
func (q *query) aggregate(rows []Row) Row {
	out := Row{}
	if q.count {
		out["count"] = len(rows)
	}
	for _, a := range q.latest {
		out["latest."+a] = nil
		for _, row := range rows {
			if v, ok := row[a]; ok {
				out["latest."+a] = v
				break
			}
		}
	}
	return out
}

// facets returns the aggregates by the values of attributes, the most frequent first. Rows without such a value are left out.
func (q *query) facets(rows []Row) []any {
	groups, order := map[string][]Row{}, []string{}
	for _, row := range rows {
		var values []string
		for _, a := range q.facet {
			if v, ok := row[a]; ok && v != nil {
				values = append(values, text(v))
			}
		}
		if len(values) < len(q.facet) {
			continue
		}
		key := strings.Join(values, "\x00")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], row)
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(len(groups[b]), len(groups[a])) })
	out := []any{}
	for _, key := range order[:min(len(order), q.limit)] {
		result, values := q.aggregate(groups[key]), strings.Split(key, "\x00")
		for i, a := range q.facet {
			result[a] = values[i]
		}
		if result["facet"] = any(values); len(values) == 1 {
			result["facet"] = values[0]
		}
		out = append(out, result)
	}
	return out
}

// stamp returns the time of a row in milliseconds.
func stamp(row Row) int64 {
	n, err := strconv.ParseFloat(text(row["timestamp"]), 64)
	if err != nil {
		return 0
	}
	return int64(n)
}

// text returns a value as it is compared.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(v)
}
