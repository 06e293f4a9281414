package seal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var places = rapid.Custom(func(t *rapid.T) Place {
	s := rapid.SampledFrom([]string{"", "a", "b", "ab"})
	n := rapid.Int64Range(-1, 1)
	return Place{s.Draw(t, "column"), s.Draw(t, "tenant"), s.Draw(t, "id"), s.Draw(t, "part"), n.Draw(t, "number"), n.Draw(t, "version")}
})

// TestOnlyAtItsPlace guards that a value opens where it was sealed, and nowhere else.
func TestOnlyAtItsPlace(t *testing.T) {
	b, other := NewBox(), NewBox()
	rapid.Check(t, func(t *rapid.T) {
		value, at, elsewhere := rapid.SliceOf(rapid.Byte()).Draw(t, "value"), places.Draw(t, "at"), places.Draw(t, "elsewhere")
		sealed := bytes.TrimPrefix(b.Seal([]byte("before"), value, at), []byte("before"))
		if got, err := b.Open(sealed, at); err != nil || !bytes.Equal(got, value) || got == nil || len(sealed) != len(value)+Overhead {
			t.Fatalf("opened %q, %v; want %q", got, err, value)
		}
		if got, err := b.Open(sealed, elsewhere); elsewhere != at && !errors.Is(err, ErrDamaged) {
			t.Fatalf("elsewhere: %q, %v", got, err)
		}
		if got, err := other.Open(sealed, at); !errors.Is(err, ErrDamaged) {
			t.Fatalf("with another key: %q, %v", got, err)
		}
		sealed[rapid.IntRange(0, len(sealed)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if got, err := b.Open(sealed, at); !errors.Is(err, ErrDamaged) {
			t.Fatalf("changed: %q, %v", got, err)
		}
	})
}

func TestShortValuesAreDamaged(t *testing.T) {
	b := NewBox()
	for n := range Overhead {
		if _, err := b.Open(make([]byte, n), Place{}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if _, err := Unwrap(make([]byte, n), &Key{}); !errors.Is(err, ErrDamaged) {
			t.Errorf("wrapped key of %d bytes: %v", n, err)
		}
	}
}

func TestNames(t *testing.T) {
	b := NewBox()
	rapid.Check(t, func(t *rapid.T) {
		name, other := rapid.String().Draw(t, "name"), rapid.String().Draw(t, "other")
		at, elsewhere := places.Draw(t, "at"), places.Draw(t, "elsewhere")
		s := b.SealName(name, at)
		if s != b.SealName(name, at) {
			t.Fatal("the same name has two forms")
		}
		if got, err := b.OpenName(s, at); err != nil || got != name {
			t.Fatalf("opened %q, %v; want %q", got, err, name)
		}
		if x := b.SealName(other, elsewhere); (other != name || elsewhere != at) && x[:ShortName] == s[:ShortName] {
			t.Fatal("two names have the same short form")
		}
		if got, err := b.OpenName(s, elsewhere); elsewhere != at && !errors.Is(err, ErrDamaged) {
			t.Fatalf("elsewhere: %q, %v", got, err)
		}
	})
}

func TestHashes(t *testing.T) {
	b, other := NewBox(), NewBox()
	rapid.Check(t, func(t *rapid.T) {
		var h [hashSize]byte
		copy(h[:], rapid.SliceOfN(rapid.Byte(), hashSize, hashSize).Draw(t, "hash"))
		tenant := rapid.String().Draw(t, "tenant")
		m := b.MaskHash(tenant, h)
		if b.UnmaskHash(tenant, m) != h || b.MaskHash(tenant, h) != m {
			t.Fatal("a mask cannot be undone, or differs")
		}
		if m == h || m == other.MaskHash(tenant, h) || m == b.MaskHash(tenant+"x", h) {
			t.Fatal("a mask does not depend on key and tenant")
		}
	})
}

func TestWrap(t *testing.T) {
	old, err := ParseKey(strings.Repeat("01", KeySize))
	if err != nil {
		t.Fatal(err)
	}
	other, _ := ParseKey(strings.Repeat("02", KeySize))
	b := NewBox()
	wrapped := b.Wrap(old)
	if got, err := Unwrap(wrapped, old); err != nil || got.data != b.data {
		t.Errorf("unwrap: %v", err)
	}
	if _, err := Unwrap(wrapped, other); !errors.Is(err, ErrWrongKey) {
		t.Errorf("unwrap with another key: %v", err)
	}
	if old.ID() == other.ID() || len(old.ID()) != 8 {
		t.Errorf("ids of keys: %s, %s", old.ID(), other.ID())
	}
	if NewBox().data == b.data {
		t.Error("two boxes have the same data key")
	}
}

func TestParseKey(t *testing.T) {
	raw := bytes.Repeat([]byte{0xfb, 0xff}, KeySize/2)
	for _, text := range []string{
		hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw)) + "\n", " " + base64.StdEncoding.EncodeToString(raw) + "\r\n",
		base64.URLEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
	} {
		if k, err := ParseKey(text); err != nil || !bytes.Equal(k.secret[:], raw) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", "hunter2", hex.EncodeToString(raw)[2:], hex.EncodeToString(raw) + "00", string(raw), "?" + base64.StdEncoding.EncodeToString(raw)} {
		if _, err := ParseKey(text); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestReadKey(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	if _, err := ReadKey(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a key that is not there: %v", err)
	}
	if err := os.WriteFile(name, []byte(strings.Repeat("ab", KeySize)), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o440: true, 0o640: true, 0o644: false, 0o604: false, 0o602: false} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKey(name); (err == nil) != ok && runtime.GOOS != "windows" {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}

// TestNothingPrintsAKey tries what programs print values with.
func TestNothingPrintsAKey(t *testing.T) {
	k, err := ParseKey(strings.Repeat("a7", KeySize))
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(k.secret)
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%q", "%d"} {
		fmt.Fprintf(&out, verb+verb+verb+verb+verb, k, *k, b, struct{ K *Key }{k}, []Key{*k})
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("x", "key", k, "value", *k, "box", b)
	}
	for _, s := range []string{"a7a7", "A7A7", "167 167", "167, 167", "0xa7, 0xa7"} {
		if strings.Contains(out.String(), s) {
			t.Errorf("%s stands in\n%s", s, out.String())
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	x := NewBox()
	for _, n := range []int{64, 4 << 10, 128 << 10} {
		value, at := make([]byte, n), Place{Column: "packs.data", ID: "0198b2f1-0000-7000-8000-000000000000", Number: 7}
		var dst []byte
		b.Run(fmt.Sprint("Seal", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				dst = x.Seal(dst[:0], value, at)
			}
		})
		b.Run(fmt.Sprint("Open", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Open(dst, at); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("MaskHash", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x.MaskHash("tenant", [hashSize]byte{})
		}
	})
}
