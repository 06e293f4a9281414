package secret

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hostile are texts that, repeated, make work for one of the ways to find a credential.
var hostile = []string{
	"-----BEGIN PRIVATE KEY-----!", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nA: b\n",
	"A: -----BEGIN PRIVATE KEY-----\n", "PRIVATE KEY-----",
	"-----BEGIN PRIVATE KEY-----\n1 2 3\n", "-----END PRIVATE KEY-----",
	"-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("Ab1", 20) + "\n",
	"eyJ", "eyJ.", "eyJ-", "eyJabcdefghij.", "-eyJabcdefghij.eyJ", "sk-", "sk-ant-", "-sk-ant-a", "AKIA", "MT-",
	"MTaaaaaaaaaaaaaaaaaaaaaaaa.", "12345678:AA", "hooks.slack.com/services/",
	"password=", "key=", "pass=a", "password:", "password: ", "password:\n ", `password="`, "password='", "token: \"", "a='", "x=", "==", ":", "::", ">", "<token>", "secret:\\\"",
	"Cookie:", "Cookie: a=b;", "bearer ", "Bearer ", "login ", "login a password ", "password is ", "://",
	"://a:", "://a:b", "://@", "a://b:c@d ", "://a:/", "?token=a&",
	"set ", "set a", "define('a', ", "name: a\nvalue: ", "value=", "mysql ", "mysql -p", "curl -b ",
	"curl -b a=b;", "curl -u ", "curl -u a:", " -p", " -", "--a ", "--token ", "--password ", "-", "a-", "\\",
	"\\n", "\\\"", "a", "A", "aB", "A_", "_", ".", "/", " ", "\n", "\t", "é", "\x00", "0", "0a",
}

// mostWork is the most bytes that are looked at for each byte of a text. Most texts need two or three.
const mostWork = 40

func workOf(text string) int {
	s := scanner{text: text}
	s.find()
	return s.work
}

// TestWorkIsLinear counts the bytes that are looked at, in texts of two sizes.
func TestWorkIsLinear(t *testing.T) {
	const size = 1 << 13
	for _, p := range hostile {
		for _, head := range []string{"", "mysql ", "password='", "https://a:"} {
			small := workOf(head + strings.Repeat(p, size/len(p)))
			large := workOf(head + strings.Repeat(p, 4*size/len(p)))
			if large > 4*small+small/2+4*size/8 || large > mostWork*4*size {
				t.Errorf("%.40q after %q: %d bytes looked at in %d, %d in %d", p, head, small, size, large, 4*size)
			}
		}
	}
}

// TestWorkIsLinearInMixtures does the same for what is put together by lot.
func TestWorkIsLinearInMixtures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(hostile), 1, 5).Draw(t, "parts")
		text := strings.Join(parts, rapid.SampledFrom([]string{"", " ", "\n", "-"}).Draw(t, "between"))
		text = strings.Repeat(text, 1+5_000/len(text))
		if got := workOf(text); got > mostWork*len(text) {
			t.Fatalf("%d bytes looked at in a text of %d", got, len(text))
		}
	})
}

// BenchmarkHostile shows the time for each pattern at two sizes: MB/s must not fall with the size.
func BenchmarkHostile(b *testing.B) {
	for _, p := range hostile {
		for size := 1 << 16; size <= 1<<18; size *= 2 {
			text := strings.Repeat(p, size/len(p))
			b.Run(fmt.Sprintf("%.20q/%dKB", p, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Find(text)
				}
			})
		}
	}
}
