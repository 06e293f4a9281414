package code

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/internal/pace"
	"github.com/decantdev/decant/testing/standin/github"
)

// served returns a stand-in for GitHub over a clone, and a reader of it.
func served(t *testing.T, c *clone, cache *Cache) (*github.Server, *Reader) {
	t.Helper()
	s, err := github.New(github.Options{Repos: map[string]string{"acme/shop": c.dir}, Token: "token"})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	client, err := GitHub("token", web.URL+"/", pace.New(pace.Options{Most: time.Second}))
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(Options{Repos: []Repo{{Name: "acme/shop", Paths: []Mapping{{From: "/app/"}}}}, GitHub: client, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

// What is read from GitHub is what is read from a clone, word for word.
func TestGitHubAnswersAsAClone(t *testing.T) {
	t.Parallel()
	c, good, bad := shop(t)
	files := map[string]string{".gitattributes": "secret.txt export-ignore\nversion.py export-subst\n", "secret.txt": "total in here\n", "version.py": "total = '$Format:%H$'\n"}
	for i := range 12 { // so many that the archive is read
		files[fmt.Sprintf("more/%d.txt", i)] = "nothing\n"
	}
	c.commit("More", files)
	here := reader(t, c, nil)
	_, there := served(t, c, nil)
	ctx := t.Context()
	for _, release := range []string{"v1.0.0", "1.1.0", good[:9], "", "unknown"} {
		a, errA := here.Version(ctx, "acme/shop", release)
		b, errB := there.Version(ctx, "acme/shop", release)
		if a != b || errA != nil || errB != nil {
			t.Fatalf("version %q: %+v, %v here, %+v, %v there", release, a, errA, b, errB)
		}
		for name, ask := range map[string]func(r *Reader) (Answer, error){
			"read":      func(r *Reader) (Answer, error) { return r.ReadFile(ctx, a, "shop/price.py", 2, 6) },
			"none":      func(r *Reader) (Answer, error) { return r.ReadFile(ctx, a, "price.py", 0, 0) },
			"search":    func(r *Reader) (Answer, error) { return r.Search(ctx, a, "total", "") },
			"in shop":   func(r *Reader) (Answer, error) { return r.Search(ctx, a, `rate\b`, "shop") },
			"list":      func(r *Reader) (Answer, error) { return r.List(ctx, a, "shop") },
			"diff":      func(r *Reader) (Answer, error) { return r.Diff(ctx, "acme/shop", bad, "") },
			"diff file": func(r *Reader) (Answer, error) { return r.Diff(ctx, "acme/shop", bad[:8], "shop/price.py") },
			"no diff":   func(r *Reader) (Answer, error) { return r.Diff(ctx, "acme/shop", bad, "CODEOWNERS") },
			"changes": func(r *Reader) (Answer, error) {
				_, answer, err := r.Changes(ctx, a, Window{Good: "v1.0.0"}, []string{"shop/price.py", "shop/cart.py"})
				return answer, err
			},
			"all changes": func(r *Reader) (Answer, error) {
				_, answer, err := r.Changes(ctx, a, Window{}, []string{"shop/price.py", "docs/a.md"})
				return answer, err
			},
			"owner": func(r *Reader) (Answer, error) {
				_, answer, err := r.Owner(ctx, a, "shop/price.py", 6)
				return answer, err
			},
			"instructions": func(r *Reader) (Answer, error) {
				text, err := r.Instructions(ctx, a, "shop/price.py")
				return Answer{Text: text}, err
			},
			"find": func(r *Reader) (Answer, error) {
				file, ok := r.Find(ctx, a, source.Frame{File: "/app/shop/cart.py"})
				return Answer{Text: fmt.Sprint(file, ok)}, nil
			},
		} {
			x, errX := ask(here)
			y, errY := ask(there)
			if x.Text != y.Text || !reflect.DeepEqual(x.Shown, y.Shown) || fmt.Sprint(errX) != fmt.Sprint(errY) {
				t.Errorf("%s at %q:\n%v\n%s\nthere:\n%v\n%s", name, release, errX, x.Text, errY, y.Text)
			}
		}
	}
}

func TestGitHubFaults(t *testing.T) {
	t.Parallel()
	c, _, _ := shop(t)
	s, r := served(t, c, nil)
	s.Inject(github.Fault{Operation: "repos/get-commit", Status: 502})
	if _, err := r.Version(t.Context(), "acme/shop", "v1.0.0"); err != nil {
		t.Errorf("a server that fails once is asked again: %v", err)
	}
	s.Inject(github.Fault{Operation: "git/get-tree", Status: 401, Times: 9})
	v := version(t, r, "v1.0.0")
	_, err := r.List(t.Context(), v, "")
	if err == nil || !strings.Contains(err.Error(), "expired") || strings.Contains(err.Error(), "http") {
		t.Errorf("an expired token: %v", err)
	}
	s.Inject(github.Fault{Operation: "repos/get", Status: 404})
	if _, err = r.Version(t.Context(), "acme/shop", "unknown"); err == nil || !strings.Contains(err.Error(), "that the token may read") {
		t.Errorf("a repository that is not there: %v", err)
	}
	s.Inject(github.Fault{Operation: "repos/get", Status: 429, RetryAfter: time.Hour})
	if _, err = r.Version(t.Context(), "acme/shop", "unknown"); err == nil || !strings.Contains(err.Error(), "fewer calls") {
		t.Errorf("a limit that is long: %v", err)
	}
}

// A run of similar errors asks GitHub for far less with the cache, and the tools use it.
func TestCacheSavesCalls(t *testing.T) {
	t.Parallel()
	c, _, _ := shop(t)
	files := map[string]string{}
	for i := range 12 {
		files[fmt.Sprintf("more/%d.txt", i)] = "nothing\n"
	}
	head := c.commit("More", files)
	run := func(cache *Cache) (int, Stats) {
		s, r := served(t, c, cache)
		v := version(t, r, head)
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() { investigate(t, r, v, i) })
		}
		all.Wait()
		return s.Total(), r.Stats()
	}
	without, _ := run(NewCache(CacheOptions{Off: true}))
	with, stats := run(NewCache(CacheOptions{}))
	t.Logf("%d calls without the cache, %d with it, %.0f %% hits", without, with, 100*stats.Rate())
	if with > without*7/10 {
		t.Errorf("%d calls of %d: not 30 %% fewer", with, without)
	}
	if stats.Hits == 0 {
		t.Error("the cache has no hits")
	}
}

// investigate asks what an investigation of one of several similar errors asks.
func investigate(t *testing.T, r *Reader, v Version, i int) {
	set := Tools{Reader: r, Seen: &Seen{}, Versions: []Version{v}, Window: Window{Good: "v1.0.0"}}
	calls := [][2]string{
		{"read_file", `{"path":"shop/price.py"}`}, {"read_file", fmt.Sprintf(`{"path":"more/%d.txt"}`, i)}, {"list_directory", `{"path":"shop"}`},
		{"recent_changes", `{"paths":["shop/price.py"]}`}, {"show_change", `{"sha":"` + v.SHA + `"}`}, {"who_owns", `{"path":"shop/price.py","line":6}`},
	}
	if i%2 == 0 {
		calls = append(calls, [2]string{"read_file", `{"path":"shop/cart.py"}`})
	}
	for _, call := range calls {
		if text, err := use(t, &set, call[0], call[1]); err != nil {
			t.Errorf("%s %s: %v\n%s", call[0], call[1], err, text)
		}
	}
}

// What is too large to be searched at a commit is looked for by GitHub's search, which says so, and which has its own limit.
func TestLargeRepository(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	files := map[string]string{"a/price.go": "total := 0\n"}
	for i := range 13 {
		files[fmt.Sprintf("data/%d.txt", i)] = strings.Repeat("0123456789abcde\n", 250_000)
	}
	c.commit("Large", files)
	s, r := served(t, c, nil)
	v := version(t, r, "")
	a, err := r.Search(t.Context(), v, `total :=`, "")
	if err != nil || len(a.Shown) != 1 || !strings.Contains(a.Text, "Notice: The repository is too large") {
		t.Errorf("%v\n%s", err, a.Text)
	}
	if a, err = r.Search(t.Context(), v, `to.al`, "a"); err != nil || len(a.Shown) != 1 || strings.Contains(a.Text, "too large") {
		t.Errorf("few files are searched at the commit: %v\n%s", err, a.Text)
	}
	if _, err = r.Search(t.Context(), v, `.otal`, ""); err == nil || !strings.Contains(err.Error(), "plain text") {
		t.Errorf("%v", err)
	}
	for i := range 10 {
		_, err = r.Search(t.Context(), v, fmt.Sprintf("word%d", i), "")
	}
	if !errors.Is(err, ErrLimit) || s.Calls()["search/code"] != 10 {
		t.Errorf("ten searches a minute: %v, %v", err, s.Calls())
	}
}
