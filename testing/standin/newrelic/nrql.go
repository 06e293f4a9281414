package newrelic

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A query is one of NRQL.
type query struct {
	all          bool     // SELECT *
	attributes   []string // that are selected
	count        bool     // SELECT count(*)
	latest       []string // SELECT latest(...)
	from         string
	where        []condition
	facet        []string
	since, until int64 // milliseconds since 1970; until is not part of it
	limit        int
}

// A condition holds when the value of an attribute matches one of some.
type condition struct {
	attribute string
	values    []string
	like      *regexp.Regexp // LIKE, in place of values
}

// What NRQL gives where a query says nothing.
const (
	rowsByDefault   = 100
	facetsByDefault = 10
	mostRows        = 5000
)

var words = lazyregexp.New("^(?:\\s+|(`[^`]+`|'(?:[^'\\\\]|\\\\.)*'|[A-Za-z_][\\w.]*|-?\\d+(?:\\.\\d+)?|[*(),=]))")

// A reader reads the words of a query.
type reader struct {
	text string
	rest string
	word string // the next one, empty at the end
	now  time.Time
}

// errSyntax is the service's own text.
func (r *reader) errSyntax() error {
	at := len(r.text) - len(r.rest) - len(r.word)
	if r.word == "" && r.rest == "" {
		return fmt.Errorf("NRQL Syntax Error: Error at line 1 position %d, unexpected end of query", at+1)
	}
	return fmt.Errorf("NRQL Syntax Error: Error at line 1 position %d, unexpected '%s'", at+1, firstOf(r.word, r.rest))
}

func firstOf(word, rest string) string {
	if word != "" {
		return word
	}
	return rest[:1]
}

// next reads the next word.
func (r *reader) next() {
	r.word = ""
	for r.rest != "" {
		m := words.FindStringSubmatch(r.rest)
		if m == nil {
			return // an unknown letter; whoever wants a word fails at it
		}
		r.rest = r.rest[len(m[0]):]
		if m[1] != "" {
			r.word = m[1]
			return
		}
	}
}

// take takes the next word if it is one, in whatever case.
func (r *reader) take(word string) bool {
	if strings.EqualFold(r.word, word) {
		r.next()
		return true
	}
	return false
}

// parseQuery reads a query.
func parseQuery(text string, now time.Time) (*query, error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	r := &reader{text: text, rest: text, now: now}
	r.next()
	q := &query{until: now.UnixMilli(), since: now.Add(-time.Hour).UnixMilli()}
	if !r.take("SELECT") || !r.selects(q) || !r.take("FROM") || !r.name(&q.from) {
		return nil, r.errSyntax()
	}
	if err := r.clauses(q); err != nil {
		return nil, err
	}
	switch aggregated := q.count || q.latest != nil; {
	case aggregated && (q.all || q.attributes != nil):
		return nil, fmt.Errorf("NRQL Syntax Error: attributes cannot be selected beside an aggregation")
	case q.facet != nil && !aggregated:
		return nil, fmt.Errorf("NRQL Syntax Error: FACET needs an aggregation")
	case q.since >= q.until:
		return nil, fmt.Errorf("NRQL Error: SINCE must come before UNTIL")
	case q.limit == 0 && q.facet != nil:
		q.limit = facetsByDefault
	case q.limit == 0:
		q.limit = rowsByDefault
	}
	return q, nil
}

// clauses reads what follows FROM, each at most once.
func (r *reader) clauses(q *query) error {
	seen := map[string]bool{}
	for r.word != "" || r.rest != "" {
		clause := strings.ToUpper(r.word)
		ok := !seen[clause]
		seen[clause] = true
		switch {
		case ok && r.take("WHERE"):
			ok = r.conditions(q)
		case ok && r.take("FACET"):
			ok = r.list(&q.facet)
		case ok && r.take("SINCE"):
			ok = r.time(&q.since)
		case ok && r.take("UNTIL"):
			ok = r.time(&q.until)
		case ok && r.take("LIMIT"):
			ok = r.number(&q.limit)
		default:
			ok = false
		}
		if !ok {
			return r.errSyntax()
		}
	}
	return nil
}

