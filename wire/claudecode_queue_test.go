package wire_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

// A claudeLog is a session of Claude Code in the making.
type claudeLog struct {
	lines []string
	last  string // uuid of the newest line that has one
}

// at returns the time of the next line: one a second.
func (l *claudeLog) at() string {
	return time.Date(2026, 1, 1, 10, 0, len(l.lines), 0, time.UTC).Format(time.RFC3339)
}

func (l *claudeLog) add(kind string, members map[string]any) *claudeLog {
	id := fmt.Sprint("u", len(l.lines))
	m := map[string]any{"type": kind, "sessionId": "s1", "timestamp": l.at()}
	if kind != "queue-operation" {
		m["uuid"], m["parentUuid"], m["cwd"], m["isSidechain"] = id, nil, "/srv", false
		if l.last != "" {
			m["parentUuid"] = l.last
		}
		l.last = id
	}
	for k, v := range members {
		m[k] = v
	}
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	l.lines = append(l.lines, string(line))
	return l
}

func (l *claudeLog) user(text string) *claudeLog {
	return l.add("user", map[string]any{"message": map[string]any{"role": "user", "content": text}})
}

func (l *claudeLog) call(message, id string) *claudeLog {
	use := map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": "ls " + id}}
	return l.add("assistant", map[string]any{"message": map[string]any{"role": "assistant", "id": message, "content": []any{use}}})
}

func (l *claudeLog) says(message, text string) *claudeLog {
	part := map[string]any{"type": "text", "text": text}
	return l.add("assistant", map[string]any{"message": map[string]any{"role": "assistant", "id": message, "content": []any{part}}})
}

func (l *claudeLog) result(id string) *claudeLog {
	part := map[string]any{"type": "tool_result", "tool_use_id": id, "content": "result of " + id}
	return l.add("user", map[string]any{"message": map[string]any{"role": "user", "content": []any{part}}})
}

func (l *claudeLog) queue(operation, content string) *claudeLog {
	m := map[string]any{"operation": operation}
	if content != "" {
		m["content"] = content
	}
	return l.add("queue-operation", m)
}

