package storetest

import (
	"bytes"
	"errors"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

var blobTests = []test{
	{"ComeBackByteForByte", func(b *bench) {
		l := b.line("", "s")
		batch := l.say("hello")
		contents := [][]byte{
			{}, {0}, []byte("\xff\xfe"), []byte("short"), bytes.Repeat([]byte("compressible "), 10_000),
			[]byte(strings.Repeat("x", 191)), []byte(strings.Repeat("x", 192)), noise(100_000),
		}
		batch.Blobs = append(batch.Blobs, contents...)
		l.must(batch)
		var hashes []decant.Hash
		for _, c := range contents {
			hashes = append(hashes, decant.HashText(string(c)))
		}
		got, err := b.Blobs(b.ctx, "", hashes...)
		if err != nil {
			b.Fatal(err)
		}
		for i := range contents {
			if !bytes.Equal(got[i], contents[i]) {
				b.Errorf("blob %d of %d bytes came back different, %d bytes long", i, len(contents[i]), len(got[i]))
			}
		}
	}},
	{"InTheOrderAsked", func(b *bench) {
		l := b.talk("s", "a", "b")
		got, err := b.Blobs(b.ctx, "", l.chain[1].Text, l.chain[0].Text, l.chain[1].Text)
		if err != nil {
			b.Fatal(err)
		}
		b.equal("contents", got, [][]byte{[]byte("b"), []byte("a"), []byte("b")})
	}},
	{"HashesMayBeGiven", func(b *bench) {
		l := b.line("", "s")
		batch := l.say("hello")
		for _, c := range batch.Blobs {
			batch.Hashes = append(batch.Hashes, decant.HashText(string(c)))
		}
		l.must(batch)
		b.readable(l)
		b.sound()
		batch = l.say("again")
		batch.Hashes = []decant.Hash{decant.HashText("one too few")}
		if _, err := b.Commit(b.ctx, batch); !errors.Is(err, store.ErrInvalid) {
			b.Errorf("%d blobs with one hash: got %v, want ErrInvalid", len(batch.Blobs), err)
		}
	}},
	{"MissingIsNotFoundAndNamed", func(b *bench) {
		h := decant.HashText("nowhere")
		_, err := b.Blobs(b.ctx, "", h)
		if !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), h.String()) {
			b.Errorf("missing blob: got %v, want ErrNotFound with the hash", err)
		}
	}},
	{"AreStoredOnce", func(b *bench) {
		need[store.Collector](b)
		text := string(noise(1000))
		l := b.talk("s", text, text, text)
		b.talk("t", text)
		c, err := b.GC(b.ctx, store.Policy{Now: epoch.AddDate(1, 0, 0), MaxAge: 1, DryRun: true})
		if err != nil {
			b.Fatal(err)
		}
		if c.Blobs != 2 {
			b.Errorf("four blocks with one content are %d blobs, want 2 (the block and its text)", c.Blobs)
		}
		b.equal("a dry run removes nothing", l.load(store.Newest).Chain, l.chain)
	}},
}

// noise returns n bytes that no compression makes smaller.
func noise(n int) []byte {
	out := make([]byte, 0, n+16)
	for h := decant.HashText("noise"); len(out) < n; h = decant.HashText(string(h[:])) {
		out = append(out, h[:]...)
	}
	return out[:n]
}

var resolveTests = []test{
	{"BlockHandle", func(b *bench) {
		l := b.talk("s", "the original", "hi")
		batch := l.batch(0)
		d := l.shrink(1, "short")
		batch.Decisions = []decant.Decision{d}
		l.must(batch)
		for _, k := range []store.Key{l.Key, {}, b.fork(l, 2).Key} {
			o, err := b.Resolve(b.ctx, k, d.Handle)
			if err != nil {
				b.Errorf("resolve %s in conversation %q: %v", d.Handle, k.ID, err)
				continue
			}
			b.equal("the decision, the conversation that holds it, and the original's entry",
				*o, store.Original{Key: l.Key, Decision: d, Entries: l.chain[:1]})
		}
		l.must(l.batch(1, l.blocks(0, "something else")...))
		if o, err := b.Resolve(b.ctx, l.Key, d.Handle); err != nil || o.Entries[0].Text != d.Target.Hash {
			b.Errorf("a handle outlives its entry: got %v, %v", o, err)
		}
	}},
	{"CheckpointHandle", func(b *bench) {
		l := b.talk("s", "a", "b", "c", "d")
		batch := l.batch(0)
		batch.Decisions = []decant.Decision{l.cover(1, 2, 3)}
		l.must(batch)
		covered := l.chain[1:3]
		l.must(l.batch(2, l.blocks(1, "amended")...))
		o, err := b.Resolve(b.ctx, l.Key, "c:1")
		if err != nil {
			b.Fatal(err)
		}
		b.equal("all that the checkpoint covered when it was made", *o, store.Original{Key: l.Key, Decision: batch.Decisions[0], Entries: covered})
		if _, err := b.Resolve(b.ctx, l.Key, "c:2"); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("unknown checkpoint: got %v, want ErrNotFound", err)
		}
	}},
	{"AmbiguousListsCandidates", func(b *bench) {
		one, two := collision()
		l := b.talk("s", one, "hi", two)
		batch := l.batch(0)
		batch.Decisions = []decant.Decision{l.shrink(1, "1"), l.shrink(3, "3")}
		l.must(batch)
		short := "d:" + decant.Handle(l.chain[0].Text.String()[:6])
		_, err := b.Resolve(b.ctx, l.Key, short)
		var a *store.AmbiguousError
		if !errors.As(err, &a) || len(a.Candidates) != 2 {
			b.Fatalf("a handle that fits two contents: got %v, want an AmbiguousError with both", err)
		}
		for _, c := range a.Candidates {
			if _, err := b.Resolve(b.ctx, l.Key, decant.Handle(c)); err != nil {
				b.Errorf("candidate %s does not resolve: %v", c, err)
			}
		}
	}},
	{"ForgedHandlesAreErrors", func(b *bench) {
		l := b.talk("s", "a")
		for _, h := range []decant.Handle{"", "d:", "d:12", "d:zzzzzzzz", "c:", "c:0", "c:-1", "c:x", "x:1f2e3d4c", "d:%", "1f2e3d4c", "d:" + decant.Handle(strings.Repeat("0", 33))} {
			if _, err := b.Resolve(b.ctx, l.Key, h); !errors.Is(err, store.ErrBadHandle) {
				b.Errorf("handle %q: got %v, want ErrBadHandle", h, err)
			}
		}
		if _, err := b.Resolve(b.ctx, l.Key, "d:00000000"); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("a handle of nothing: got %v, want ErrNotFound", err)
		}
	}},
}

// collision returns two texts whose hashes have the same first 6 digits.
func collision() (string, string) {
	seen := map[string]string{}
	for text := "x"; ; text = decant.HashText(text).String() {
		digits := decant.HashText(text).String()[:6]
		if other, ok := seen[digits]; ok {
			return other, text
		}
		seen[digits] = text
	}
}
