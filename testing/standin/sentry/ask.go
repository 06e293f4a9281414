package sentry

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// An ask is what the parameters of a call say.
type ask struct {
	start, end   time.Time
	environments []string
	projects     []string // none: all
	status       string   // of issues; empty: any
	sort         string
	full         bool
	from, limit  int
}

// A refusal is why a call is wrong, in the service's own words.
type refusal string

// Error returns the words.
func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

var cursorForm = lazyregexp.New(`^0:(\d{1,9}):[01]$`)

// parameters are those that a call may have.
var parameters = map[bool][]string{
	false: {"cursor", "end", "environment", "limit", "project", "query", "sort", "start", "statsPeriod"},
	true:  {"cursor", "end", "environment", "full", "start", "statsPeriod"},
}

// read reads the parameters of a call for issues or events.
func (s *Server) read(q url.Values, events bool) (a ask, err error) {
	a.limit, a.end, a.environments = s.opts.Page, s.opts.Now(), q["environment"]
	a.start = a.end.Add(-14 * 24 * time.Hour)
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if !slices.Contains(parameters[events], name) {
			return a, refuse("Invalid parameter: %s", name)
		}
	}
	if c := q.Get("cursor"); c != "" {
		m := cursorForm.FindStringSubmatch(c)
		if m == nil {
			return a, refuse("Invalid cursor parameter.")
		}
		a.from, _ = strconv.Atoi(m[1]) // nine digits
	}
	if l := q.Get("limit"); l != "" {
		n, err := strconv.Atoi(l)
		if err != nil || n < 1 || n > mostPage {
			return a, refuse("Invalid per_page value. Must be between 1 and 100.")
		}
		a.limit = min(n, a.limit)
	}
	if p := q.Get("project"); p != "" && p != "-1" {
		return a, refuse("Invalid project parameter. Values must be numbers.")
	}
	if a.sort = q.Get("sort"); a.sort != "" && a.sort != "date" && a.sort != "new" && a.sort != "freq" {
		return a, refuse("Invalid sort parameter.")
	}
	a.full = q.Get("full") == "true" || q.Get("full") == "1"
	if err := a.during(q); err != nil {
		return a, err
	}
	return a, s.search(&a, q.Get("query"))
}

// during reads the time that is asked for.
func (a *ask) during(q url.Values) (err error) {
	if period := q.Get("statsPeriod"); period != "" {
		n, err := strconv.Atoi(strings.TrimRight(period, "smhdw"))
		unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[period[len(period)-1]]
		if err != nil || n < 1 || n > 10_000 || unit == 0 {
			return refuse("Invalid statsPeriod: '%s'", period)
		}
		a.start = a.end.Add(-time.Duration(n) * unit)
		return nil
	}
	if (q.Get("start") == "") != (q.Get("end") == "") {
		return refuse("start and end are both required")
	}
	for name, to := range map[string]*time.Time{"start": &a.start, "end": &a.end} {
		if v := q.Get(name); v != "" {
			if *to, err = time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(v, "Z")); err != nil {
				return refuse("%s is not a valid ISO8601 date", v)
			}
		}
	}
	if !a.start.Before(a.end) {
		return refuse("start must be before end")
	}
	return nil
}

// search reads the query for issues: is:STATUS, project:SLUG, project:[SLUG,SLUG].
func (s *Server) search(a *ask, query string) error {
	for word := range strings.FieldsSeq(query) {
		key, value, _ := strings.Cut(word, ":")
		switch {
		case key == "is" && slices.Contains([]string{"unresolved", "resolved", "ignored"}, value):
			a.status = value
		case key == "project" && value != "":
			value = strings.TrimSuffix(strings.TrimPrefix(value, "["), "]")
			a.projects = strings.Split(value, ",")
			for _, p := range a.projects {
				if !s.has(p) {
					return refuse("Invalid query. Project(s) %s do not exist or are not actively selected.", p)
				}
			}
		default:
			return refuse("Error parsing search query: %s", word)
		}
	}
	return nil
}

// has reports whether there is a project.
func (s *Server) has(project string) bool {
	return slices.ContainsFunc(s.opts.Issues, func(i Issue) bool {
		return slices.ContainsFunc(i.Events, func(e source.Event) bool { return e.Service == project })
	})
}
