package modelhttp_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/modelhttp"
)

func TestPage(t *testing.T) {
	for body, want := range map[string]string{
		"": "", " \n": "", `{"error":"x"}`: "", `["x"]`: "", `"x"`: "",
		"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center></body></html>": `"502 Bad Gateway"`,
		"<!DOCTYPE html><HTML><TITLE lang=en>\n  Sign in &amp; go on\n</TITLE>":                                                  `"Sign in & go on"`,
		"<html><body><h1>403 Forbidden</h1>":                           `"403 Forbidden"`,
		"<html><title>never ends":                                      "a page, not an answer of the API; is",
		"upstream connect error or disconnect/reset before headers\nx": `"upstream connect error or disconnect/reset before headers"`,
		"\x1b[31mno\x00healthy\xff upstream":                           `"[31mno healthy upstream"`,
		"<title>" + strings.Repeat("é", 500) + "</title>":              `"` + strings.Repeat("é", 100) + `"`,
		"<title>" + strings.Repeat("İ", 3) + "</title>":                `"İİİ"`,
	} {
		if got := modelhttp.Page([]byte(body)); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q in it", body, got, want)
		}
	}
}
