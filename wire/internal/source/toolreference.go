package source

import (
	"bytes"

	"github.com/decantdev/decant/internal/jsonspan"
)

// reference is how a result says that it makes a tool known.
const reference = "tool_reference"

// ToolsLoaded returns how many tools the content of a result makes known to the model.
func ToolsLoaded(raw []byte) (n int) {
	if len(raw) == 0 || raw[0] != '[' || !bytes.Contains(raw, []byte(`"`+reference+`"`)) {
		return 0
	}
	sc := jsonspan.Scan(raw, 0)
	for sc.Open(); sc.Next(); {
		if p := NextPart(&sc, raw); p.Kind == reference {
			n++
		}
	}
	return n
}