func (l *claudeLog) attachment(prompt any, more map[string]any) *claudeLog {
	a := map[string]any{"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
	for k, v := range more {
		a[k] = v
	}
	return l.add("attachment", map[string]any{"attachment": a})
}

// said returns what stands in a log, a string for each block: texts of the user are marked with ">".
func (l *claudeLog) said(tb testing.TB) []string {
	tb.Helper()
	var out []string
	for _, m := range parseAs(tb, wire.ClaudeCode, l.lines...).Conversation.Messages {
		for i := range m.Blocks {
			b := &m.Blocks[i]
			switch {
			case b.Kind != decant.KindText:
				out = append(out, string(b.Kind)+" "+b.CallID)
			case b.Author == decant.AuthorUser:
				out = append(out, "> "+b.Text())
			default:
				out = append(out, string(b.Author)+" "+b.Text())
			}
		}
	}
	return out
}

func TestClaudeCodeWordsTypedWhileTheAgentWorks(t *testing.T) {
	const midTurn = "<system-reminder>\nThe user sent a new message while you were working:\n"
	const stop, task = "stop, the branch is frozen", "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"
	start := func() *claudeLog { return new(claudeLog).user("go").call("a", "c1") }
	human := map[string]any{"origin": map[string]any{"kind": "human"}}
	tests := map[string]struct {
		log  *claudeLog
		want []string
	}{
		"given with the result that is written later": {
			start().queue("enqueue", stop).queue("remove", "").result("c1").says("b", "done"),
			[]string{"> go", "use c1", "result c1", "> " + stop, "model done"},
		},
		"given behind all results of an answer": {
			start().queue("enqueue", stop).result("c1").queue("remove", "").call("a", "c2").result("c2").says("b", "done"),
			[]string{"> go", "use c1", "use c2", "result c1", "result c2", "> " + stop, "model done"},
		},
		"given at the end": {
			start().result("c1").queue("enqueue", stop).queue("remove", ""),
			[]string{"> go", "use c1", "result c1", "> " + stop},
		},
		"two at once": {
			start().queue("enqueue", stop).queue("enqueue", "and wait").queue("remove", "").queue("remove", "").result("c1").says("b", "done"),
			[]string{"> go", "use c1", "result c1", "> " + stop, "> and wait", "model done"},
		},
		"sent as an ordinary message": {
			start().result("c1").queue("enqueue", stop).says("b", "done").queue("dequeue", "").user(stop).says("c", "stopped"),
			[]string{"> go", "use c1", "result c1", "model done", "> " + stop, "model stopped"},
		},
		"two sent as one message": {
			start().queue("enqueue", stop).queue("enqueue", "and wait").result("c1").says("b", "done").queue("dequeue", "").queue("dequeue", "").
				user(stop+"\nand wait").queue("enqueue", "now go").call("c", "c2").queue("remove", "").result("c2"),
			[]string{"> go", "use c1", "result c1", "model done", "> " + stop + "\nand wait", "use c2", "result c2", "> now go"},
		},
		"sent in other words": {
			start().queue("enqueue", "see @a.go").result("c1").says("b", "done").queue("dequeue", "").user("see a.go").queue("enqueue", stop).
				call("c", "c2").queue("remove", "").result("c2"),
			[]string{"> go", "use c1", "result c1", "model done", "> see a.go", "use c2", "result c2", "> " + stop},
		},
		"taken back": {
			start().queue("enqueue", stop).queue("enqueue", "and wait").queue("popAll", stop).queue("remove", "").result("c1"),
			[]string{"> go", "use c1", "result c1", "> and wait"},
		},
		"still waiting": {
			start().queue("enqueue", stop).result("c1").says("b", "done"),
			[]string{"> go", "use c1", "result c1", "model done"},
		},
		"thrown away by a hook": {
			start().queue("enqueue", stop).add("queue-operation", map[string]any{"operation": "remove", "reason": "dropped_by_hook"}).result("c1"),
			[]string{"> go", "use c1", "result c1"},
		},
		"a command, run when the turn ends": {
			start().queue("enqueue", "/clear").result("c1").queue("dequeue", "").queue("enqueue", stop).call("b", "c2").queue("remove", "").result("c2"),
			[]string{"> go", "use c1", "result c1", "use c2", "result c2", "> " + stop},
		},
		"a note about a task is not typed": {
			start().queue("enqueue", task).queue("enqueue", `{"task_id":"b2","description":"make"}`).queue("enqueue", stop).queue("remove", "").result("c1"),
			[]string{"> go", "use c1", "result c1", "> " + stop},
		},
		"the log says what was removed": {
			start().queue("enqueue", "and wait").queue("enqueue", stop).queue("remove", task).queue("remove", stop).result("c1"),
			[]string{"> go", "use c1", "result c1", "> " + stop},
		},
		"an image, which the log does not hold": {
			start().queue("enqueue", "").queue("enqueue", stop).queue("remove", "").queue("remove", "").result("c1"),
			[]string{"> go", "use c1", "result c1", "> " + stop},
		},
		"an attachment counts, its queue does not": {
			start().queue("enqueue", stop).result("c1").attachment(stop, human).queue("remove", stop).says("b", "done"),
			[]string{"> go", "use c1", "result c1", "> " + stop, "model done"},
		},
		"an attachment in parts": {
			start().result("c1").attachment([]any{map[string]any{"type": "text", "text": stop}}, nil).says("b", "done"),
			[]string{"> go", "use c1", "result c1", "> " + stop, "model done"},
		},
		"as the model gets it": {
			start().result("c1").add("user", map[string]any{"isMeta": true, "message": map[string]any{"content": midTurn + "stop\n</system-reminder>"}}).
				add("user", map[string]any{"isMeta": true, "message": map[string]any{"content": "A note.\n" + midTurn + "lies\n</system-reminder>"}}),
			[]string{"> go", "use c1", "result c1", "> " + midTurn + "stop\n</system-reminder>", "client A note.\n" + midTurn + "lies\n</system-reminder>"},
		},
		"attachments of others": {
			start().result("c1").attachment(stop, map[string]any{"origin": map[string]any{"kind": "peer"}}).
				attachment(stop, map[string]any{"commandMode": "task-notification"}).attachment(stop, map[string]any{"isMeta": true}).
				attachment(task, nil).attachment(stop, map[string]any{"type": "plan_mode"}),
			[]string{"> go", "use c1", "result c1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.log.said(t)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestClaudeCodeWordsOnABranchThatWasLeftAreLeftOut(t *testing.T) {
	log := new(claudeLog).user("go").says("a", "hello")
	back := log.last
	log.user("try it").call("b", "c1").queue("enqueue", "stop").queue("remove", "").result("c1").says("c", "tried")
	log.last = back
	log.user("no, look first").says("d", "looked")
	want := []string{"> go", "model hello", "> no, look first", "model looked"}
	if diff := cmp.Diff(want, log.said(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The lines of a log may stand in it twice, one by one or as a whole.
func TestClaudeCodeWordsOfALogWithItsLinesTwice(t *testing.T) {
	log := new(claudeLog).user("go").call("a", "c1").queue("enqueue", "stop").queue("remove", "").result("c1").says("b", "stopped")
	want := log.said(t)
	for name, lines := range map[string][]string{
		"the whole": append(slices.Clone(log.lines), log.lines...),
		"each line": twice(log.lines),
	} {
		if diff := cmp.Diff(want, (&claudeLog{lines: lines}).said(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func twice(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, l, l)
	}
	return out
}

// drawLog draws a session in which the user types while the agent works, and what the user typed.
func drawLog(t *rapid.T) (log *claudeLog, typed []string) {
	log = new(claudeLog).user("go")
	waiting, n := 0, 0
	attaches := rapid.Bool().Draw(t, "newer client")
	queue := func() {
		switch rapid.IntRange(0, 5).Draw(t, "queue") {
		case 0, 1:
			n++
			waiting++
			log.queue("enqueue", fmt.Sprintf("note %d, please", n))
		case 2:
			if waiting > 0 && !attaches {
				waiting--
				log.queue("remove", "")
				typed = append(typed, fmt.Sprintf("note %d, please", n-waiting))
			}
		}
	}
	for round := range rapid.IntRange(2, 5).Draw(t, "rounds") {
		id := fmt.Sprint("a", round)
		log.says(id, "I look.")
		var open []string
		for i := range rapid.IntRange(1, 3).Draw(t, "calls") {
			queue()
			open = append(open, fmt.Sprintf("c%d.%d", round, i))
			log.call(id, open[i])
			if rapid.Bool().Draw(t, "at once") {
				queue()
				log.result(open[i])
				open[i] = ""
			}
		}
		for _, c := range open {
			if queue(); c != "" {
				log.result(c)
			}
		}
		queue()
		if attaches && waiting > 0 {
			words := fmt.Sprintf("note %d, please", n-waiting+1)
			waiting--
			var prompt any = words
			if rapid.Bool().Draw(t, "parts") {
				prompt = []any{map[string]any{"type": "text", "text": words}}
			}
			log.attachment(prompt, nil).queue("remove", words)
			typed = append(typed, words)
		}
	}
	log.says("end", "done").user("thanks").says("bye", "bye")
	return log, typed
}

func TestClaudeCodeQueuedWordsNeverPartACallFromItsResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log, typed := drawLog(t)
		d, err := wire.ParseAs(wire.ClaudeCode, []byte(strings.Join(log.lines, "\n")+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		open := 0
		for i := range d.Conversation.Messages {
			m := &d.Conversation.Messages[i]
			for k := range m.Blocks {
				switch b := &m.Blocks[k]; {
				case b.Kind == decant.KindUse:
					open++
				case b.Kind == decant.KindResult:
					open--
				case b.Author == decant.AuthorUser:
					if got = append(got, b.Text()); open != 0 {
						t.Fatalf("m%d %q stands between a call and its result", m.Number, b.Text())
					}
				}
			}
		}
		want := append(append([]string{"go"}, typed...), "thanks")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("typed (-want +got):\n%s", diff)
		}
	})
}

// What was typed meanwhile reads back from a file that was compacted: in it the words are an ordinary message, which the
// client reads, too.
func TestClaudeCodeQueuedWordsStayInACompactedFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log, _ := drawLog(t)
		d, err := wire.ParseAs(wire.ClaudeCode, []byte(strings.Join(log.lines, "\n")+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		ds := edits(t, d.Conversation, func(int) bool { return true })
		if rapid.Bool().Draw(t, "compact") {
			ds = covered(t, d.Conversation)
		}
		readBack(t, d, d.Conversation, ds)
	})
}
