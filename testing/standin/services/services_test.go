package services_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/internal/pace"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/testing/sample"
	"github.com/decantdev/decant/testing/standin/github"
	"github.com/decantdev/decant/testing/standin/services"
)

// A direct carries calls to a handler without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	in := httptest.NewRequest(r.Method, r.URL.String(), nil)
	in.Header = r.Header
	d.ServeHTTP(w, in)
	return w.Result(), nil
}

// searches has five investigations search code, five times each, and returns how many searches were refused.
func searches(via http.RoundTripper) (refused int) {
	var g sync.WaitGroup
	var mu sync.Mutex
	for i := range 5 {
		g.Go(func() {
			for k := range 5 {
				req := httptest.NewRequest(http.MethodGet, "http://api.example.com/search/code?q=total"+strconv.Itoa(5*i+k)+"+repo:acme/orders", nil)
				req.Header.Set("Authorization", "Bearer "+services.GitHubToken)
				res, err := via.RoundTrip(req)
				if mu.Lock(); err != nil || res.StatusCode != http.StatusOK {
					refused++
				}
				mu.Unlock()
			}
		})
	}
	g.Wait()
	return refused
}

// The search of code of GitHub takes ten calls a minute, and the stand-in enforces it: five investigations that share a pacer are never refused. Without it
// they are.
func TestNoSearchIsRefused(t *testing.T) {
	s, err := sample.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	repos, err := s.Repos(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{}
	for _, r := range repos {
		dirs[r.Name] = r.Dir
	}
	for paced, want := range map[bool]int{true: 0, false: 15} {
		synctest.Test(t, func(t *testing.T) {
			hub, err := github.New(github.Options{Repos: dirs, Token: services.GitHubToken})
			if err != nil {
				t.Fatal(err)
			}
			began, via := time.Now(), http.RoundTripper(direct{hub})
			if paced {
				via = pace.New(pace.Options{Via: via, Most: time.Hour})
			}
			if refused := searches(via); refused != want || hub.Calls()["search/code"] != 25 {
				t.Errorf("paced: %v: %d refused, want %d, of %d, in %v", paced, refused, want, hub.Calls()["search/code"], time.Since(began))
			}
			// Two minutes are the least. Which call learns first how many are left differs, and each may cost a minute more.
			if took := time.Since(began); took > 5*time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// The settings that are written for the services of a sample can be read, and name its sources and repositories.
func TestSettingsOfServices(t *testing.T) {
	s, err := sample.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	server, err := services.New(services.Options{Sample: s, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	set, err := triage.ReadSettings(triage.File{Name: "triage.yaml", Data: []byte(services.Settings(s))}, &process.Process{Environ: services.Environment(web.URL)})
	if err != nil || len(set.Sources) != 2 || len(set.Repos) != 2 || len(set.Repos[0].Paths) != 2 || set.Services["billing"] != "acme/billing" {
		t.Fatalf("%+v, %v", set, err)
	}
	for _, src := range set.Sources {
		if err := src.Check(t.Context()); err != nil {
			t.Errorf("%s: %v", src.Name(), err)
		}
	}
}
