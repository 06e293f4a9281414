package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/provider"
)

// NewRelic is errors of an account of New Relic, asked for by NRQL over NerdGraph. Events are those of the type TransactionError; their
// stacks come from the exceptions that ErrorTrace names. An open side of a window is now, or a day before its end.
type NewRelic struct {
	Account int
	Key     config.Secret     // a user key: NRAK-...
	Region  string            // "us" or "eu"; empty: us
	Apps    []string          // names of applications; none: all of the account
	Base    string            // another address than the region's, such as that of a stand-in
	Via     http.RoundTripper // nil: http.DefaultTransport
}

// regions are the addresses of NerdGraph.
var regions = map[string]string{"": "https://api.newrelic.com", "us": "https://api.newrelic.com", "eu": "https://api.eu.newrelic.com", "jp": "https://api.jp.newrelic.com"}

// nerdGraph is the query that carries all NRQL.
const nerdGraph = `query($account: Int!, $nrql: Nrql!) { actor { account(id: $account) { name nrql(query: $nrql, timeout: 60) { results } } } }`

// mostRows is how many rows NRQL gives for LIMIT MAX.
const mostRows = 5000

// Name implements [Source].
func (n *NewRelic) Name() string { return "newrelic " + strconv.Itoa(n.Account) }

// Events implements [Source].
func (n *NewRelic) Events(ctx context.Context, in Window) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if in.Until.IsZero() {
			in.Until = time.Now()
		}
		if in.Since.IsZero() {
			in.Since = in.Until.Add(-24 * time.Hour)
		}
		if _, err := n.events(ctx, in, yield); err != nil {
			yield(Event{}, err)
		}
	}
}

// events yields what is in a window: one that has more than a query gives is halved. It reports whether more is wanted.
func (n *NewRelic) events(ctx context.Context, in Window, yield func(Event, error) bool) (bool, error) {
	rows, err := n.query(ctx, "SELECT * FROM TransactionError"+n.where()+during(in)+" LIMIT MAX")
	if err != nil {
		return false, err
	}
	if half := in.Until.Sub(in.Since) / 2; len(rows) >= mostRows && half >= time.Second {
		middle := in.Since.Add(half).Truncate(time.Millisecond)
		if more, err := n.events(ctx, Window{middle, in.Until}, yield); err != nil || !more {
			return more, err
		}
		return n.events(ctx, Window{in.Since, middle}, yield)
	}
	if len(rows) == 0 {
		return true, nil
	}
	traces, err := n.query(ctx, "SELECT * FROM ErrorTrace"+n.where()+during(in)+" LIMIT MAX")
	if err != nil {
		return false, err
	}
	stacks := stacksOf(traces)
	for i, row := range rows {
		e, err := n.event(row, stacks)
		switch {
		case err != nil:
			err = &LineError{n.Name() + " TransactionError", i + 1, err}
		case !in.Contains(e.Time), e.Attributes["error.expected"] == "true":
			continue
		case len(e.Frames) == 0:
			if fault := n.fetchStack(ctx, row, stacks, &e); fault != nil && !yield(Event{}, &LineError{n.Name() + " ErrorTrace", i + 1, fault}) {
				return false, nil
			}
		}
		if !yield(e, err) {
			return false, nil
		}
	}
	return true, nil
}

// where returns the condition that chooses the applications.
func (n *NewRelic) where() string {
	if len(n.Apps) == 0 {
		return ""
	}
	var quotes []string
	for _, a := range n.Apps {
		quotes = append(quotes, quote(a))
	}
	return " WHERE appName IN (" + strings.Join(quotes, ", ") + ")"
}

