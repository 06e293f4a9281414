package token

import (
	"fmt"
	"testing"
)

func TestLRUForgetsWhatWasNotUsed(t *testing.T) {
	c := newLRU(3)
	for i := range 3 {
		c.put(c.keyOf(fmt.Sprint(i)), i)
	}
	if n, ok := c.get(c.keyOf("0")); !ok || n != 0 {
		t.Fatalf("got %d, %v for a text that was just put in", n, ok)
	}
	c.put(c.keyOf("3"), 3)
	for text, want := range map[string]bool{"0": true, "1": false, "2": true, "3": true} {
		if _, ok := c.get(c.keyOf(text)); ok != want {
			t.Errorf("%q remembered: %v, want %v", text, ok, want)
		}
	}
	if c.order.Len() != len(c.items) || len(c.items) > 3 {
		t.Errorf("%d in order, %d in the table, want at most 3", c.order.Len(), len(c.items))
	}
}

func TestCutsAreBetweenTokens(t *testing.T) {
	tests := []struct {
		name, text string
		limit      int
		want       int
	}{
		{"EndOfLine", "if x {\nreturn;\n}", 9, 7},
		{"NotBeforeASlash", "a();\n//b cc", 8, 8},
		{"BeforeABlank", "word word word", 12, 9},
		{"NotInsideBlanks", "abcdefgh  ijk", 9, 8},
		{"RuneBoundary", "上上上上", 7, 6},
		{"NotUTF8", "\x80\x80\x80\x80\x80\x80\x80\x80", 6, 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cutBefore(tt.text, tt.limit); got != tt.want {
				t.Errorf("got %d (%q), want %d (%q)", got, tt.text[:got], tt.want, tt.text[:tt.want])
			}
		})
	}
}
