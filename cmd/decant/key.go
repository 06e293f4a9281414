package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/store"
)

type keyCmd struct {
	Add    keyAddCmd    `cmd:"" help:"Create a key for a tenant. It is printed once and never again." example:"decant key add alice --usd-per-day 5"`
	List   keyListCmd   `cmd:"" help:"List keys with their tenants, limits and state." example:"decant key list"`
	Revoke keyRevokeCmd `cmd:"" help:"Revoke keys for good. Running gateways notice within seconds." example:"decant key revoke abcdefgh"`
}

// keyFlags name the database that holds the keys.
type keyFlags struct {
	DB     string `name:"db" placeholder:"FILE" help:"Database file, or postgres:// address, or @FILE with one (or DECANT_DB). Default: the gateway's."`
	Config string `placeholder:"FILE" help:"YAML file with the gateway's settings (or DECANT_CONFIG)."`
	command.KeyFileFlag
}

// of returns the same as flags of other commands.
func (f *keyFlags) of() *command.DBFlag {
	return &command.DBFlag{DB: f.DB, Config: f.Config, KeyFileFlag: f.KeyFileFlag}
}

// with runs do with the open database. With create it makes a database that does not exist.
func (f *keyFlags) with(s *process.Process, create bool, do func(context.Context, store.Store) error) error {
	of := f.of()
	if !create {
		return of.With(s, do)
	}
	c, err := of.Settings(s)
	if err != nil {
		return err
	}
	ctx := context.Background()
	db, err := setup.Open(ctx, c, c.DB)
	if err != nil && exit.Code(err) != exit.BadUsage {
		err = exit.Input(err)
	}
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, db), db.Close())
}

type keyAddCmd struct {
	Tenant            string         `arg:"" help:"Tenant that the key admits."`
	Note              string         `placeholder:"TEXT" help:"What the key is for."`
	RequestsPerMinute command.Amount `placeholder:"N" help:"Maximum requests per minute."`
	TokensPerMinute   command.Amount `placeholder:"N" help:"Maximum tokens per minute. Tokens read from the provider's cache do not count."`
	TokensPerDay      command.Amount `placeholder:"N" help:"Maximum tokens of the tenant per day (UTC)."`
	USDPerDay         dollars        `name:"usd-per-day" placeholder:"N" help:"Maximum dollars of the tenant per day (UTC)."`
	TokensPerMonth    command.Amount `placeholder:"N" help:"Maximum tokens of the tenant per month (UTC)."`
	USDPerMonth       dollars        `name:"usd-per-month" placeholder:"N" help:"Maximum dollars of the tenant per month (UTC)."`
	Tokens            command.Amount `placeholder:"N" help:"Maximum tokens of the tenant in total."`
	USD               dollars        `name:"usd" placeholder:"N" help:"Maximum dollars of the tenant in total."`
	keyFlags
}

// Run makes a key.
func (c *keyAddCmd) Run(s *process.Process) error {
	limits, err := c.limits()
	if err != nil {
		return exit.Usage(err)
	}
	for what, text := range map[string]string{"tenant": c.Tenant, "--note": c.Note} {
		if err := printable(what, text); err != nil {
			return exit.Usage(err)
		}
	}
	if c.Tenant == "" {
		return exit.Usage(errors.New("tenant: the name must not be empty: that is the tenant of a gateway without keys"))
	}
	text, k := keyring.Make(c.Tenant)
	k.Note, k.Limits, k.Created = c.Note, limits, time.Now()
	return c.with(s, true, func(ctx context.Context, db store.Store) error {
		before, err := db.TenantKeys(ctx)
		if err == nil {
			err = db.AddKey(ctx, k, command.Act(s, "key add", "", "", ""))
		}
		if err != nil {
			return err
		}
		if len(before) == 0 {
			fmt.Fprintln(s.Err, "note: from now on, \"decant serve\" with this database requires a key with every request")
		}
		fmt.Fprintf(s.Err, "key %s of tenant %s; clients send it as the header x-decant-key. It is not shown again:\n", k.ID, k.Tenant)
		_, err = fmt.Fprintln(s.Out, text)
		return err
	})
}

