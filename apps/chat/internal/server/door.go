package chatserver

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/internal/front"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/store"
)

// A door says who comes in: by a key, or by the cookie that a key was changed for. A cookie holds the key, encrypted under a secret of
// the database, so that it is worth nothing elsewhere, outlives a restart, and ends when its key is revoked.
type door struct {
	opts    *Options
	secret  []byte
	foreign *http.CrossOriginProtection
}

// A user is who asks.
type user struct {
	Tenant string `json:"tenant"`
	Open   bool   `json:"open"` // no key is needed
	CSRF   string `json:"csrf"`

	pass *keyring.Pass
}

const (
	cookieName = "decant_session"
	cookieAge  = 30 * 24 * time.Hour
	csrfHeader = "X-CSRF-Token"
)

// errKey means that nobody is let in.
var errKey = &apiError{http.StatusUnauthorized, "authentication", "a key is needed: send Authorization: Bearer KEY, or log in"}

// errOtherUser means that somebody else on this machine asks a service without keys. Its conversations and the credential
// that it pays with are those of the user who runs it.
var errOtherUser = &apiError{http.StatusForbidden, "permission",
	"this service has no keys, so it answers only the user who runs it: create a key with decant key add, and send it"}

func newDoor(o *Options) (*door, error) {
	d := &door{opts: o, foreign: http.NewCrossOriginProtection()}
	var err error
	d.secret, err = secretOf(context.Background(), o.Store)
	return d, err
}

// secretOf returns the secret of the database, which is made when there is none.
func secretOf(ctx context.Context, s store.Journals) ([]byte, error) {
	k := store.Key{ID: "chat.secret"}
	for range 2 {
		steps, err := s.Steps(ctx, k, 0, 1)
		if err == nil && len(steps) == 1 {
			return steps[0], nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return nil, fmt.Errorf("read the secret of cookies: %w", err)
		}
		secret := make([]byte, 32)
		rand.Read(secret) // never fails
		if err := s.AddSteps(ctx, &store.Addition{Key: k, Kind: "secret", Steps: [][]byte{secret}}); err != nil && !errors.Is(err, store.ErrConflict) {
			return nil, fmt.Errorf("keep the secret of cookies: %w", err)
		}
	}
	return nil, errors.New("the secret of cookies was removed while it was read")
}

// named reports whether the service may be reached under a name. A page of somebody else that has its own name lead here is kept out.
func (d *door) named(host string) bool {
	if d.opts.Hosts == nil {
		return true
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.Trim(name, "[]")
	if ip := net.ParseIP(name); ip != nil {
		return true // nobody can have a name lead to a number
	}
	return name == "localhost" || slices.Contains(d.opts.Hosts, name)
}

// admit says who asks.
func (d *door) admit(r *http.Request) (*user, error) {
	if err := d.foreign.Check(r); err != nil {
		return nil, &apiError{http.StatusForbidden, "permission", "the request comes from another site"}
	}
	if d.opts.Keys == nil || !d.opts.Keys.Closed() {
		if front.OtherUser(r) {
			return nil, errOtherUser
		}
		return &user{Open: true, pass: &keyring.Pass{}}, nil
	}
	if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return d.pass(key)
	}
	c, err := r.Cookie(cookieName)
	if err != nil {
		return nil, errKey
	}
	key, err := d.opened(c.Value)
	if err != nil {
		return nil, errKey
	}
	u, err := d.pass(key)
	if err != nil {
		return nil, err
	}
	u.CSRF = d.csrf(c.Value)
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !hmac.Equal([]byte(r.Header.Get(csrfHeader)), []byte(u.CSRF)) {
		return nil, &apiError{http.StatusForbidden, "permission", "the header " + csrfHeader + " is missing or wrong: GET /v1/me tells it"}
	}
	return u, nil
}

// pass returns the user with a key.
func (d *door) pass(key string) (*user, error) {
	p, err := d.opts.Keys.Admit(key)
	if errors.Is(err, keyring.ErrKey) {
		return nil, errKey
	}
	if err != nil {
		return nil, err // it has used up a limit
	}
	return &user{Tenant: p.Tenant, pass: p}, nil
}

// csrf returns the token that belongs to a cookie.
func (d *door) csrf(cookie string) string {
	m := hmac.New(sha256.New, d.secret)
	m.Write([]byte("csrf " + cookie))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// errLogin means that what was sent is no login.
var errLogin = &apiError{http.StatusBadRequest, "invalid_request", `send {"key": "..."}`}

// mostLogin is the size of the largest login: whoever sends it has shown no key yet.
const mostLogin = 16 << 10

// login changes a key for a cookie.
func (d *door) login(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Key string `json:"key"`
	}
	if d.foreign.Check(r) != nil || d.opts.Keys == nil {
		return errLogin
	}
	if r.ContentLength > mostLogin {
		return &http.MaxBytesError{Limit: mostLogin} // nothing of it is read
	}
	if err := json.UnmarshalRead(http.MaxBytesReader(w, r.Body, mostLogin), &in); err != nil {
		return unread(err, errLogin)
	}
	u, err := d.pass(in.Key)
	if err != nil {
		return err
	}
	value := d.sealed(in.Key)
	u.CSRF = d.csrf(value)
	http.SetCookie(w, d.cookie(r, value, int(cookieAge.Seconds())))
	write(w, http.StatusOK, u)
	return nil
}

// logout ends the cookie.
func (d *door) logout(w http.ResponseWriter, r *http.Request) {
	if d.foreign.Check(r) == nil {
		http.SetCookie(w, d.cookie(r, "", -1))
	}
	w.WriteHeader(http.StatusNoContent)
}

// cookie returns the cookie with a value.
func (d *door) cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode}
}
