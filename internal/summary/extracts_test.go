package summary_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/summary"
)

// fetched is a conversation in which a tool returned some texts.
func fetched(texts []string) (ms []decant.Message) {
	add := func(role decant.Role, b decant.Block) {
		b.Ref = decant.Ref{Message: len(ms) + 1}
		ms = append(ms, decant.Message{Number: len(ms) + 1, Role: role, Blocks: []decant.Block{b}})
	}
	add(decant.RoleUser, decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text("Look through the tickets.")})
	for i, text := range texts {
		id := fmt.Sprintf("call_%d", i)
		add(decant.RoleAssistant, decant.Block{
			Kind: decant.KindUse, Author: decant.AuthorModel, Name: "mcp__tickets__get", CallID: id, Content: decant.Text(fmt.Sprintf(`{"id": "INC-%d"}`, i)),
		})
		add(decant.RoleUser, decant.Block{Kind: decant.KindResult, Author: decant.AuthorTool, CallID: id, Content: decant.Text(text)})
	}
	return ms
}

// A text says as much inside of JSON as it does alone, however deep it is.
func TestTextInsideJSONIsText(t *testing.T) {
	quoted := func(v any) string {
		src, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(src)
	}
	forms := map[string]func(string) string{
		"plain":  func(s string) string { return s },
		"member": func(s string) string { return quoted(map[string]any{"id": "INC-1", "body": s, "state": "open"}) },
		"output": func(s string) string {
			return quoted(map[string]any{"output": s, "metadata": map[string]int{"exit_code": 0}})
		},
		"content parts": func(s string) string { return quoted([]any{map[string]string{"type": "text", "text": s}}) },
		"JSON in JSON":  func(s string) string { return quoted(map[string]any{"text": quoted(map[string]any{"body": s})}) },
		"lines of JSON": func(s string) string {
			return quoted(map[string]int{"n": 1}) + "\n" + quoted(map[string]any{"body": s})
		},
		"a prefix": func(s string) string { return "Result: " + quoted(map[string]any{"body": s}) },
	}
	code := regexp.MustCompile(`E1\d{3}`)
	for _, share := range []int{40, 20, 10} {
		kept := map[string]int{}
		for name, form := range forms {
			var texts []string
			size := 0
			for i := range 8 {
				var lines []string
				for k := range 40 {
					lines = append(lines, fmt.Sprintf("Comment %d: worker-%d-%d failed with code E1%03d after %d retries", k, i, k, 40*i+k, k+3))
				}
				texts = append(texts, form(strings.Join(lines, "\n")))
				size += len(lines) * 22
			}
			s, err := summary.Extract(t.Context(), fetched(texts), summary.Options{Budget: size * share / 100})
			if err != nil {
				t.Fatal(name, err)
			}
			distinct := map[string]bool{}
			for _, c := range code.FindAllString(s.Text, -1) {
				distinct[c] = true
			}
			kept[name] = len(distinct)
		}
		for name, n := range kept {
			if n < kept["plain"]*8/10 {
				t.Errorf("%d%%: %s keeps %d, the plain text %d", share, name, n, kept["plain"])
			}
		}
	}
}

// A passage has the head that it is under, and what was left out between two passages is marked.
func TestPassagesHaveTheirHeadsAndGaps(t *testing.T) {
	var src strings.Builder
	for i := range 12 {
		fmt.Fprintf(&src, "func handleRequest%d(w http.ResponseWriter) error {\n", i)
		for k := range 14 {
			fmt.Fprintf(&src, "\t// the %dth step opens the ledger of customer%d before anything is posted\n\tledger%d := openLedger(%d, stepOption%d)\n\tif ledger%d == nil {\n\t\treturn errNoLedger%d\n\t}\n", k, k, i*20+k, k, i*20+k, i*20+k, i*20+k)
		}
		src.WriteString("}\n\n")
	}
	s, err := summary.Extract(t.Context(), fetched([]string{src.String()}), summary.Options{Budget: 1200})
	if err != nil {
		t.Fatal(err)
	}
	_, quotes, _ := strings.Cut(s.Text, "# Quotes\n")
	if !strings.Contains(quotes, "\n  …\n") {
		t.Errorf("no gap is marked:\n%s", quotes)
	}
	head := ""
	for line := range strings.Lines(quotes) {
		if strings.HasPrefix(line, "  func ") {
			head = line
		}
		if m := regexp.MustCompile(`ledger(\d+) := `).FindStringSubmatch(line); m != nil {
			if want := "handleRequest" + fmt.Sprint(atoi(m[1])/20) + "("; !strings.Contains(head, want) {
				t.Errorf("%q stands under %q", line, head)
			}
		}
	}
}

func atoi(s string) (n int) {
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}
