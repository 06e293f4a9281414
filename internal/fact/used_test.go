package fact_test

import (
	"slices"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
)

// said is a message with one block.
func said(role decant.Role, kind decant.Kind, text string) decant.Message {
	return decant.Message{Role: role, Blocks: []decant.Block{{Kind: kind, Name: "edit_file", Content: decant.Text(text)}}}
}

// What the model wrote is used, the newest first: paths, identifiers and numbers, in texts and in the values
// of arguments. Words, names of parameters, what others wrote and secrets are not. Arguments that are no JSON
// are read as they stand.
func TestUsed(t *testing.T) {
	got := fact.Used(t.Context(), []decant.Message{
		said(decant.RoleUser, decant.KindText, "Look at internal/user/said.go."),
		said(decant.RoleAssistant, decant.KindText, "I open pkg/old/first.go now, as readAll says."),
		said(decant.RoleAssistant, decant.KindUse, `{"file_path":"pkg/new/second.go","old_text":"port\n40213","token":"ghp_0123456789abcdefghijABCDEFGHIJ012345"}`),
		said(decant.RoleUser, decant.KindResult, "internal/tool/said.go"),
		said(decant.RoleAssistant, decant.KindUse, `{"path": "pkg/broken/args.go`),
		said(decant.RoleAssistant, decant.KindText, "Then cmd/main/third.go."),
	})
	if got[0] != "cmd/main/third.go" {
		t.Errorf("the newest is not first: %q", got)
	}
	for _, want := range []string{"pkg/old/first.go", "pkg/new/second.go", "40213", "readAll", "pkg/broken/args.go"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not used: %q", want, got)
		}
	}
	for _, not := range []string{"internal/user/said.go", "internal/tool/said.go", "file_path", "old_text",
		"edit_file", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "open"} {
		if slices.Contains(got, not) {
			t.Errorf("%q is used: %q", not, got)
		}
	}
}

// What others wrote is read, the newest first; what the model wrote is not, and neither are words and secrets.
func TestRead(t *testing.T) {
	got := fact.Read(t.Context(), []decant.Message{
		said(decant.RoleUser, decant.KindText, "Look at internal/user/said.go with ghp_0123456789abcdefghijABCDEFGHIJ012345."),
		said(decant.RoleAssistant, decant.KindText, "I open pkg/model/said.go."),
		said(decant.RoleUser, decant.KindResult, "internal/tool/said.go:40213"),
	})
	if got[0] != "internal/tool/said.go" || !slices.Contains(got, "internal/user/said.go") {
		t.Errorf("%q", got)
	}
	for _, not := range []string{"pkg/model/said.go", "Look", "ghp_0123456789abcdefghijABCDEFGHIJ012345"} {
		if slices.Contains(got, not) {
			t.Errorf("%q is read: %q", not, got)
		}
	}
}
