package summarize_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/summarize"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/testkit"
)

// kindsOfSecrets are credentials with what stands around them, the value as %s; drawn returns one of so many letters. They are
// put together here, so that no scanner takes this file for a leak.
var kindsOfSecrets = []struct {
	around string
	value  func(r *rand.Rand) string
}{
	{"GITHUB=%s", func(r *rand.Rand) string { return "ghp" + "_" + drawn(r, 36) }},
	{"use %s for the release", func(r *rand.Rand) string { return "github" + "_pat_" + drawn(r, 40) }},
	{"the token is %s", func(r *rand.Rand) string { return "gl" + "pat-" + drawn(r, 20) }},
	{"key %s of the account", func(r *rand.Rand) string { return "sk-" + "ant-api03-" + drawn(r, 40) }},
	{"OPENAI_API_KEY=%s", func(r *rand.Rand) string { return "sk-" + "proj-" + drawn(r, 40) }},
	{"aws_secret_access_key = %s", func(r *rand.Rand) string { return drawn(r, 40) }},
	{"aws_access_key_id = %s", func(r *rand.Rand) string { return "AKIA" + strings.ToUpper(drawn(r, 16)) }},
	{"slack: %s", func(r *rand.Rand) string { return "xox" + "b-1234567890-" + drawn(r, 24) }},
	{"stripe %s", func(r *rand.Rand) string { return "sk_" + "live_" + drawn(r, 24) }},
	{"Authorization: Bearer %s", func(r *rand.Rand) string { return drawn(r, 32) }},
	{"DATABASE_URL=postgres://app:%s@db.internal:5432/prod", func(r *rand.Rand) string { return drawn(r, 16) }},
	{"DB_PASSWORD=%s", func(r *rand.Rand) string { return drawn(r, 14) }},
	{`{"password": "%s"}`, func(r *rand.Rand) string { return drawn(r, 14) }},
	{"curl -u admin:%s https://x.test", func(r *rand.Rand) string { return drawn(r, 14) }},
	{"mysql -uroot -p%s app", func(r *rand.Rand) string { return drawn(r, 14) }},
	{"npm %s", func(r *rand.Rand) string { return "npm" + "_" + drawn(r, 36) }},
	{"curl -H 'x-api-key: %s' https://x.test", func(r *rand.Rand) string { return drawn(r, 32) }},
	{"JWT_SIGNING_KEY: %s", func(r *rand.Rand) string { return drawn(r, 40) }},
	{"Cookie: sid=%s; path=/", func(r *rand.Rand) string { return drawn(r, 32) }},
	{"-----BEGIN RSA " + "PRIVATE KEY-----\n%s\n-----END RSA " + "PRIVATE KEY-----", func(r *rand.Rand) string { return drawn(r, 64) }},
}

func drawn(r *rand.Rand, n int) string {
	const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	out := make([]byte, n)
	for i := range out {
		out[i] = letters[r.IntN(len(letters))]
	}
	out[1], out[n/2] = '7', 'Q' // none is a word
	return string(out)
}

// 200 credentials of 20 kinds stand in what people, model and tools say, in arguments, at the edges of previews and in what
// is wished. None of them leaves, is in a record, though a model repeats it, or in a log.
func TestNoSecretLeaves(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 7))
	var ms []decant.Message
	var values, told []string
	for i := range 10 {
		for k, kind := range kindsOfSecrets {
			v := kind.value(r)
			values = append(values, v)
			s := fmt.Sprintf(kind.around, v)
			told = append(told, s)
			n := 4*(i*len(kindsOfSecrets)+k) + 1
			id := fmt.Sprint("c", n)
			says := [4]string{"Please go on.", `{"command":"true"}`, "ok", "Done."}
			switch i % 5 {
			case 0:
				says[0] = "Use this:\n" + s + "\nand go on."
			case 1:
				says[1] = `{"command":` + quoted("cat <<E\n"+s+"\nE") + `}`
			case 2:
				says[2] = strings.Repeat("x", 480-len(s)/2) + "\n" + s + "\n" + strings.Repeat("y ", 600) // over the edge of the preview
			case 3:
				says[2] = strings.Repeat("y ", 600) + "\n" + s + "\n" + strings.Repeat("x", 200-len(s)/2)
			case 4:
				says[3] = "It says:\n" + s + "\n"
			}
			ms = append(ms, user(n, says[0]), call(n+1, id, "Bash", says[1]), result(n+2, id, "Bash", says[2]), model(n+3, says[3]))
		}
	}
	if len(values) != 200 {
		t.Fatalf("%d secrets", len(values))
	}
	var mu sync.Mutex
	var logged strings.Builder
	a := &script{answer: func(_ context.Context, n int, r *provider.Request) (*provider.Answer, error) {
		if n == 0 {
			return &provider.Answer{Text: "# Goal\nm1 The user wants " + strings.Join(told, "\nm2 "), Stop: "end_turn"}, nil
		}
		return &provider.Answer{Text: "# Goal\nm1 The user wants to go on.\n# State\n" + "m2 " + strings.Join(told, "\nm2 "), Stop: "end_turn"}, nil
	}}
	s, err := summarize.New(summarize.Options{Asker: a, Model: summarize.Always("claude-haiku-4-5"), Logger: testkit.Log(func(_ slog.Level, line string) {
		mu.Lock()
		defer mu.Unlock()
		logged.WriteString(line + "\n")
	})})
	if err != nil {
		t.Fatal(err)
	}
	in := input(ms)
	in.MaxTokens = 20_000
	in.Instructions, in.Focus = told[0], told[27]
	out, err := s.Summarize(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.asked) != 2 || !strings.Contains(a.asked[1].Prompt, "written before") && !strings.Contains(a.asked[1].Prompt, "wrote before") {
		t.Errorf("%d calls: the correction is not tested", len(a.asked))
	}
	leaks := 0
	for i, v := range values {
		for k, where := range map[string]string{"first prompt": a.asked[0].System + a.asked[0].Prompt, "correction": a.asked[1].System + a.asked[1].Prompt, "record": out.Text, "log": logged.String()} {
			if strings.Contains(where, v) {
				leaks++
				t.Errorf("kind %d, place %d: in the %s", i%20, i/20%5, k)
			}
		}
		for _, half := range []string{v[:len(v)/2], v[len(v)/2:]} {
			if len(half) >= 10 && strings.Contains(a.asked[0].Prompt, half) {
				leaks++
				t.Errorf("kind %d, place %d: a half in the prompt", i%20, i/20%5)
			}
		}
	}
	t.Logf("%d leaks of %d secrets", leaks, len(values))
	if !strings.Contains(out.Text, "[redacted") || !strings.Contains(logged.String(), "record by a model") {
		t.Error("nothing was masked, or nothing was logged")
	}
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }
