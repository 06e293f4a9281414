package chat

import (
	"cmp"

	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/preset"
)

// defaultPreset is the policy of a chat that names none.
const defaultPreset = "agent-loop"

// PresetFor returns the policy that settings ask for: what they name, with their threshold, their tail, and without compaction if they
// switch it off. Then old messages are trimmed to the beginning and the end of their text.
func PresetFor(s project.Settings) (*preset.Preset, error) {
	p, err := preset.Load(cmp.Or(s.Preset, defaultPreset))
	if err != nil {
		return nil, err
	}
	out := *p
	if s.Threshold != nil {
		out.Trigger.Tokens = *s.Threshold
	}
	if s.Tail != nil {
		out.Keep.Messages = *s.Tail
	}
	if s.Compaction != nil && !*s.Compaction {
		out.Compaction = preset.CompactionTrim
	}
	return &out, nil
}

// demanded is the share of the room for messages that a pour leaves which somebody asks for: less than one that happens by itself, which
// would do nothing while there is room.
const demanded = 0.1

// onDemand returns the policy of pours that somebody asks for. Requests have their own.
func onDemand(p *preset.Preset) *preset.Preset {
	out := *p
	out.Trigger.Target = demanded
	return &out
}
