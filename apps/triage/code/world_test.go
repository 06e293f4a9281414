package code

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A clone is a real repository that a test writes.
type clone struct {
	t   *testing.T
	dir string
	at  int // seconds of the next commit
}

func newClone(t *testing.T) *clone {
	t.Helper()
	c := &clone{t: t, dir: t.TempDir(), at: 1_790_000_000}
	c.git("init", "-q", "-b", "main")
	return c
}

// git runs git as a person would, with names and times that never change.
func (c *clone) git(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", c.dir}, args...)...)
	when := strconv.Itoa(c.at) + " +0000"
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE="+when, "GIT_COMMITTER_DATE="+when,
		"GIT_AUTHOR_NAME=Ada Moss", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada Moss", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files, "" removes one, and returns the SHA.
func (c *clone) commit(subject string, files map[string]string) string {
	c.t.Helper()
	for name, text := range files {
		at := filepath.Join(c.dir, name)
		if text == "" {
			os.Remove(at)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
	c.at += 3600
	c.git("add", "-A")
	c.git("commit", "-q", "--allow-empty", "-m", subject)
	return c.git("rev-parse", "HEAD")
}

// priceV1 and priceV2 are a file before and after a change that brought a defect.
const (
	priceV1 = "def total(items):\n    return sum(i.price * i.count for i in items)\n\n\ndef rate(order):\n    return order.customer.rate if order.customer else 0\n"
	priceV2 = "def total(items):\n    return sum(i.price * i.count for i in items)\n\n\ndef rate(order):\n    return order.customer.rate\n"
)

// shop is a repository with two releases; the second one has a defect.
func shop(t *testing.T) (c *clone, good, bad string) {
	t.Helper()
	c = newClone(t)
	good = c.commit("Prices", map[string]string{
		"shop/price.py": priceV1, "shop/cart.py": "from shop.price import total\n", "AGENTS.md": "Prices are in cents.\n",
		"shop/AGENTS.md": "No floats.\n", "CODEOWNERS": "* @acme/all\n/shop/ @acme/prices ada@example.com\n/docs/\nwrong[ @acme/x\n/shop/cart.py\n",
		"docs/a.md": "Text.\n",
	})
	c.git("tag", "v1.0.0")
	bad = c.commit("Every customer has a rate", map[string]string{"shop/price.py": priceV2})
	c.git("tag", "-m", "second", "v1.1.0")
	c.commit("Words", map[string]string{"docs/a.md": "Other text.\n"})
	return c, good, bad
}

// reader returns a reader of one clone.
func reader(t *testing.T, c *clone, mask func(string) string) *Reader {
	t.Helper()
	r, err := New(Options{Repos: []Repo{{Name: "acme/shop", Dir: c.dir, Paths: []Mapping{{From: "/app/"}}}}, Mask: mask})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// version returns the version of a release.
func version(t *testing.T, r *Reader, release string) Version {
	t.Helper()
	v, err := r.Version(t.Context(), "acme/shop", release)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
