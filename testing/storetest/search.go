package storetest

import (
	"fmt"
	"strings"

	"github.com/decantdev/decant/store"
)

var searchTests = []test{
	{"FindsWords", func(b *bench) {
		l := b.talk("s", "the quick brown fox", "jumps over the lazy dog", "and Müller sleeps in Straße 5")
		for query, want := range map[string]int{
			"fox": 1, "QUICK": 1, "lazy dog": 2, "dog lazy": 2, "muller": 3, "STRASSE": 3, "straße": 3, "stras": 3, "fox dog": 0, "absent": 0,
		} {
			b.finds(query, l, want)
		}
	}},
	{"FindsBeginningsOfWords", func(b *bench) {
		l := b.talk("s", "server_10 is up", "die Straßenbahn fährt", "die Größe berechneGröße", "GROSSE GRÖSSE")
		for query, want := range map[string]int{
			"server_1": 1, "serv is": 1, "erver": 1, "strassenbahn": 2, "Straßenb": 2, "STRASSENBAHN": 2, "berechneGr": 3, "server_2": 0,
			`"Strassenbahn f"`: 2, "fahrt": 2,
		} {
			b.finds(query, l, want)
		}
		for _, query := range []string{"größe", "GRÖSSE", "grosse"} {
			if n := len(b.search(store.Query{Text: query})); n != 2 {
				b.Errorf("%s is found %d times, want 2", query, n)
			}
		}
	}},
	{"FindsWhatIsNoWord", func(b *bench) {
		l := b.talk("s", "func (db *DB) Open() error { return nil }", "path store/sqlite/open.go:42", "--dry-run && rm -rf", "MyHTTPHandler")
		for query, want := range map[string]int{
			"store/sqlite/open.go": 2, "open.go:42": 2, "--dry-run": 3, "&&": 3, "*DB": 1, "HTTPHand": 4, "{": 1, "ndle": 4, "-rf": 3,
		} {
			b.finds(query, l, want)
		}
	}},
	{"FindsShortTerms", func(b *bench) {
		l := b.talk("s", "go to work", "a to z", "x")
		for query, want := range map[string]int{"go": 1, "z": 2, "x": 3, "wo": 1} {
			b.finds(query, l, want)
		}
	}},
	{"FindsScriptsWithoutSpaces", func(b *bench) {
		l := b.talk("s", "请修复数据库连接池的内存泄漏", "コンパクションを実行する", "데이터베이스를 확인", "open文件.txt里")
		for query, want := range map[string]int{
			"内存": 1, "泄": 1, "数据库连接池": 1, "库数": 0, "实行": 0, "実行": 2, "ション": 2, "데이터": 3, "文件": 4, "修复 内存": 1,
		} {
			b.finds(query, l, want)
		}
	}},
	{"QuotesArePhrases", func(b *bench) {
		l := b.talk("s", "error: no such file", "file has no such error", `she said "stop" twice`)
		for query, want := range map[string]int{
			`"no such file"`: 1, `"no such error"`: 2, `"such  file"`: 0, `"no such" has`: 2, `"error: no"`: 1, `stop"`: 3, `"`: 0, ``: 0, `" "`: 0,
		} {
			b.finds(query, l, want)
		}
	}},
	{"NothingIsSyntax", func(b *bench) {
		l := b.talk("s", "plain text", "NOT AND OR NEAR text:plain ^a* (b)")
		for query, want := range map[string]int{
			"NOT": 2, "AND OR": 2, "NEAR": 2, "text:plain": 2, "^a*": 2, "(b)": 2, "plain NOT": 2, "'; DROP TABLE blobs; --": 0, "%": 0, "_": 0,
		} {
			b.finds(query, l, want)
		}
	}},
	{"HitsSayWhereAndShowIt", func(b *bench) {
		long := strings.Repeat("before 前 ", 50) + "the\n\tneedle  here" + strings.Repeat(" after 后", 50)
		l := b.talk("s", "a", long)
		hit := b.search(store.Query{Text: "NEEDLE"})[0]
		b.equal("entry", hit.Entry, l.chain[1])
		if hit.Conversation != l.ID || hit.Session != "s" {
			b.Errorf("hit in conversation %q of session %q, want %q of s", hit.Conversation, hit.Session, l.ID)
		}
		if !strings.Contains(hit.Snippet, "the needle here") || len(hit.Snippet) > 400 || hit.Snippet[hit.Match[0]:hit.Match[1]] != "needle" {
			b.Errorf("snippet %q, match %v: want a short line around the word", hit.Snippet, hit.Match)
		}
	}},
	{"OneHitForEachText", func(b *bench) {
		l := b.talk("s", "needle", "x", "needle")
		f := b.fork(l, 1)
		f.must(f.say("y", "needle"))
		b.talk("t", "needle")
		if hits := b.search(store.Query{Text: "needle"}); len(hits) != 1 || hits[0].Conversation != l.ID {
			b.Errorf("one text in several places: %+v, want one hit in the oldest conversation", hits)
		}
	}},
	{"WithinOneConversation", func(b *bench) {
		l, k := b.talk("s", "needle one"), b.talk("t", "needle two")
		f := b.fork(l, 1)
		if hits := b.search(store.Query{Text: "needle", Conversation: k.ID}); len(hits) != 1 || hits[0].Conversation != k.ID {
			b.Errorf("search in one conversation: %+v", hits)
		}
		if hits := b.search(store.Query{Text: "needle", Conversation: f.ID}); len(hits) != 1 || hits[0].Conversation != l.ID {
			b.Errorf("search in a fork includes what it shares: %+v", hits)
		}
	}},
	{"LimitAndIndex", func(b *bench) {
		var texts []string
		for range 150 {
			texts = append(texts, b.id("needle text"))
		}
		b.talk("s", texts...)
		if n, err := b.Index(b.ctx, 10); n != 10 || err != nil {
			b.Errorf("Index(10) = %d, %v", n, err)
		}
		if n := len(b.search(store.Query{Text: "needle"})); n != 20 {
			b.Errorf("without a limit: %d hits, want 20", n)
		}
		if n := len(b.search(store.Query{Text: "needle", Limit: 1000})); n != 150 {
			b.Errorf("with a limit of 1000: %d hits, want all 150: the first search indexes the rest", n)
		}
		if n, err := b.Index(b.ctx, 0); n != 0 || err != nil {
			b.Errorf("Index when nothing is left = %d, %v", n, err)
		}
	}},
	{"IndexesLargeTexts", func(b *bench) {
		var texts []string
		for i := range 6 {
			texts = append(texts, strings.Repeat(fmt.Sprintf("filler%d ", i), 20_000)+"needle")
		}
		b.talk("s", texts...)
		if n, err := b.Index(b.ctx, 0); n != len(texts) || err != nil {
			b.Errorf("Index(0) = %d, %v; want all %d", n, err, len(texts))
		}
		if n := len(b.search(store.Query{Text: "needle filler3"})); n != 1 {
			b.Errorf("%d hits, want 1", n)
		}
	}},
	{"FindsWhatOtherHandlesCommit", func(b *bench) {
		b.talk("s", "one")
		b.search(store.Query{Text: "one"})
		other := b.another()
		l := b.line("", "t")
		if _, err := other.Commit(b.ctx, l.say("needle")); err != nil {
			b.Fatal(err)
		}
		if n := len(b.search(store.Query{Text: "needle"})); n != 1 {
			b.Errorf("%d hits for a text that another process committed, want 1", n)
		}
	}},
}

// finds checks that the query finds just the line's n-th entry, nothing when n is 0.
func (b *bench) finds(query string, l *line, n int) {
	b.Helper()
	var got []int
	for _, h := range b.search(store.Query{Text: query}) {
		got = append(got, h.Entry.Position)
	}
	var want []int
	if n > 0 {
		want = []int{n}
	}
	b.equal("entries found for "+query, got, want)
}

func (b *bench) search(q store.Query) []store.Hit {
	b.Helper()
	hits, err := b.Search(b.ctx, q)
	if err != nil {
		b.Fatalf("search %s: %v", q.Text, err)
	}
	return hits
}
