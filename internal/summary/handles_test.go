package summary_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// filler makes the stretch worth a record.
var filler = "-- m2 model --\n" + strings.Repeat("The parser has to look one token further ahead before it decides what the next rule is. ", 40) + "\n"

// exchange is a call and its result, from message m on.
func exchange(m int, tool, args, result string) string {
	return fmt.Sprintf("-- m%d call c%d %s --\n%s\n-- m%d result c%d --\n%s\n", m, m, tool, args, m+1, m, result)
}

// fold makes a record of a record and of what was said since.
func fold(t *testing.T, record string, budget int) string {
	ms := talk(t, "-- m1 decant --\n"+record+"\n-- m91 user --\nAnd now the rest.\n"+strings.ReplaceAll(filler, "m2 ", "m92 "))
	return extract(t, ms, budget)
}

// What still runs, what was made and where outputs are is in the record until something says that it ended.
func TestHandles(t *testing.T) {
	const dev = `{"command":"npm run dev","run_in_background":true}`
	server := exchange(4, "Bash", dev, "Command running in background with ID: b7f3k9q2. Output is being written to: /tmp/tasks/b7f3k9q2.output")
	agent := exchange(6, "Agent", `{"description":"Audit"}`, "Async agent launched successfully.\nagentId: a91c4e77d0 (use SendMessage with this id to continue it)")
	shell := exchange(8, "exec_command", `{"cmd":"cargo watch"}`, "Chunk ID: 1\nWall time: 10 seconds\nProcess running with session ID 51473\nOutput:\n")
	ticket := exchange(10, "mcp__linear__create_issue", `{"title":"Broken totals"}`, `{"issue":{"id":"0b1f","identifier":"ENG-412","url":"https://linear.app/x/ENG-412"}}`)
	cart := exchange(12, "create_cart", `{"currency":"EUR"}`, `{"cart_id":"crt_81x2","items":[]}`)
	for name, c := range map[string]struct {
		talk       string
		have, lack []string
	}{
		"a command":            {server, []string{"m4 b7f3k9q2 still runs: $ npm run dev; output in /tmp/tasks/b7f3k9q2.output"}, nil},
		"a delegate":           {agent, []string{"m6 a91c4e77d0 still runs: Agent Audit"}, nil},
		"a session of a shell": {shell, []string{"m8 51473 still runs: $ cargo watch"}, nil},
		"a poll says that it runs": {shell + exchange(20, "write_stdin", `{"session_id":51473,"chars":""}`,
			"Chunk ID: 2\nWall time: 5 seconds\nProcess running with session ID 51473\nOutput:\nx"), []string{"m8 51473 still runs"}, nil},
		"a poll says that it has ended": {shell + exchange(20, "write_stdin", `{"session_id":51473,"chars":""}`,
			"Chunk ID: 2\nWall time: 5 seconds\nProcess exited with code 0\nOutput:\nx"), nil, []string{"51473 still"}},
		"it was killed":              {server + exchange(20, "KillShell", `{"shell_id":"b7f3k9q2"}`, `{"message":"Successfully killed shell: b7f3k9q2"}`), []string{"/tmp/tasks/b7f3k9q2.output has the output of $ npm run dev"}, []string{"b7f3k9q2 still"}},
		"killing it failed":          {server + "-- m20 call k KillShell --\n{\"shell_id\":\"b7f3k9q2\"}\n-- m21 result k error --\nNo such shell\n", []string{"b7f3k9q2 still runs"}, nil},
		"the client says it ended":   {server + "-- m20 user --\n<task-notification>\n<task-id>b7f3k9q2</task-id>\n<status>completed</status>\n<summary>Background command completed (exit code 0)</summary>\n</task-notification>\n", nil, []string{"b7f3k9q2 still"}},
		"the client says of another": {server + agent + "-- m20 user --\n<task-notification>\n<task-id>b7f3k9q2</task-id>\n<status>running</status>\n</task-notification>\n<task-notification>\n<task-id>a91c4e77d0</task-id>\n<status>completed</status>\n</task-notification>\n", []string{"b7f3k9q2 still runs"}, []string{"a91c4e77d0 still"}},
		"a monitor":                  {exchange(4, "Monitor", `{"command":"tail -f x.log"}`, "Monitor started (task bx91k2, timeout 300000ms). You will be notified on each event."), []string{"bx91k2 still runs"}, nil},
		"a schedule":                 {exchange(4, "CronCreate", `{"cron":"0 9 * * *","prompt":"check"}`, "Scheduled recurring job 3fa9c1d2 (every day at 9:00)."), []string{"3fa9c1d2"}, nil},
		"a schedule that was ended":  {exchange(4, "CronCreate", `{"cron":"0 9 * * *"}`, "Scheduled recurring job 3fa9c1d2 (every day).") + exchange(20, "CronDelete", `{"id":"3fa9c1d2"}`, "Cancelled job 3fa9c1d2."), nil, []string{"3fa9c1d2 still", "3fa9c1d2 is open"}},
		"a workflow":                 {exchange(4, "Workflow", `{"name":"review"}`, "Workflow launched in background. Task ID: w8k2m1\nRun ID: wf_91ab"), []string{"w8k2m1 still runs"}, nil},
		"Codex' delegate":            {exchange(4, "spawn_agent", `{"message":"audit"}`, `{"agent_id":"019f36b8-7808","status":"running"}`), []string{"019f36b8-7808 still runs"}, nil},
		"Codex' delegate, closed":    {exchange(4, "spawn_agent", `{"message":"audit"}`, `{"agent_id":"019f36b8-7808","status":"running"}`) + exchange(20, "close_agent", `{"id":"019f36b8-7808"}`, `{"status":"shutdown"}`), nil, []string{"019f36b8-7808 still"}},
		"a ticket":                   {ticket, []string{"m10 ENG-412 is open: mcp__linear__create_issue"}, nil},
		"a ticket that was closed":   {ticket + exchange(20, "mcp__linear__update_issue", `{"id":"ENG-412","state":"Done"}`, `{"id":"ENG-412","state":"Done"}`), nil, []string{"ENG-412 is open"}},
		"a ticket with a comment":    {ticket + exchange(20, "mcp__linear__create_comment", `{"issueId":"ENG-412","body":"x"}`, `{"id":"cm_1"}`), []string{"ENG-412 is open"}, []string{"cm_1 is open"}},
		"a cart":                     {cart, []string{"m12 crt_81x2 is open: create_cart EUR"}, nil},
		"a cart with one item less":  {cart + exchange(20, "remove_from_cart", `{"cart_id":"crt_81x2","sku":"A1"}`, `{"ok":true}`), []string{"crt_81x2 is open"}, nil},
		"a cart that was bought":     {cart + exchange(20, "checkout_cart", `{"cart_id":"crt_81x2"}`, `{"order_id":"ord_5512","status":"confirmed"}`), nil, []string{"crt_81x2 is open"}},
		"a reservation":              {exchange(4, "book_reservation", `{"flight":"HAT097"}`, `{"reservation_id":"HATHAT","status":"confirmed","user_id":"u1"}`), []string{"HATHAT is open: book_reservation HAT097"}, nil},
		"a reservation that was cancelled": {exchange(4, "book_reservation", `{"flight":"HAT097"}`, `{"reservation_id":"HATHAT"}`) +
			exchange(20, "cancel_reservation", `{"reservation_id":"HATHAT"}`, `{"reservation_id":"HATHAT","status":"cancelled"}`), nil, []string{"HATHAT is open"}},
		"a job of a shell":        {exchange(4, "bash", `{"command":"npm run dev &"}`, "[1] 41822"), []string{"41822 still runs: $ npm run dev &"}, nil},
		"a job that was killed":   {exchange(4, "bash", `{"command":"npm run dev &"}`, "[1] 41822") + exchange(20, "bash", `{"command":"kill 41822"}`, ""), nil, []string{"41822 still"}},
		"Claude Code's output":    {exchange(4, "Bash", `{"command":"make all"}`, "<persisted-output>\nOutput too large (1.2MB). Full output saved to: /home/u/.claude/tool-results/j.txt\n\nPreview (first 2KB):\nx\n</persisted-output>"), []string{"m4 /home/u/.claude/tool-results/j.txt has the output of $ make all"}, nil},
		"of a tool of MCP":        {exchange(4, "mcp__db__query", `{"sql":"select 1"}`, "Error: result (70,000 characters) exceeds maximum allowed tokens. Output has been saved to /tmp/claude/mcp-db-17.txt.\nUse jq."), []string{"/tmp/claude/mcp-db-17.txt has the output of"}, nil},
		"opencode's":              {exchange(4, "bash", `{"command":"make"}`, "x\n\nThe tool call succeeded but the output was truncated. Full output saved to: /home/u/.local/share/opencode/tool-output/tool_1\nUse Grep."), []string{"/home/u/.local/share/opencode/tool-output/tool_1 has the output"}, nil},
		"pi's":                    {exchange(4, "bash", `{"command":"make"}`, "x\n\n[Showing lines 1-50 of 900. Full output: /tmp/pi-bash-77.log]"), []string{"/tmp/pi-bash-77.log has the output"}, nil},
		"Copilot's":               {exchange(4, "bash", `{"command":"make"}`, "Output too large to read at once (22 KB). Saved to: /tmp/copilot-tool-output-17-3f.txt\nx"), []string{"/tmp/copilot-tool-output-17-3f.txt has the output"}, nil},
		"with blanks in the path": {exchange(4, "Bash", `{"command":"make"}`, "x\n[full output: ~/Library/Application Support/rtk/tee/17_test.log]"), []string{"~/Library/Application Support/rtk/tee/17_test.log has the output"}, nil},
		"source that is read":     {exchange(4, "Read", `{"file_path":"/a.go"}`, "1\tfmt.Println(\"Command running in background with ID: b99x1\")"), nil, []string{"b99x1 still"}},
	} {
		t.Run(name, func(t *testing.T) {
			ms := talk(t, "-- m1 user --\nDo what is to be done.\n"+filler+c.talk+"-- m90 model --\nI go on.\n")
			for _, budget := range []int{400, 1500} {
				text := extract(t, ms, budget)
				for _, s := range c.have {
					if !strings.Contains(text, s) {
						t.Errorf("%d tokens: %q is missing in\n%s", budget, s, text)
					}
				}
				for _, s := range c.lack {
					if strings.Contains(text, s) {
						t.Errorf("%d tokens: %q is in\n%s", budget, s, text)
					}
				}
				for _, s := range c.have {
					_, s, _ = strings.Cut(s, " ")
					if folded := fold(t, text, budget); !strings.Contains(folded, s) {
						t.Errorf("%d tokens, again: %q is missing in\n%s", budget, s, folded)
					}
				}
			}
		})
	}
}

