package preset_test

import (
	"fmt"
	"strings"

	"github.com/decantdev/decant/preset"
)

// A preset of one's own says what differs from the defaults. A key that does not exist is an error that names it.
func ExampleParse() {
	p, err := preset.Parse("mine.yaml", []byte(`
name: mine
trigger: {tokens: 60000}
keep: {share: 0.3, first: true}
reduce:
  order: [terminal, superseded, duplicate, stub]
tools:
  pin: [TodoWrite]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Name, "pours above", p.Trigger.Tokens, "tokens and keeps", p.Tools.Pin)

	_, err = preset.Parse("mine.yaml", []byte("name: mine\nkeepp: {share: 0.3}\n"))
	first, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Println(first)
	// Output:
	// mine pours above 60000 tokens and keeps [TodoWrite]
	// preset mine.yaml: [2:1] unknown field "keepp"
}
