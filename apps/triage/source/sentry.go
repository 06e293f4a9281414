package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/provider"
)

// Sentry is errors of an organization of Sentry: the unresolved issues, and of each its newest events in the window.
type Sentry struct {
	Organization string
	Projects     []string          // their slugs; none: all that the token may see
	Token        config.Secret     // with the right event:read
	Base         string            // empty: https://sentry.io; https://de.sentry.io has the organizations of the EU
	Environment  string            // empty: all
	PerIssue     int               // most events of one issue; 0: 100
	Via          http.RoundTripper // nil: http.DefaultTransport
}

// Name implements [Source].
func (s *Sentry) Name() string { return "sentry " + s.Organization }

// Events implements [Source].
func (s *Sentry) Events(ctx context.Context, in Window) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if in.Until.IsZero() {
			in.Until = time.Now()
		}
		if in.Since.IsZero() {
			in.Since = in.Until.Add(-24 * time.Hour)
		}
		for issue, err := range pages[sentryIssue](ctx, s, "issues/", s.issues(in)) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !s.events(ctx, issue, in, yield) {
				return
			}
		}
	}
}

// issues returns the query for the issues of a window.
func (s *Sentry) issues(in Window) url.Values {
	query := "is:unresolved"
	if len(s.Projects) > 0 {
		query += " project:[" + strings.Join(s.Projects, ",") + "]"
	}
	q := s.during(in)
	q.Set("query", query)
	q.Set("project", "-1")
	q.Set("sort", "date")
	q.Set("limit", "100")
	return q
}

func (s *Sentry) during(in Window) url.Values {
	q := url.Values{"start": {in.Since.UTC().Format("2006-01-02T15:04:05")}, "end": {in.Until.UTC().Add(time.Second - 1).Format("2006-01-02T15:04:05")}}
	if s.Environment != "" {
		q.Set("environment", s.Environment)
	}
	return q
}

// events yields the events of one issue, and reports whether more are wanted.
func (s *Sentry) events(ctx context.Context, issue sentryIssue, in Window, yield func(Event, error) bool) bool {
	q, n := s.during(in), 0
	q.Set("full", "true")
	for ev, err := range pages[sentryEvent](ctx, s, "issues/"+url.PathEscape(issue.ID)+"/events/", q) {
		if err != nil {
			yield(Event{}, err)
			return false
		}
		e, err := ev.event(issue)
		if err != nil {
			err = &LineError{s.Name() + " issue " + cut(issue.ID, 40), n + 1, err}
		}
		if err == nil && !in.Contains(e.Time) {
			continue
		}
		if !yield(e, err) {
			return false
		}
		if n++; n == cmp.Or(s.PerIssue, 100) {
			return true
		}
	}
	return true
}

// pages yields the elements of a list, page by page.
func pages[T any](ctx context.Context, s *Sentry, path string, q url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		for {
			body, header, err := s.get(ctx, path, q)
			if err != nil {
				yield(zero, err)
				return
			}
			var page []T
			if err := json.Unmarshal(body, &page); err != nil {
				yield(zero, fmt.Errorf("sentry: read %s: %w", path, err))
				return
			}
			for _, v := range page {
				if !yield(v, nil) {
					return
				}
			}
			next := cursor(header)
			if next == "" || next == q.Get("cursor") || len(page) == 0 {
				return
			}
			q.Set("cursor", next)
		}
	}
}

var nextPage = lazyregexp.New(`<[^>]*>; rel="next"; results="true"; cursor="([^"]*)"`)

// cursor returns where the next page begins, which Sentry tells in the header Link, and "" on the last one. The address there is not
// followed: the token goes to the base alone.
func cursor(h http.Header) string {
	m := nextPage.FindStringSubmatch(strings.Join(h.Values("Link"), ", "))
	if m == nil {
		return ""
	}
	return m[1]
}

// get asks for one page of what the organization has.
func (s *Sentry) get(ctx context.Context, path string, q url.Values) ([]byte, http.Header, error) {
	if err := s.valid(); err != nil {
		return nil, nil, err
	}
	base := strings.TrimRight(cmp.Or(s.Base, "https://sentry.io"), "/")
	service := service{
		name: "Sentry", base: base, who: provider.Bearer(s.Token.Reveal()), via: s.Via,
		help: map[int]string{
			http.StatusUnauthorized: "want an auth token of this organization that has not expired; SENTRY_AUTH_TOKEN",
			http.StatusForbidden:    "give the token the right event:read",
			http.StatusNotFound:     fmt.Sprintf("is there an organization %q at %s, and may the token see it?", s.Organization, base),
		},
	}
	address := base + "/api/0/organizations/" + url.PathEscape(s.Organization) + "/" + path + "?" + q.Encode()
	return service.ask(ctx, func(ctx context.Context) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	}, func([]byte) error { return nil })
}

// slug is the form of the names in addresses.
var slug = lazyregexp.New(`^[\w.\-]{1,100}$`)

// valid reports what is missing.
func (s *Sentry) valid() error {
	switch {
	case !slug.MatchString(s.Organization):
		return fmt.Errorf("sentry: organization %q; want its slug, as in https://SLUG.sentry.io", s.Organization)
	case s.Token == "":
		return errors.New("sentry: no token; create one with the right event:read and set SENTRY_AUTH_TOKEN")
	}
	for _, p := range s.Projects {
		if !slug.MatchString(p) {
			return fmt.Errorf("sentry: project %q; want its slug", p)
		}
	}
	return nil
}

// Check implements [Source].
func (s *Sentry) Check(ctx context.Context) error {
	q := s.issues(Window{time.Now().Add(-time.Hour), time.Now()})
	q.Set("limit", "1")
	_, _, err := s.get(ctx, "issues/", q)
	return err
}