// quote returns a text as NRQL has it.
func quote(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'" }

func during(in Window) string {
	return fmt.Sprintf(" SINCE %d UNTIL %d", in.Since.UnixMilli(), in.Until.UnixMilli())
}

// query asks for rows by NRQL.
func (n *NewRelic) query(ctx context.Context, nrql string) (rows []object, err error) {
	err = n.ask(ctx, nerdGraph, map[string]any{"account": n.Account, "nrql": nrql}, func(s *nerd, a *nerdAnswer) error {
		account := a.Data.Actor.Account
		if account == nil || account.NRQL == nil {
			return fmt.Errorf("%w: no account in the answer; %s", errRight, s.help[http.StatusForbidden])
		}
		rows = account.NRQL.Results
		return nil
	})
	return rows, err
}

// ask sends one query of GraphQL, and reads its answer.
func (n *NewRelic) ask(ctx context.Context, query string, variables map[string]any, read func(*nerd, *nerdAnswer) error) error {
	if err := n.valid(); err != nil {
		return err
	}
	call, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	s := n.service()
	_, _, err = s.ask(ctx, func(ctx context.Context) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/graphql", bytes.NewReader(call))
		if err == nil {
			req.Header.Set("Content-Type", "application/json")
		}
		return req, err
	}, func(body []byte) error {
		answer, err := s.answer(body)
		if err != nil {
			return err
		}
		return read(s, answer)
	})
	return err
}

// valid reports what is missing.
func (n *NewRelic) valid() error {
	switch _, known := regions[strings.ToLower(n.Region)]; {
	case n.Account <= 0:
		return errors.New("newrelic: no account; name its number, which one.newrelic.com shows under \"Administration\"")
	case n.Key == "":
		return errors.New("newrelic: no key; create a user key under \"API keys\" and set NEW_RELIC_API_KEY")
	case !known:
		return fmt.Errorf("newrelic: region %q; want us or eu", n.Region)
	}
	return nil
}

func (n *NewRelic) service() *nerd {
	return &nerd{service{
		name: "New Relic",
		base: strings.TrimRight(cmp.Or(n.Base, regions[strings.ToLower(n.Region)]), "/"),
		who:  provider.Key("Api-Key", n.Key.Reveal()), via: n.Via,
		help: map[int]string{
			http.StatusUnauthorized: "want a user key (NRAK-...) of the account's region, not a license key; NEW_RELIC_API_KEY",
			http.StatusForbidden:    "the key's user needs to see account " + strconv.Itoa(n.Account),
		},
	}}
}

// A nerd is NerdGraph.
type nerd struct{ service }

// A nerdAnswer is an answer of NerdGraph. Fields that were not asked for are nil.
type nerdAnswer struct {
	Data struct {
		Actor struct {
			Account *struct {
				NRQL *struct{ Results []object } `json:"nrql"`
			}
			Entity *struct {
				Exception *struct {
					StackTrace *struct{ Frames []nerdFrame } `json:"stackTrace"`
				}
			}
		}
	}
	Errors []struct {
		Message    string
		Extensions struct {
			ErrorClass string `json:"errorClass"`
			ErrorCode  string `json:"error_code"`
		}
	}
}

// answer reads an answer, whose errors have the status 200.
func (s *nerd) answer(body []byte) (*nerdAnswer, error) {
	var answer nerdAnswer
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&answer); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	for _, e := range answer.Errors {
		err := errors.New(s.who.Hide(e.Message))
		switch class := cmp.Or(e.Extensions.ErrorClass, e.Extensions.ErrorCode); {
		case e.Extensions.ErrorCode == "BAD_API_KEY":
			return nil, fmt.Errorf("%w: %w; %s", errCredential, err, s.help[http.StatusUnauthorized])
		case strings.HasPrefix(e.Message, "This field is deprecated!"):
		case class == "ACCESS_DENIED", class == "FORBIDDEN", class == "UNAUTHORIZED", strings.HasPrefix(e.Message, "Access denied"):
			return nil, fmt.Errorf("%w: %w; %s", errRight, err, s.help[http.StatusForbidden])
		case class == "TIMEOUT", class == "SERVER_ERROR", class == "INTERNAL_SERVER_ERROR", class == "TOO_MANY_REQUESTS":
			return nil, &failure{err: fmt.Errorf("%s: %w", class, err), again: true}
		default:
			return nil, err
		}
	}
	return &answer, nil
}

// Check implements [Source].
func (n *NewRelic) Check(ctx context.Context) error {
	_, err := n.query(ctx, "SELECT count(*) FROM TransactionError SINCE 1 hour ago")
	return err
}
