package mask

import (
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// digits returns the digits of a text as numbers.
func digits(s string) (out []int) {
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			out = append(out, int(s[i]-'0'))
		}
	}
	return out
}

// numbers are digits with spaces or hyphens between them.
var numbers = lazyregexp.New(`\d(?:[ -]?\d){12,}`)

// cards returns the numbers of payment cards, which may have others before or behind them.
func cards(text string) (out []span) {
	for _, m := range numbers.FindAllStringIndex(text, -1) {
		for start := m[0]; start < m[1]; start++ {
			if start > m[0] && text[start-1] != ' ' && text[start-1] != '-' {
				continue
			}
			if end := cardAt(text, start, m[1]); end > 0 {
				out, start = append(out, span{start, end, card}), end
			}
		}
	}
	return out
}

// cardAt returns the end of the card's number that begins at start, 0 when there is none before limit.
func cardAt(text string, start, limit int) int {
	for end, n := start, 0; end < limit && n < 19; end++ {
		if text[end] < '0' {
			continue
		}
		if n++; n >= 13 && isCard(text, start, end+1) {
			return end + 1
		}
	}
	return 0
}

// isCard reports whether a number is that of a payment card: its first digits, its length, its check digit (Luhn), and digits in groups of
// three to seven where there are groups.
func isCard(text string, start, end int) bool {
	s := text[start:end]
	if word(before(text, start)) || before(text, start) == '.' || word(after(text, end)) || strings.Contains(s, "-") && strings.Contains(s, " ") {
		return false
	}
	if groups := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '-' }); len(groups) > 1 {
		for _, g := range groups {
			if len(g) < 3 || len(g) > 7 {
				return false
			}
		}
	}
	d := digits(s)
	switch n := len(d); d[0] {
	case 4:
		return (n == 13 || n == 16 || n == 19) && luhn(d)
	case 5, 6:
		return (n == 16 || n == 19) && luhn(d)
	case 3:
		return n >= 14 && n <= 16 && luhn(d)
	case 2:
		return n == 16 && luhn(d)
	}
	return false
}

// luhn reports whether the last digit is the check digit of the others.
func luhn(d []int) bool {
	sum := 0
	for i := range d {
		v := d[len(d)-1-i]
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}

// lengths are those of the numbers of accounts, by country.
var lengths = map[string]int{"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "CH": 21, "CR": 22, "CY": 28, "CZ": 24,
	"DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28,
	"IE": 22, "IL": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MT": 31,
	"MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "XK": 20}

var countries = lazyregexp.New(`\b[A-Z]{2}\d{2}`)

// accounts returns the numbers of bank accounts (IBAN).
func accounts(text string) (out []span) {
	for _, m := range countries.FindAllStringIndex(text, -1) {
		n, end := lengths[text[m[0]:m[0]+2]], m[0]
		var number []byte
		for ; end < len(text) && len(number) < n; end++ {
			switch c := text[end]; {
			case c >= '0' && c <= '9' || c >= 'A' && c <= 'Z':
				number = append(number, c)
			case c == ' ' || c == '-':
			default:
				n = 0
			}
		}
		if n > 0 && len(number) == n && !word(after(text, end)) && isIBAN(number) {
			out = append(out, span{m[0], end, account})
		}
	}
	return out
}

// isIBAN reports whether the number of an account has the right check digits (ISO 7064, modulo 97).
func isIBAN(number []byte) bool {
	rest := 0
	for _, c := range append(number[4:len(number):len(number)], number[:4]...) {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest == 1
}

var international = lazyregexp.New(`\+\d{1,3}[ ./-]?(?:\(\d{1,4}\)[ ./-]?)?\d{1,8}(?:[ ./-]?\d{2,8}){0,5}`)

// phones returns telephone numbers with a plus. A number behind one, which would make it too long, is not part of it.
func phones(text string) (out []span) {
	if !strings.Contains(text, "+") {
		return nil
	}
	for _, m := range international.FindAllStringIndex(text, -1) {
		end := m[1]
		for end > m[0] && (len(digits(text[m[0]:end])) > 15 || word(after(text, end))) {
			end = m[0] + strings.LastIndexAny(text[m[0]:end], "+ ./-)")
		}
		n, b := len(digits(text[m[0]:end])), before(text, m[0])
		if n >= 8 && !word(b) && b != ')' && b != '.' {
			out = append(out, span{m[0], end, phone})
		}
	}
	return out
}

// isSSN reports whether a number may be one of the United States' social security.
func isSSN(text string, start, end int) bool {
	s := text[start:end]
	return apart(text, start, end) && s[:3] != "000" && s[:3] != "666" && s[0] != '9' && s[4:6] != "00" && s[7:] != "0000"
}

// isLocal reports whether a number without a country is one of a telephone.
func isLocal(text string, start, end int) bool {
	n := len(digits(text[start:end]))
	return n >= 9 && n <= 12 && apart(text, start, end) && before(text, start) != ':' && before(text, start) != '/'
}
