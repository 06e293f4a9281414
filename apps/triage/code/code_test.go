package code

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/decantdev/decant/apps/triage/source"
)

func TestLocate(t *testing.T) {
	t.Parallel()
	shop := Repo{Name: "acme/shop", Dir: newClone(t).dir, Paths: []Mapping{
		{From: "/app/"}, {From: "/app/billing", To: "services/billing"}, {From: "github.com/acme/shop/"}, {From: "webpack://shop/src", To: "web/src"}, {From: `C:\build\`, To: "win"},
	}}
	other := Repo{Name: "acme/lib", Dir: newClone(t).dir, Paths: []Mapping{{From: "/app/lib"}}}
	r, err := New(Options{Repos: []Repo{shop, other}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ file, want string }{
		{"/app/src/x.py", "acme/shop src/x.py"},
		{"/app/./src/../x.py", "acme/shop x.py"},
		{"/app/billing/run.py", "acme/shop services/billing/run.py"},
		{"/app/billings/run.py", "acme/shop billings/run.py"},
		{"/app/lib/x.py", "acme/lib x.py"},
		{"github.com/acme/shop/pkg/x.go", "acme/shop pkg/x.go"},
		{"github.com/acme/shop@v1.2.3/pkg/x.go", "acme/shop pkg/x.go"},
		{"github.com/acme/shopping/x.go", ""},
		{"webpack://shop/src/cart.ts?3a1f", "acme/shop web/src/cart.ts"},
		{`C:\build\app\main.cs`, "acme/shop win/app/main.cs"},
		{"/app/../etc/passwd", ""},
		{"github.com/acme/shop/../../etc/passwd", ""},
		{"/usr/lib/python3/json/decoder.py", ""},
		{"", ""},
	}
	for _, tt := range tests {
		repo, name, ok := r.Locate(source.Frame{File: tt.file})
		if got := strings.TrimSpace(repo + " " + name); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("Locate(%q) = %q, %v; want %q", tt.file, got, ok, tt.want)
		}
	}
}

func TestFindBySuffix(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.commit("Files", map[string]string{"src/orders/price.go": "x\n", "src/a/util.go": "x\n", "src/b/util.go": "x\n", "json/decoder.py": "x\n"})
	r := reader(t, c, nil)
	v := version(t, r, "")
	for file, want := range map[string]string{
		"/build/42/src/orders/price.go": "src/orders/price.go", "orders/price.go": "src/orders/price.go", "/build/util.go": "", "a/util.go": "src/a/util.go",
		"/usr/lib/python3/json/decoder.py": "", "node_modules/price.go": "", "nothing.go": "", "/app/orders/price.go": "",
	} {
		if got, ok := r.Find(t.Context(), v, source.Frame{File: file}); ok != (want != "") || ok && got != want {
			t.Errorf("Find(%q) = %q, %v; want %q", file, got, ok, want)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	c, good, bad := shop(t)
	c.git("branch", "abcdef1") // a branch is no release, whatever it looks like
	r := reader(t, c, nil)
	tests := []struct{ release, sha string }{
		{"v1.0.0", good}, {"1.0.0", good}, {"shop@1.0.0", good}, {"shop@1.1.0+42", bad}, {"v1.1.0", bad}, {good, good}, {good[:7], good}, {"shop@" + bad[:12], bad},
		{"9.9.9", ""}, {"", ""}, {"abcdef1", ""}, {"--upload-pack=x", ""}, {"v1.0.0^{commit}", ""}, {"../../x", ""}, {"HEAD", ""}, {"main", ""},
	}
	for _, tt := range tests {
		v := version(t, r, tt.release)
		if known := v.Notice == ""; known != (tt.sha != "") || known && v.SHA != tt.sha {
			t.Errorf("Version(%q) = %s, notice %q; want %s", tt.release, v.SHA, v.Notice, tt.sha)
		}
	}
	if v := version(t, r, "9.9.9"); v.SHA != c.git("rev-parse", "main") || !strings.Contains(v.Notice, "main") {
		t.Errorf("the default branch stands for an unknown release: %+v", v)
	}
	a, err := r.ReadFile(t.Context(), version(t, r, ""), "shop/cart.py", 0, 0)
	if err != nil || !strings.HasPrefix(a.Text, "Notice: The event names no release.") {
		t.Errorf("the notice travels with every answer: %v\n%s", err, a.Text)
	}
	if v := version(t, r, strings.Repeat("x", 5000)); len(v.Notice) > 500 {
		t.Errorf("a notice of %d characters", len(v.Notice))
	}
	if _, err := r.Version(t.Context(), "acme/other", ""); err == nil {
		t.Error("an unknown repository is an error")
	}
}

func TestTagTemplate(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	sha := c.commit("One", map[string]string{"a": "x\n"})
	c.git("tag", "orders-v1.0")
	c.git("tag", "1.0", c.commit("Two", map[string]string{"a": "y\n"}))
	r, err := New(Options{Repos: []Repo{{Name: "shop", Dir: c.dir, Tag: "orders-v{release}"}}})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := r.Version(t.Context(), "shop", "1.0"); err != nil || v.SHA != sha {
		t.Errorf("Version = %+v, %v; want %s", v, err, sha)
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	c, _, bad := shop(t)
	r := reader(t, c, nil)
	v := version(t, r, "v1.1.0")
	a, err := r.ReadFile(t.Context(), v, "shop/price.py", 5, 6)
	if err != nil {
		t.Fatal(err)
	}
	want := Shown{Repo: "acme/shop", SHA: bad, Path: "shop/price.py", FromLine: 5, ToLine: 6, Text: "def rate(order):\n    return order.customer.rate"}
	if len(a.Shown) != 1 || a.Shown[0] != want {
		t.Errorf("Shown = %+v, want %+v", a.Shown, want)
	}
	if !strings.Contains(a.Text, "    6:\t    return order.customer.rate\n") || !strings.Contains(a.Text, "lines 5 to 6 of 6") {
		t.Errorf("Text = %s", a.Text)
	}
	for _, name := range []string{"shop/nothing.py", "price.py", "shop", "../x", "--help", ""} {
		if _, err := r.ReadFile(t.Context(), v, name, 0, 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadFile(%q) = %v", name, err)
		}
	}
	if _, err := r.ReadFile(t.Context(), v, "price.py", 0, 0); !strings.Contains(err.Error(), "shop/price.py") {
		t.Errorf("the error names the file that may be meant: %v", err)
	}
	if _, err := r.ReadFile(t.Context(), v, "shop/price.py", 7, 0); err == nil {
		t.Error("a file of six lines has no seventh one")
	}
}

// What is cut is half from the beginning and half from the end, the mark says what is missing, and Shown is what was shown and nothing else.
func TestLongFile(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := 1; i <= 2000; i++ {
		fmt.Fprintf(&text, "line %d of the file with ümläuts\n", i)
	}
	c := newClone(t)
	c.commit("Long", map[string]string{"long.txt": text.String(), "wide.js": strings.Repeat("x", 30_000) + "\nlast\n"})
	r := reader(t, c, nil)
	v := version(t, r, "")
	a, err := r.ReadFile(t.Context(), v, "long.txt", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := utf8.RuneCountInString(a.Text); n > MostFile || n < MostFile-200 {
		t.Errorf("%d characters", n)
	}
	if len(a.Shown) != 2 || a.Shown[0].FromLine != 1 || a.Shown[1].ToLine != 2000 {
		t.Fatalf("%d parts", len(a.Shown))
	}
	head, tail := len(a.Shown[0].Text), len(a.Shown[1].Text)
	if head > tail*11/10 || tail > head*11/10 {
		t.Errorf("the beginning has %d bytes and the end %d", head, tail)
	}
	from, to := a.Shown[0].ToLine+1, a.Shown[1].FromLine-1
	if want := fmt.Sprintf("in %d lines are left out here. To read them: read_file with from %d and to %d", to-from+1, from, to); !strings.Contains(a.Text, want) {
		t.Errorf("no %q in the mark", want)
	}
	for _, s := range a.Shown {
		for i, l := range strings.Split(s.Text, "\n") {
			if l != fmt.Sprintf("line %d of the file with ümläuts", s.FromLine+i) {
				t.Fatalf("line %d is shown as %q", s.FromLine+i, l)
			}
		}
	}
	wide, err := r.ReadFile(t.Context(), v, "wide.js", 0, 0)
	if err != nil || !strings.Contains(wide.Text, "[+29000 characters: read_file with from 1 and column 1001]") || wide.Shown[0].Text != strings.Repeat("x", 1000)+"\nlast" {
		t.Errorf("a wide line: %v\n%.1200s", err, wide.Text)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	if got := Cut("ab", 2, ""); got != "ab" {
		t.Errorf("a text exactly at the limit is untouched: %q", got)
	}
	got := Cut(strings.Repeat("ä", 3000)+strings.Repeat("b", 3000), MostTraces, "Ask.")
	if n := utf8.RuneCountInString(got); n > MostTraces || !strings.HasPrefix(got, "äää") || !strings.HasSuffix(got, "bbb") || !strings.Contains(got, "Ask.") {
		t.Errorf("%d characters", n)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	c, _, _ := shop(t)
	files := map[string]string{"bin.dat": "total\x00", "docs/z.md": "TOTAL\n"}
	for i := range 60 { // so many that git is asked first
		files[fmt.Sprintf("many/f%d.txt", i)] = "nothing\n"
	}
	c.commit("More", files)
	r := reader(t, c, nil)
	v := version(t, r, "")
	tests := []struct{ pattern, under, want string }{
		{`total\(`, "", "shop/price.py:1"},
		{`^from\b`, "", "shop/cart.py:1"},
		{`(?i)total$`, "", "docs/z.md:1 shop/cart.py:1"},
		{"total", "shop/cart.py", "shop/cart.py:1"},
		{"total", "*.py", "shop/cart.py:1 shop/price.py:1"},
		{"total", "shop", "shop/cart.py:1 shop/price.py:1"},
		{`--help`, "", ""},
		{`\d{3}`, "", ""},
	}
	for _, tt := range tests {
		a, err := r.Search(t.Context(), v, tt.pattern, tt.under)
		if err != nil {
			t.Errorf("Search(%q): %v", tt.pattern, err)
			continue
		}
		var got []string
		for _, s := range a.Shown {
			got = append(got, fmt.Sprintf("%s:%d", s.Path, s.FromLine))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("Search(%q, %q) = %v, want %s", tt.pattern, tt.under, got, tt.want)
		}
	}
	for _, bad := range []string{"(", "", ".*", `(a)\1`} {
		if _, err := r.Search(t.Context(), v, bad, ""); err == nil {
			t.Errorf("Search(%q) is no error", bad)
		}
	}
	if _, err := r.Search(t.Context(), v, "x", "nowhere"); err == nil {
		t.Error("a directory that is not there is an error")
	}
	long, err := r.Search(t.Context(), v, strings.Repeat("(total|nothing)?", 400)+"nothing", "")
	if n := utf8.RuneCountInString(long.Text); err != nil || n > MostSearch {
		t.Errorf("%d characters for a long pattern, %v", n, err)
	}
	a, err := r.Search(t.Context(), v, "nothing", "")
	if n := utf8.RuneCountInString(a.Text); err != nil || n > MostSearch {
		t.Errorf("%d characters, %v", n, err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	c, _, _ := shop(t)
	r := reader(t, c, nil)
	v := version(t, r, "v1.0.0")
	a, err := r.List(t.Context(), v, ".")
	if err != nil || !strings.Contains(a.Text, "docs/ (1 files)\nshop/ (3 files)\nAGENTS.md (21 bytes)\n") {
		t.Errorf("%v\n%s", err, a.Text)
	}
	if a, err = r.List(t.Context(), v, "/shop/"); err != nil || !strings.Contains(a.Text, "price.py") {
		t.Errorf("%v\n%s", err, a.Text)
	}
	if _, err = r.List(t.Context(), v, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	first := c.commit("One", map[string]string{"conf.py": "a = 1\n"})
	sha := c.commit("Key hunter2 is in", map[string]string{"conf.py": "a = 1\nkey = 'hunter2'\n"})
	r := reader(t, c, func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") })
	v := version(t, r, sha)
	read, _ := r.ReadFile(t.Context(), v, "conf.py", 0, 0)
	diff, _ := r.Diff(t.Context(), "acme/shop", sha, "")
	found, _ := r.Search(t.Context(), v, "key", "")
	none, err := r.Search(t.Context(), v, "hunter", "")
	_, changes, _ := r.Changes(t.Context(), v, Window{Good: first}, []string{"conf.py"})
	for _, a := range []Answer{read, diff, found, changes} {
		if strings.Contains(fmt.Sprint(a), "hunter2") || !strings.Contains(a.Text, "[secret]") {
			t.Errorf("%+v", a)
		}
	}
	if err != nil || len(none.Shown) != 0 {
		t.Errorf("a secret is found by its beginning: %v %s", err, none.Text)
	}
}

func TestChangesAndSuspects(t *testing.T) {
	t.Parallel()
	c, good, bad := shop(t)
	r := reader(t, c, nil)
	v := version(t, r, "")
	for _, w := range []Window{{Good: "v1.0.0"}, {Good: good[:8]}, {Since: time.Unix(1_790_005_000, 0)}} {
		all, a, err := r.Changes(t.Context(), v, w, []string{"shop/price.py", "shop/cart.py"})
		if err != nil || len(all) != 1 || all[0].SHA != bad || all[0].Subject != "Every customer has a rate" || all[0].Author != "Ada Moss" {
			t.Errorf("%+v: %+v, %v\n%s", w, all, err, a.Text)
		}
		if strings.Contains(a.Text, "ada@example.com") {
			t.Error("a model is told an address")
		}
	}
	if _, a, err := r.Changes(t.Context(), v, Window{Good: "0.0.1"}, []string{"shop/price.py"}); err != nil || !strings.HasPrefix(a.Text, "Notice: nobody knows") {
		t.Errorf("%v\n%s", err, a.Text)
	}
	var seen Seen
	if _, ok := seen.Suspect("acme/shop", bad); ok {
		t.Error("a commit is a suspect whose diff nobody has read")
	}
	a, err := r.Diff(t.Context(), "acme/shop", bad[:9], "shop/price.py")
	if err != nil {
		t.Fatal(err)
	}
	seen.Add(a)
	for _, q := range []Quote{
		{Repo: "acme/shop", SHA: bad[:7], Path: "shop/price.py", Line: 6, Text: "return order.customer.rate"},
		{Repo: "acme/shop", SHA: good, Path: "shop/price.py", Line: 6, Text: "return order.customer.rate if order.customer else 0"},
		{Repo: "acme/shop", SHA: bad, Path: "shop/price.py", Line: 5, Text: "def rate(order):\n    return order.customer.rate"},
	} {
		if err := seen.Check(q); err != nil {
			t.Errorf("%+v: %v\n%+v", q, err, seen.Shown())
		}
	}
	for _, q := range []Quote{
		{Repo: "acme/shop", SHA: bad, Path: "shop/price.py", Line: 6, Text: "return order.customer.rate if order.customer else 0"},
		{Repo: "acme/shop", SHA: bad, Path: "shop/price.py", Line: 5, Text: "return order.customer.rate"},
		{Repo: "acme/shop", SHA: bad, Path: "shop/price.py", Line: 1, Text: "def total(items):"},
		{Repo: "acme/shop", SHA: bad, Path: "shop/cart.py", Line: 1, Text: "from"},
		{Repo: "acme/shop", SHA: bad[:6], Path: "shop/price.py", Line: 6, Text: "return"},
		{Repo: "acme/shop", SHA: bad, Path: "shop/price.py", Line: 6, Text: " "},
		{Repo: "acme/shop", SHA: bad, Path: "shop/price.py", Line: -1, Text: "x"},
	} {
		if seen.Check(q) == nil {
			t.Errorf("%+v matches", q)
		}
	}
	kept, err := json.Marshal(&seen)
	if err != nil {
		t.Fatal(err)
	}
	var again Seen
	if err := json.Unmarshal(kept, &again); err != nil {
		t.Fatal(err)
	}
	if s, ok := again.Suspect("acme/shop", bad[:10]); !ok || s.Change().SHA != bad || len(again.Shown()) != len(seen.Shown()) {
		t.Errorf("kept as %s", kept)
	}
	if _, err := r.Diff(t.Context(), "acme/shop", bad, "docs/a.md"); err == nil {
		t.Error("a file that a commit does not touch has no diff")
	}
	for _, sha := range []string{"HEAD", "--output=x", "main", "abc"} {
		if _, err := r.Diff(t.Context(), "acme/shop", sha, ""); err == nil {
			t.Errorf("Diff(%q) is no error", sha)
		}
	}
}

func TestDiffOfRootAndRename(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	text := strings.Repeat("same\n", 20)
	first := c.commit("Root", map[string]string{"a b.txt": text, "-- x": "--- a/y\n+++ b/y\n"})
	second := c.commit("Rename", map[string]string{"a b.txt": "", "c.txt": text + "more\n", "-- x": "other\n"})
	r := reader(t, c, nil)
	a, err := r.Diff(t.Context(), "acme/shop", first, "")
	if err != nil || !strings.Contains(a.Text, "new a b.txt") || !strings.Contains(a.Text, "new -- x\n") {
		t.Errorf("%v\n%s", err, a.Text)
	}
	a, err = r.Diff(t.Context(), "acme/shop", second, "")
	if err != nil || !strings.Contains(a.Text, "renamed a b.txt to c.txt") || !strings.Contains(a.Text, "   21+\tmore") || !strings.Contains(a.Text, "    1-\t--- a/y") {
		t.Errorf("%v\n%s", err, a.Text)
	}
}

func TestOwner(t *testing.T) {
	t.Parallel()
	c, _, bad := shop(t)
	r := reader(t, c, nil)
	v := version(t, r, "v1.1.0")
	tests := []struct {
		name string
		line int
		want string
	}{
		{"shop/price.py", 6, "@acme/prices ada@example.com CODEOWNERS, line 2"},
		{"AGENTS.md", 0, "@acme/all CODEOWNERS, line 1"},
		{"docs/a.md", 1, "Ada Moss"},
		{"shop/cart.py", 0, "Ada Moss"},
	}
	for _, tt := range tests {
		o, a, err := r.Owner(t.Context(), v, tt.name, tt.line)
		if got := strings.Join(o.Names, " ") + " " + o.Rule; err != nil || !strings.HasPrefix(got, tt.want) {
			t.Errorf("Owner(%s) = %s, %v\n%s", tt.name, got, err, a.Text)
		}
	}
	c.commit("No owners", map[string]string{"CODEOWNERS": ""})
	o, _, err := r.Owner(t.Context(), version(t, r, c.git("rev-parse", "HEAD")), "shop/price.py", 6)
	if err != nil || o.Change == nil || o.Change.SHA != bad || o.Change.Email != "ada@example.com" {
		t.Errorf("blame says %+v, %v", o, err)
	}
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	c, _, _ := shop(t)
	r := reader(t, c, nil)
	text, err := r.Instructions(t.Context(), version(t, r, "v1.0.0"), "shop/price.py")
	if top, sub := strings.Index(text, "in cents"), strings.Index(text, "No floats"); err != nil || top < 0 || sub < top {
		t.Errorf("%v\n%s", err, text)
	}
}

// Nothing that a repository's own settings name is run, and links lead nowhere.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	c, _, _ := shop(t)
	mark := filepath.Join(t.TempDir(), "ran")
	run := "sh -c 'touch " + mark + "'"
	for _, key := range []string{"core.fsmonitor", "core.pager", "pager.log", "pager.grep", "diff.external", "diff.x.command", "diff.x.textconv", "core.sshCommand", "core.editor", "gpg.program", "filter.x.smudge", "alias.log"} {
		c.git("config", key, run)
	}
	c.git("config", "log.showSignature", "true")
	if err := os.Symlink("/etc/passwd", filepath.Join(c.dir, "link")); err != nil {
		t.Skip(err)
	}
	sha := c.commit("Hostile", map[string]string{".gitattributes": "* diff=x filter=x\n", "shop/-e": "x\n", ":(top)x": "y\n", "x\ny": "line feed\n",
		"CODEOWNERS": ""}) // without it the owner of a line is its author
	os.Remove(mark)
	r := reader(t, c, nil)
	v := version(t, r, sha)
	if _, err := r.ReadFile(t.Context(), v, "link", 0, 0); err == nil {
		t.Error("a link is read")
	}
	for _, name := range []string{"shop/-e", ":(top)x", "x\ny"} {
		if _, err := r.ReadFile(t.Context(), v, name, 0, 0); err != nil {
			t.Error(err)
		}
		if _, err := r.Diff(t.Context(), "acme/shop", sha, name); err != nil && name != "x\ny" {
			t.Error(err)
		}
		if _, _, err := r.Owner(t.Context(), v, name, 1); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Search(t.Context(), v, "feed", ""); err != nil {
		t.Error(err)
	}
	if _, _, err := r.Changes(t.Context(), v, Window{}, []string{"shop/-e"}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("something of the repository was run")
	}
}

func TestNewNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := newClone(t).dir
	inner := filepath.Join(dir, "inner")
	os.Mkdir(inner, 0o755)
	for want, repos := range map[string][]Repo{
		"needs a name": {{Dir: dir}}, "two of this name": {{Name: "a", Dir: dir}, {Name: "a", Dir: dir}}, "not the top": {{Name: "a", Dir: inner}},
		"GitHub token": {{Name: "a/b"}}, "open the clone": {{Name: "a", Dir: filepath.Join(dir, "none")}},
	} {
		if _, err := New(Options{Repos: repos}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", repos, err, want)
		}
	}
}

// Programs in containers are all in one folder: a frame is looked for in the repository that is asked about, where several map the folder.
func TestTwoRepositoriesMapOneFolder(t *testing.T) {
	t.Parallel()
	var repos []Repo
	for _, name := range []string{"acme/one", "acme/two"} {
		c := newClone(t)
		c.commit("Files", map[string]string{"main.py": "x\n", name[5:] + ".py": "x\n"})
		repos = append(repos, Repo{Name: name, Dir: c.dir, Paths: []Mapping{{From: "/app/"}}})
	}
	r, err := New(Options{Repos: repos})
	if err != nil {
		t.Fatal(err)
	}
	for _, repo := range repos {
		v, err := r.Version(t.Context(), repo.Name, "")
		if err != nil {
			t.Fatal(err)
		}
		for file, want := range map[string]bool{"/app/main.py": true, "/app/one.py": repo.Name == "acme/one", "/app/two.py": repo.Name == "acme/two"} {
			if name, ok := r.Find(t.Context(), v, source.Frame{File: file}); ok != want {
				t.Errorf("%s in %s: %q, %v", file, repo.Name, name, ok)
			}
		}
	}
}
