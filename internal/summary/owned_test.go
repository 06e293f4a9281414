package summary_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/summary"
)

// What a checkpoint keeps of a long text is not the text: facts are parts of it in memory until then.
func TestFactsOfASummaryDoNotHoldTheirSource(t *testing.T) {
	source := strings.Repeat("We looked at this and that. ", 1000) + "The key is in /etc/decant/key.pem and nowhere else."
	at := strings.Index(source, "/etc")
	facts := []decant.Fact{{Kind: decant.FactPath, Text: source[at : at+len("/etc/decant/key.pem")], Weight: 1, Message: 1}}
	s, err := summary.Accept(t.Context(), "They keep the key in /etc/decant/key.pem, as was said.", facts,
		summary.Limits{})
	if err != nil || len(s.Facts) != 1 || s.Facts[0].Text != facts[0].Text {
		t.Fatalf("kept %+v, %v", s.Facts, err)
	}
	begin := uintptr(unsafe.Pointer(unsafe.StringData(source)))
	if p := uintptr(unsafe.Pointer(unsafe.StringData(s.Facts[0].Text))); p >= begin && p < begin+uintptr(len(source)) {
		t.Error("the fact is a part of its source: all of that stays in memory")
	}
}
