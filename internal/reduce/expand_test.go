package reduce

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/decantdev/decant"
)

// Where the agent has Decant's expand, under whatever name its client gives it, a stub names the handle of
// its original; where it has another tool of that name, or none, it does not.
func TestStubsNameTheirHandles(t *testing.T) {
	var log strings.Builder
	for n := range 200 {
		fmt.Fprintf(&log, "step %d of the migration took %d ms\n", n, n*37%101)
	}
	for name, want := range map[string]bool{
		"mcp__decant__expand": true, "mcp__plugin_decant_decant__expand": true, "decant_expand": true,
		"": false, "mcp__other__expand": false, "expand": false, "mcp__decant__recall": false,
	} {
		c := conversation([]txtar.File{{Name: "user", Data: []byte("Migrate\n")}, {Name: `Bash {"command":"./migrate"}`, Data: []byte(log.String())},
			{Name: "assistant", Data: []byte("It is done.\n")}, {Name: "user", Data: []byte("And now?\n")}, {Name: "assistant", Data: []byte("Nothing.\n")}})
		if name != "" {
			c.Fixed.Tools = []decant.Tool{{Name: "Bash"}, {Name: name}}
		}
		ds := Stub(Of(context.Background(), c, options()))
		if len(ds) != 1 {
			t.Fatalf("%s: %d stubs", name, len(ds))
		}
		if got := strings.Contains(ds[0].Text, name+" "+string(ds[0].Handle)+"]"); got != want {
			t.Errorf("%q: a stub of %s says %q", name, ds[0].Handle, ds[0].Text)
		}
	}
}
