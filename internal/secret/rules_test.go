package secret

import (
	"strings"
	"testing"
)

// sample returns a text of the given shape, as long as it must be.
func sample(shape string) string {
	var b strings.Builder
	for _, p := range parse(shape) {
		b.WriteString(p.literal)
		for i := range p.min {
			for c := byte(7*i%75) + '0'; ; c++ {
				if c > 'z' {
					c = '0'
				}
				if class[c]&p.class != 0 && (i+1 < p.min || isAlnum(c)) {
					b.WriteByte(c)
					break
				}
			}
		}
	}
	return b.String()
}

// TestEveryRuleFindsItsShape holds for each row of the table, in a line of its own, in a string of JSON
// and in quotes; in the middle of a word nothing begins.
func TestEveryRuleFindsItsShape(t *testing.T) {
	for _, r := range rules {
		s := sample(r.shape)
		for _, around := range [][2]string{{"", ""}, {"first\n", "\nlast"}, {`{"out":"a\n`, `\nb"}`}, {"'", "'"}, {"(", ")."}} {
			want := around[0] + "[redacted " + r.kind + "]" + around[1]
			if got := Mask(around[0] + s + around[1]); got != want {
				t.Errorf("%s: got %q, want %q", r.shape, got, want)
			}
		}
		if got := formsIn("x" + s); strings.Contains(got, r.kind) {
			t.Errorf("%s: found inside a word", r.shape)
		}
		if p := parse(r.shape); p[len(p)-1].max == p[len(p)-1].min && formsIn(s+"0") == r.kind {
			t.Errorf("%s: found in a longer word", r.shape)
		}
	}
}

// formsIn returns the kind of what the first word of a text is by its form.
func formsIn(text string) string {
	s := scanner{text: text}
	s.words()
	for _, m := range s.found {
		if m.Start == 0 {
			return m.Kind
		}
	}
	return ""
}

// A key that happens to have no digit is one all the same; names in a row are none.
func TestKeysWithoutDigits(t *testing.T) {
	for text, want := range map[string]string{
		"No such customer for key " + "sk_live_" + "QtcRsRtsfbYyEGwQXTBbsNwV":                         "stripe-key",
		"POST https://hooks.slack" + ".com/services/TBNLHVCRS/BVUWLMXDW/WGxxYgGDiXCJAcHHcRVGuBoT 404": "slack-webhook",
		"sk_live_TheNameOfSomethingThatGoesOn":                                                        "",
		"ghp_getTheNextHandlerOfThePageInTheList":                                                     "",
		"https://hooks.slack.com/services/your/webhook/address":                                       "",
	} {
		if got := Mask(text); (want != "") != strings.Contains(got, "[redacted "+want) || want == "" && got != text {
			t.Errorf("%s: %s", text, got)
		}
	}
}