// limits returns what the flags allow.
func (c *keyAddCmd) limits() (store.Limits, error) {
	for _, a := range []command.Amount{c.RequestsPerMinute, c.TokensPerMinute, c.TokensPerDay, c.TokensPerMonth, c.Tokens} {
		if a.Given && a.Tokens == 0 {
			return store.Limits{}, errors.New("a limit is a number, not a share")
		}
	}
	l := store.Limits{Requests: c.RequestsPerMinute.Tokens, Tokens: c.TokensPerMinute.Tokens}
	for _, a := range []store.Allowance{
		{Per: "day", Tokens: c.TokensPerDay.Tokens, USD: float64(c.USDPerDay)},
		{Per: "month", Tokens: c.TokensPerMonth.Tokens, USD: float64(c.USDPerMonth)},
		{Per: "tenant", Tokens: c.Tokens.Tokens, USD: float64(c.USD)},
	} {
		if a.Tokens > 0 || a.USD > 0 {
			l.Budgets = append(l.Budgets, a)
		}
	}
	return l, nil
}

// dollars is an amount of money above zero.
type dollars float64

// UnmarshalText reads an amount of money from a flag.
func (d *dollars) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(strings.TrimPrefix(string(text), "$"), 64)
	if err != nil || !(v > 0 && v <= 1e9) {
		return fmt.Errorf("%q is not an amount of dollars: write 2.50", text)
	}
	*d = dollars(v)
	return nil
}

// printable returns an error unless a table can hold a text.
func printable(what, text string) error {
	const most = 100
	if len(text) > most || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("%s: want at most %d printable bytes on one line", what, most)
	}
	return nil
}

type keyListCmd struct {
	All  bool `help:"Also list revoked keys."`
	JSON bool `name:"json" help:"Print JSON."`
	keyFlags
}

// Run lists keys, without their secrets.
func (c *keyListCmd) Run(s *process.Process) error {
	return c.with(s, false, func(ctx context.Context, db store.Store) error {
		keys, err := db.TenantKeys(ctx)
		if err != nil {
			return err
		}
		rows := []report.Key{}
		for i := range keys {
			if k := &keys[i]; c.All || k.Revoked.IsZero() {
				rows = append(rows, report.Key{ID: k.ID, Tenant: k.Tenant, Note: k.Note, Created: k.Created, Revoked: k.Revoked, Limits: limitsOf(k.Limits)})
			}
		}
		if c.JSON {
			return command.WriteJSON(s.Out, rows)
		}
		return report.WriteKeys(s.Out, rows, time.Local)
	})
}

// limitsOf describes limits, each in a few words.
func limitsOf(l store.Limits) []string {
	out := []string{}
	if l.Requests > 0 {
		out = append(out, fmt.Sprintf("%s requests/min", report.Thousands(l.Requests)))
	}
	if l.Tokens > 0 {
		out = append(out, fmt.Sprintf("%s tokens/min", report.Thousands(l.Tokens)))
	}
	for _, a := range l.Budgets {
		per := map[string]string{"day": "/day", "month": "/month", "tenant": " in all", "conversation": "/conversation"}[a.Per]
		if a.Tokens > 0 {
			out = append(out, report.Thousands(a.Tokens)+" tokens"+per)
		}
		if a.USD > 0 {
			out = append(out, fmt.Sprintf("$%.2f%s", a.USD, per))
		}
	}
	return out
}

type keyRevokeCmd struct {
	ID []string `arg:"" help:"Ids of the keys; \"decant key list\" shows them."`
	keyFlags
}

// Run revokes keys.
func (c *keyRevokeCmd) Run(s *process.Process) error {
	return c.with(s, false, func(ctx context.Context, db store.Store) error {
		for _, id := range c.ID {
			err := db.RevokeKey(ctx, id, command.Act(s, "key revoke", "", "", ""))
			if errors.Is(err, store.ErrNotFound) {
				return exit.Input(fmt.Errorf("there is no key with this id: \"decant key list\" shows them")) // not quoted: what was typed may be a key
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(s.Err, "key %s is revoked; a running gateway notices within seconds\n", id)
		}
		return nil
	})
}