// selects reads what is selected.
func (r *reader) selects(q *query) bool {
	for {
		var name string
		switch {
		case r.take("*"):
			q.all = true
		case !r.name(&name):
			return false
		case !r.take("("):
			q.attributes = append(q.attributes, name)
		case strings.EqualFold(name, "count"):
			if q.count = true; !r.take("*") || !r.take(")") {
				return false
			}
		case strings.EqualFold(name, "latest"):
			var of string
			if !r.name(&of) || !r.take(")") {
				return false
			}
			q.latest = append(q.latest, of)
		default:
			return false
		}
		if !r.take(",") {
			return true
		}
	}
}

var keywords = lazyregexp.New(`(?i)^(?:SELECT|FROM|WHERE|FACET|SINCE|UNTIL|LIMIT|AND|OR|IN|LIKE|NOT|IS|NULL|TIMESERIES|COMPARE|ORDER|AS|WITH)$`)

// name reads the name of an attribute or a type.
func (r *reader) name(to *string) bool {
	w := r.word
	if w == "" || keywords.MatchString(w) || !(w[0] == '`' || w[0] == '_' || w[0]|0x20 >= 'a' && w[0]|0x20 <= 'z') {
		return false
	}
	*to = strings.Trim(w, "`")
	r.next()
	return true
}

func (r *reader) list(to *[]string) bool {
	for {
		var name string
		if !r.name(&name) {
			return false
		}
		if *to = append(*to, name); !r.take(",") {
			return true
		}
	}
}

// conditions reads what follows WHERE.
func (r *reader) conditions(q *query) bool {
	for {
		c := condition{values: make([]string, 1)}
		if !r.name(&c.attribute) {
			return false
		}
		switch {
		case r.take("="):
			if !r.value(&c.values[0]) {
				return false
			}
		case r.take("LIKE"):
			var pattern string
			if !r.value(&pattern) {
				return false
			}
			c.like = regexp.MustCompile(`(?s)^` + strings.ReplaceAll(regexp.QuoteMeta(pattern), "%", ".*") + `$`)
		case r.take("IN"):
			if c.values = nil; !r.values(&c.values) {
				return false
			}
		default:
			return false
		}
		if q.where = append(q.where, c); !r.take("AND") {
			return true
		}
	}
}

func (r *reader) values(to *[]string) bool {
	if !r.take("(") {
		return false
	}
	for {
		var v string
		if !r.value(&v) {
			return false
		}
		if *to = append(*to, v); !r.take(",") {
			return r.take(")")
		}
	}
}

// value reads a text or a number.
func (r *reader) value(to *string) bool {
	w := r.word
	switch {
	case w == "":
		return false
	case w[0] == '\'':
		*to = unquote(w)
	case w[0] == '-' || w[0] >= '0' && w[0] <= '9':
		*to = w
	case strings.EqualFold(w, "true"), strings.EqualFold(w, "false"):
		*to = strings.ToLower(w)
	default:
		return false
	}
	r.next()
	return true
}

func unquote(w string) string {
	var b strings.Builder
	for i := 1; i < len(w)-1; i++ {
		if w[i] == '\\' {
			i++
		}
		b.WriteByte(w[i])
	}
	return b.String()
}

// units are those of "3 hours ago".
var units = map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour}

// time reads milliseconds since 1970, "NOW" or "3 hours ago".
func (r *reader) time(to *int64) bool {
	if r.take("NOW") {
		*to = r.now.UnixMilli()
		return true
	}
	n, err := strconv.ParseInt(r.word, 10, 64)
	if err != nil {
		return false
	}
	r.next()
	unit, ok := units[strings.TrimSuffix(strings.ToLower(r.word), "s")]
	if !ok {
		*to = n
		return n > 1e10
	}
	if r.next(); !r.take("AGO") || n < 0 || n > 1e6 {
		return false
	}
	*to = r.now.Add(-time.Duration(n) * unit).UnixMilli()
	return true
}

// number reads the number of LIMIT.
func (r *reader) number(to *int) bool {
	if r.take("MAX") {
		*to = mostRows
		return true
	}
	n, err := strconv.Atoi(r.word)
	if err != nil || n < 1 || n > mostRows {
		return false
	}
	*to = n
	r.next()
	return true
}
