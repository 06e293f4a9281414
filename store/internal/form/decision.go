package form

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
)

// A Record is a decision as it is stored. The texts that go into views are kept apart from the
// JSON, byte for byte: JSON cannot hold every byte. Its pour has a column, too.
type Record struct {
	*decant.Decision
	Rest  []byte // JSON of the decision without its texts
	Facts []byte // JSON of the checkpoint's key facts
}

// NewRecord returns how d is stored.
func NewRecord(d *decant.Decision) (r Record, err error) {
	r.Decision = d
	rest := *d
	rest.Text, rest.Pour = "", ""
	if cp := d.Checkpoint; cp != nil {
		c := *cp
		c.Summary, c.Facts = "", nil
		rest.Checkpoint = &c
		if r.Facts, err = Marshal(cp.Facts); err != nil {
			return r, fmt.Errorf("encode the facts of decision %s: %w", d.ID, err)
		}
	}
	if r.Rest, err = Marshal(rest); err != nil {
		return r, fmt.Errorf("encode decision %s: %w", d.ID, err)
	}
	return r, nil
}

// Marshal encodes what is kept as JSON. Texts need not be UTF-8.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, jsontext.AllowInvalidUTF8(true)) }

// Unmarshal decodes what Marshal has encoded; nothing leaves v as it is.
func Unmarshal(data []byte, v any) error {
	if len(data) == 0 {
		return nil
	}
	return json.Unmarshal(data, v, jsontext.AllowInvalidUTF8(true))
}

// Ratio returns the size of a checkpoint's summary as a share of the messages that it replaced.
func Ratio(cp *decant.Checkpoint) float64 {
	if cp.Original == 0 {
		return 0
	}
	return float64(cp.Compressed) / float64(cp.Original)
}
