package code

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// What is held is loaded once for all who ask at the same time, for thirty minutes, within the bytes that there are.
func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCache(CacheOptions{})
		var loads atomic.Int64
		get := func(key string) (string, error) {
			return remember(t.Context(), c, key, func(s string) int64 { return int64(len(s)) }, func(context.Context) (string, error) {
				time.Sleep(time.Second)
				return fmt.Sprintf("%s %d", key, loads.Add(1)), nil
			})
		}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if v, err := get("a"); v != "a 1" || err != nil {
					t.Errorf("%q, %v", v, err)
				}
			})
		}
		all.Wait()
		if s := c.stats(); s != (Stats{Hits: 19, Misses: 1}) || s.Rate() != 0.95 {
			t.Errorf("%+v", s)
		}
		time.Sleep(29*time.Minute + 50*time.Second)
		if v, _ := get("a"); v != "a 1" {
			t.Errorf("%q after nearly half an hour", v)
		}
		time.Sleep(20 * time.Second)
		if v, _ := get("a"); v != "a 2" {
			t.Errorf("%q after half an hour: what is read often is held no longer", v)
		}
	})
}

func TestCacheBytes(t *testing.T) {
	c := NewCache(CacheOptions{Bytes: 10_000})
	loads := 0
	get := func(key string) {
		remember(t.Context(), c, key, func(s string) int64 { return int64(len(s)) }, func(context.Context) (string, error) {
			loads++
			return strings.Repeat("x", 3000), nil
		})
	}
	for i := range 10 {
		get(fmt.Sprint(i))
	}
	if n := c.items.Len(); n < 2 || n > 3 {
		t.Errorf("%d items of 3000 bytes in 10000", n)
	}
	get("9")
	if get("0"); loads != 11 {
		t.Errorf("%d loads", loads)
	}
}

func TestCacheErrors(t *testing.T) {
	c := NewCache(CacheOptions{})
	loads := 0
	get := func(key string, err error) error {
		_, err = remember(t.Context(), c, key, func(string) int64 { return 0 }, func(context.Context) (string, error) { loads++; return "", err })
		return err
	}
	for range 2 {
		if err := get("missing", fmt.Errorf("no file: %w", fs.ErrNotExist)); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if get("broken", errors.New("broken")) == nil {
			t.Error("no error")
		}
	}
	if loads != 3 {
		t.Errorf("%d loads: what is not there is held, what has failed is tried again", loads)
	}
}

// Whoever leaves does not take away what others wait for.
func TestCacheWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCache(CacheOptions{})
		get := func(ctx context.Context) (string, error) {
			return remember(ctx, c, "a", func(string) int64 { return 0 }, func(ctx context.Context) (string, error) {
				select {
				case <-ctx.Done():
					return "", ctx.Err()
				case <-time.After(time.Minute):
					return "loaded", nil
				}
			})
		}
		leaving, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		go get(leaving)
		synctest.Wait()
		if v, err := get(t.Context()); v != "loaded" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
	})
}

func FuzzParsePatch(f *testing.F) {
	f.Add("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ f\n a\n-b\n+c\n\\ No newline at end of file\n")
	f.Add("diff --git a/x b/y\nrename from x\nrename to y\nBinary files a/x and b/y differ\n@@ -0,0 +1 @@\n+x")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range parsePatch(text) {
			p.heading()
			for _, r := range p.rows {
				if r.kind != '@' && r.old <= 0 && r.new <= 0 {
					t.Errorf("a line without a number: %+v", r)
				}
			}
		}
	})
}

func FuzzOwners(f *testing.F) {
	f.Add("* @a\n/b/ @c/d\n*.go x@example.com\n", "b/c.go")
	f.Add("**/x/** @a # note\n[ @a\n\\#a @b", "x/y")
	f.Fuzz(func(t *testing.T, text, name string) {
		if _, err := match("CODEOWNERS", []byte(text), name); err != nil {
			t.Error(err)
		}
	})
}

func FuzzParseChanges(f *testing.F) {
	f.Add("\x01\n0123456789012345678901234567890123456789\n\nAda\nada@example.com\n1790000000\nSubject\n\na.go\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range parseChanges(text) {
			if checkSHA(c.SHA) != nil {
				t.Errorf("%+v", c)
			}
		}
	})
}