// Of hundreds the newest are named, and the rest is counted with a handle to look them up.
func TestManyHandlesAreCounted(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		b.WriteString(exchange(4+2*i, "Bash", fmt.Sprintf(`{"command":"make job%d"}`, i),
			fmt.Sprintf("<persisted-output>\nOutput too large (1MB). Full output saved to: /home/u/.claude/tool-results/job%d.txt\n\nPreview:\nx\n</persisted-output>", i)))
	}
	text := extract(t, talk(t, "-- m1 user --\nRun all jobs.\n"+filler+b.String()), 2000)
	handles := sections(text)["Handles"]
	n := strings.Count(handles, "has the output of")
	if n < 8 || n > 60 || !strings.Contains(handles, "/job299.txt") || !strings.Contains(handles, fmt.Sprintf("and %d more from m4 on", 300-n)) {
		t.Errorf("%d named of 300\n%s", n, handles)
	}
}

// What tools of MCP did and what they opened is in the record of their work, of whatever trade it is.
func TestEffectsOfTools(t *testing.T) {
	files, _ := filepath.Glob("testdata/mcp-*.txtar")
	if len(files) < 6 {
		t.Fatalf("only %d sessions", len(files))
	}
	for _, name := range files {
		a := readArchive(t, name)
		for _, budget := range []int{450, budgetOf(t, a)} {
			text := extract(t, conversation(t, a), budget)
			for line := range strings.Lines(string(a.Comment)) {
				if s, ok := strings.CutPrefix(strings.TrimSpace(line), "has: "); ok && !strings.Contains(text, s) {
					t.Errorf("%s, %d tokens: %q is missing in\n%s", name, budget, s, text)
				}
			}
		}
	}
}
