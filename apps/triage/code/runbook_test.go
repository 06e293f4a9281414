package code

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestRunbooks(t *testing.T) {
	all, err := Runbooks(fstest.MapFS{
		"slow.md":   {Data: []byte("---\ntitle: Slow payments\nclasses: [TimeoutError, \"Net::*\"]\nservices: [billing]\n---\nLook at the queue.\n")},
		"notes.txt": {Data: []byte("no runbook")},
		"keys.md":   {Data: []byte("---\r\nclasses: [KeyError]\r\n---\r\nKeys.\r\n")},
	})
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	tests := []struct{ class, service, want string }{
		{"TimeoutError", "billing", "slow.md"}, {"Net::ReadTimeout", "billing", "slow.md"}, {"net::http/x", "billing", "slow.md"}, {"TimeoutError", "shop", ""}, {"KeyError", "any", "keys.md"}, {"Error", "billing", ""},
	}
	for _, tt := range tests {
		got := ""
		for _, b := range all {
			if b.For(tt.class, tt.service) {
				got += b.Name
			}
		}
		if got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.class, tt.service, got, tt.want)
		}
	}
	for text, want := range map[string]string{
		"no front matter": "front matter", "---\ntitle: x\n---\ntext": "classes", "---\nclasses: [\"[\"]\n---\n": "syntax", "---\nclas: [x]\n---\nx": "clas",
	} {
		_, err := Runbooks(fstest.MapFS{"a.md": {Data: []byte(text)}})
		if err == nil || !strings.Contains(err.Error(), "runbook a.md") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
