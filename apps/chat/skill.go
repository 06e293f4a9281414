package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/project"
)

// skillName is the tool that reads skills.
const skillName = "skill"

// skillTool returns the tool that reads skills.
func skillTool(skills []project.Skill) agent.Tool {
	type which struct {
		Name string `json:"name" jsonschema:"of the skill"`
	}
	t := agent.Func(skillName, "Reads a skill: how to do a task here.", func(_ context.Context, _ *agent.Call, w which) (agent.Result, error) {
		i := slices.IndexFunc(skills, func(s project.Skill) bool { return s.Name == w.Name })
		if i < 0 {
			var names []string
			for _, s := range skills {
				names = append(names, s.Name)
			}
			return agent.Result{}, fmt.Errorf("there is no skill %q; there are: %s", w.Name, strings.Join(names, ", "))
		}
		text, files, err := skills[i].Read()
		if len(files) > 0 {
			text += fmt.Sprintf("\n\nFiles of this skill, in %s: %s", skills[i].Dir, strings.Join(files, ", "))
		}
		return agent.Result{Text: text}, err
	})
	t.ReadOnly = true
	return t
}
