package mask

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestMask(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"mail to Ann.Lee+x@corp.example.org failed, again ann.lee+x@corp.example.org, then b@c.de", "mail to [email-1] failed, again [email-1], then [email-2]"},
		{"GET /u?email=ann%40corp.org&token=abc123&page=2", "GET /u?email=[email-1]&token=[secret-1]&page=2"},
		{"call +49 30 1234567 or (212) 555-0123, 212-555-0124, 030/12345678", "call [phone-1] or [phone-2], [phone-3], [phone-4]"},
		{"connect to 10.1.2.3:5432 from db/192.168.0.7 and 2001:db8::1", "connect to [ip-1]:5432 from db/[ip-2] and [ip-3]"},
		{"card 4111 1111 1111 1111 declined, 4111111111111111 too; 4111 1111 1111 1112 is none", "card [card-1] declined, [card-1] too; 4111 1111 1111 1112 is none"},
		{"to DE89 3704 0044 0532 0130 00 EUR 5, GB82WEST12345698765432", "to [iban-1] EUR 5, [iban-2]"},
		{`user_name=alice id=7 {"firstName":"Alice","last_name":"Smith"}`, `user_name=[name-1] id=7 {"firstName":"[name-2]","last_name":"[name-3]"}`},
		{"full_name: Alice Smith, dob: 1990-01-02, street: 12 Main St, ssn 078-05-1120", "full_name: [name-1], dob: [birthdate-1], street: [address-1], ssn [id-1]"},
		{`"user_name"=>"bob", :password=>"x1"`, `"user_name"=>"[name-1]", :password=>"[password-1]"`},
		{`log {\"user_name\":\"carol\"}`, `log {\"user_name\":\"[name-1]\"}`},
		{`FATAL: password authentication failed for user "dora"`, `FATAL: password authentication failed for user "[name-1]"`},
		{"File \"/home/erika/app/orders.py\", line 3", "File \"/home/[name-1]/app/orders.py\", line 3"},
		{"Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [secret-1]"},
		{"ERROR: duplicate key: Key (username)=(alice) already exists. Key (email, phone)=(a@b.co, 5551234567)", "ERROR: duplicate key: Key (username)=([name-1]) already exists. Key (email, phone)=([phone-1])"},
		{"Duplicate entry 'alice' for key 'users.username'", "Duplicate entry '[value-1]' for key 'users.username'"},
		{`{"name":"Ann van Dyke","plan":"Premium Plan"} for Mrs. O'Hara`, `{"name":"[name-1]","plan":"Premium Plan"} for Mrs. [name-2]`},
		{"device 00:1a:2b:3c:4d:5e", "device [mac-1]"},
	} {
		var m Masker
		got := m.Text(test.text)
		if got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
		if again := m.Text(got); again != got {
			t.Errorf("masked twice: %s, then %s", got, again)
		}
	}
}

// What a reader needs to find the cause stays.
func TestWhatStays(t *testing.T) {
	for _, text := range []string{
		"undefined method `sum' for nil:NilClass at app/models/order.rb:42",
		"commit 3f2504e04f8911d39a0c0305e82c33012f4bdf17 and 3f2504e", "id 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "trace 4bf92f3577b34da6a3ce929d0e0e4736",
		"at 2026-11-23T02:11:09.123Z, 2026-11-23 02:11:09,123 +0200, 12:34:56, 1795400000123", "std::vector<int>::at, ActiveRecord::Base, DB::Fe, ::1, 127.0.0.1:8080, 0.0.0.0",
		"v1.2.3.4 of lib@2.0.1, Chrome/120.0.0.0, version 1.2.3.4, go1.26.1", "git@github.com:acme/shop.git, icon@2x.png, com.acme.Order@1b2c3d4e", "order 1234567890123456 of 12345",
		"user not found: no such user", "invalid token: unexpected '}' at line 3", "password: must be given", "username: String, user: current_user(params)", "user_name = params[:user_name]",
		"runtime error: index out of range [5] with length 3", "/home/runner/work, /srv/app/users/login.py:12", "goroutine 34 [running]: main.f(0xc000010000, {0x1, 0x2})",
		"filename=report.pdf hostname=web-1 classname=Order", "name=Order name: orders, Key (id)=(5) is not present in table \"orders\"", "f(user) = (a, b)", "https://sentry.io/issues/123456/?project=42&page=3",
	} {
		var m Masker
		if got := m.Text(text); got != text {
			t.Errorf("%s\n got %s", text, got)
		}
	}
	for _, code := range []string{
		"user = User.find(params[:id])", "def login(user, password):", "return User(username=username, email=email)", "type User struct { UserName string }", "password := os.Getenv(\"PASSWORD\")",
		"const token = await getToken(user)", "user_name=alice", "if user.login == other.login { return }",
	} {
		var m Masker
		if got := m.Code(code); got != code {
			t.Errorf("%s\n got %s", code, got)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	var m Masker
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 50 {
				m.Text(fmt.Sprintf("a%d@corp.org and a%d@corp.org", k, i))
			}
		})
	}
	wg.Wait()
	if n := m.count["email"]; n != 50 {
		t.Errorf("%d addresses, want 50", n)
	}
}

// Source code stays as it is: of a package of this module, only lines that have addresses of hosts change.
func TestSourceStays(t *testing.T) {
	files, err := filepath.Glob("../../../../agent/tools/*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "/dial.go") { // reserved addresses
			continue
		}
		var m Masker
		if got := m.Code(string(text)); got != string(text) {
			t.Errorf("%s: masked %v", name, m.count)
		}
	}
}

// synthetic returns 200 made-up secrets and personal data, each in a text that a program might log, and the part that must not be seen.
func synthetic(r *rand.Rand) (texts, values []string) {
	letters := func(n int, set string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = set[r.IntN(len(set))]
		}
		return string(b)
	}
	const alnum, hex, low, num = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "0123456789abcdef", "abcdefghijklmnopqrstuvwxyz", "0123456789"
	first, last := []string{"Alice", "Björn", "Chloé", "Dmitri", "Eun-ji", "Farid"}, []string{"Smith", "O'Hara", "Nguyen", "García", "Kowalski", "Özdemir"}
	pick := func(of []string) string { return of[r.IntN(len(of))] }
	makers := []func() (value, text string){
		func() (string, string) {
			v := letters(6, low) + "." + letters(5, low) + "@" + letters(7, low) + ".com"
			return v, "cannot send mail to <" + v + ">"
		},
		func() (string, string) {
			v := letters(9, low)
			return v, "GET /reset?email=" + v + "%40mail.example.net&x=1"
		},
		func() (string, string) {
			v := "+" + fmt.Sprint(1+r.IntN(98)) + " " + letters(3, "123456789") + " " + letters(7, num)
			return v, "SMS to " + v + " refused"
		},
		func() (string, string) {
			v := "(" + letters(3, "23456789") + ") " + letters(3, "23456789") + "-" + letters(4, num)
			return v, `{"contact":"` + v + `"}`
		},
		func() (string, string) {
			v := fmt.Sprintf("%d.%d.%d.%d", 11+r.IntN(100), r.IntN(256), r.IntN(256), 1+r.IntN(250))
			return v, "dial tcp " + v + ":5432: connect: connection refused"
		},
		func() (string, string) {
			v := "2001:db8:" + letters(4, "123456789abcdef") + "::" + letters(3, "123456789")
			return v, "from [" + v + "]:443"
		},
		func() (string, string) { v := cardNumber(r); return v, "payment with " + v + " was declined" },
		func() (string, string) { v := ibanNumber(r); return v, "transfer to " + v + " failed" },
		func() (string, string) {
			v := letters(3, "12345678") + "-" + letters(2, "123456789") + "-" + letters(4, "123456789")
			return v, "ssn: " + v
		},
		func() (string, string) { v := pick(last); return v, "validation failed: last_name=" + v + ", age=3" },
		func() (string, string) {
			v := pick(first) + " " + pick(last)
			return v, "Parameters: {\"full_name\"=>\"" + v + "\", \"commit\"=>\"Save\"}"
		},
		func() (string, string) {
			v := pick(first) + " " + pick(last)
			return v, "customer_name: " + v + "\nstatus: 3"
		},
		func() (string, string) { v := letters(7, low); return v, "login failed user_name=" + v + " attempts=3" },
		func() (string, string) {
			v := letters(8, low) + letters(2, num)
			return v, `{"userName": "` + v + `", "id": 5}`
		},
		func() (string, string) {
			v := letters(12, alnum) + "7"
			return v, "POST /login?password=" + v + "&next=/"
		},
		func() (string, string) {
			v := letters(9, low) + "!1A"
			return v, "postgres://app:" + v + "@db.internal:5432/shop"
		},
		func() (string, string) {
			v := "eyJ" + letters(20, alnum) + ".eyJ" + letters(40, alnum) + "." + letters(43, alnum)
			return v, "invalid jwt " + v
		},
		func() (string, string) {
			v := "AKIA" + letters(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
			return v, "credentials " + v + " are expired"
		},
		func() (string, string) {
			v := "ghp_" + letters(36, alnum)
			return v, "git clone https://x:" + v + "@github.com/a/b"
		},
		func() (string, string) {
			v := "xoxb-" + letters(11, num) + "-" + letters(12, num) + "-" + letters(24, alnum)
			return v, "slack token=" + v
		},
		func() (string, string) {
			v := "NRAK-" + letters(27, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
			return v, "Api-Key: " + v
		},
		func() (string, string) { v := letters(40, alnum) + "9z"; return v, "Authorization: Bearer " + v },
		func() (string, string) { v := letters(32, hex); return v, "Cookie: session_id=" + v + "; theme=dark" },
		func() (string, string) {
			v := letters(10, low)
			return v, "open /home/" + v + "/.config/app.json: permission denied"
		},
		func() (string, string) {
			v := fmt.Sprintf("%d-%02d-%02d", 1940+r.IntN(60), 1+r.IntN(12), 1+r.IntN(28))
			return v, `{"date_of_birth":"` + v + `"}`
		},
		func() (string, string) {
			v := letters(2, num) + "7 " + pick(last) + " Street"
			return v, `address_line1: "` + v + `"`
		},
		func() (string, string) {
			v := letters(2, "ABCDEFGH") + letters(7, num)
			return v, "passport_number=" + v + ";"
		},
		func() (string, string) { v := letters(24, alnum) + "3"; return v, `{"api_key":"` + v + `"}` },
	}
	for i := range 200 {
		v, text := makers[i%len(makers)]()
		texts, values = append(texts, text), append(values, v)
	}
	return texts, values
}

func cardNumber(r *rand.Rand) string {
	d := []int{4}
	for len(d) < 15 {
		d = append(d, r.IntN(10))
	}
	for check := range 10 {
		if luhn(append(d[:15:15], check)) {
			d = append(d, check)
			break
		}
	}
	s := strings.Trim(strings.ReplaceAll(fmt.Sprint(d), " ", ""), "[]")
	if r.IntN(2) == 0 {
		return s[:4] + "-" + s[4:8] + "-" + s[8:12] + "-" + s[12:]
	}
	return s
}

func ibanNumber(r *rand.Rand) string {
	for {
		s := fmt.Sprintf("DE%02d%018d", r.IntN(98), r.Int64N(1e18))
		if isIBAN([]byte(s)) {
			return s
		}
	}
}

// 200 secrets and personal data: none is seen.
func TestNothingLeaks(t *testing.T) {
	for seed := range uint64(4) {
		var m Masker
		texts, values := synthetic(rand.New(rand.NewPCG(seed, 13)))
		leaks := 0
		for i, text := range texts {
			if got := m.Text(text); strings.Contains(got, values[i]) {
				leaks++
				t.Errorf("seed %d: %s\n got %s", seed, text, got)
			}
		}
		all := m.Text(strings.Join(texts, "\n"))
		for i, v := range values {
			if strings.Contains(all, v) && len(v) > 6 {
				leaks++
				t.Errorf("seed %d, all in one text: %q of %s", seed, v, texts[i])
			}
		}
		if leaks > 0 {
			return
		}
	}
}

// Source code that holds secrets and personal data shows none of them either.
func TestNothingLeaksFromCode(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 14))
		_, values := synthetic(r)
		var m Masker
		for i, v := range values {
			kind := i % makersInAll
			var code string
			switch kind {
			case 0, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20: // these have forms of their own
				code = fmt.Sprintf([]string{"contact = %q", "# ask %s before changing this", "const x = '%s'; // ours", "Setting{Value: %q}"}[i%4], v)
			case 9, 10, 11, 12, 13:
				code = fmt.Sprintf([]string{`user = User(first_name="x", full_name=%q)`, `{ "userName": %q }`, `last_name: %q,`, `Person{FullName: %q}`}[i%4], v)
			case 14, 15, 23, 27:
				code = fmt.Sprintf([]string{`password = "%s"`, `DB_PASSWORD=%s`, `"secret_key": "%s",`, `apiKey: "%s",`}[i%4], v+"4kQ9zW7x")
				v += "4kQ9zW7x"
			case 24:
				code = fmt.Sprintf("birth_date = %q", v)
			default:
				continue
			}
			if got := m.Code(code); strings.Contains(got, v) {
				t.Errorf("seed %d: %s\n got %s", seed, code, got)
			}
		}
	}
}

// makersInAll is how many kinds synthetic makes.
const makersInAll = 28

func FuzzText(f *testing.F) {
	f.Add("user_name=alice ann@corp.org +49 30 1234567 4111 1111 1111 1111", "[email-1]")
	f.Fuzz(func(t *testing.T, text, more string) {
		var m Masker
		got := m.Text(text)
		m.Code(text)
		if planted := m.Text(text + "\nann.lee@corp.org\n" + more); strings.Contains(planted, "ann.lee@corp.org") {
			t.Errorf("an address leaks from %q", planted)
		}
		if got != m.Text(text) {
			t.Errorf("%q is masked in two ways", text)
		}
	})
}
