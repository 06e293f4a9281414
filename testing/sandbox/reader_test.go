package sandbox_test

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
)

// readerSays asks a Reader about messages.
func readerSays(t *testing.T, p *sandbox.Prompt) sandbox.Answer {
	t.Helper()
	a, err := sandbox.Reader{}.Answer(context.Background(), p)
	if err != nil || len(a.Blocks) == 0 {
		t.Fatalf("answer %+v, %v", a, err)
	}
	return a
}

func toolSays(text string) sandbox.Message {
	return sandbox.Message{Role: decant.RoleUser, Blocks: []sandbox.Block{{Kind: decant.KindResult, ID: "t", Text: text}}}
}

const jobs = `Found 3 jobs.
Job 7: Gopher at Initech. stack 9/10, pay 6/10, team 8/10. https://jobs.example.com/7f3a
Job 8: Gopher at Acme Corp. stack 10/10, pay 10/10, team 10/10. https://jobs.example.com/81bc
Job 70: Senior at Hooli. stack 4/10, pay 10/10, team 2/10. Apply at https://jobs.example.com/c0de.`

func TestReaderAnswersFromWhatItSees(t *testing.T) {
	rubric := toolSays("Search for remote Go jobs.\nScore each from 1 to 10: stack 4 points, pay 3, team 3.\nNever list Acme Corp.\nReport title, company, score and URL.")
	percents := userSays("Scoring rubric: technical stack match (30%), team fit (20%), pay: 50 %")
	for _, tt := range []struct {
		name     string
		messages []sandbox.Message
		question string
		want     string
	}{
		{"URL", []sandbox.Message{toolSays(jobs)}, "What is the URL of job 7?", "The URL of job 7 is https://jobs.example.com/7f3a"},
		{"URLOfTheLast", []sandbox.Message{toolSays(jobs)}, "What's the link for Job #70?", "The link of Job #70 is https://jobs.example.com/c0de"},
		{"URLGone", []sandbox.Message{toolSays(strings.Replace(jobs, "https://jobs.example.com/7f3a", "", 1))}, "What is the URL of job 7?", "I do not know: What is the URL of job 7?"},
		{"URLBefore", []sandbox.Message{toolSays("- https://a.example/1 is job 1\n- https://a.example/2 is job 2")}, "What is the URL of job 2?", "The URL of job 2 is https://a.example/2"},
		{"OneLine", []sandbox.Message{toolSays("job 1 https://a.example/1, job 2 (port: 81) https://a.example/2, job 3 port: 82")}, "What is job 2's port?", "The port of job 2 is 81"},
		{"JSON", []sandbox.Message{toolSays(`{"id":"job 4","url":"https://a.example/4","salary":"60k"}`)}, "What is the salary of job 4?", "The salary of job 4 is 60k"},
		{"KeyValue", []sandbox.Message{userSays("The deadline is 14 March. Port = 8443")}, "What is the port? What is the deadline?", "The port is 8443\nThe deadline is 14 March"},
		{"Corrected", []sandbox.Message{userSays("The deadline is Monday."), userSays("Sorry, the deadline is now Friday.")}, "What is the deadline?", "The deadline is Friday"},
		{"Preference", []sandbox.Message{userSays("I prefer replies in German."), userSays("I prefer tea, not coffee."), userSays("Actually I prefer replies in Dutch.")}, "In which language do I prefer replies?", "I do not know: In which language do I prefer replies?"},
		{"PreferenceNamed", []sandbox.Message{userSays("I prefer replies in German."), userSays("I prefer tea, not coffee."), userSays("Actually I prefer replies in Dutch.")}, "How do I prefer replies?", "Actually I prefer replies in Dutch."},
		{"Line", []sandbox.Message{toolSays("Anna signed the contract on Tuesday.\nBen did not.")}, "Who signed the contract?", "Anna signed the contract on Tuesday."},
		{"NobodySaidWho", []sandbox.Message{toolSays("The boss is out: some say so.")}, "Who is the captain of the ship?", "I do not know: Who is the captain of the ship?"},
		{"Everything", []sandbox.Message{toolSays("stack 4 points, pay 3"), toolSays("- Firm 2: stack 8, pay 1\n- Firm 3: stack 1, pay 8, for firm4. stack 9")}, "Score everything by the rubric.", "Firm 2: 5.00\nFirm 3: 4.00"},
		{"Nothing", nil, "What is the port?", "I do not know: What is the port?"},
		{"OwnIgnoranceIsNoEvidence", []sandbox.Message{{Role: decant.RoleAssistant, Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "I do not know: the port is what?"}}}}, "What is the port?", "I do not know: What is the port?"},
		{"Points", []sandbox.Message{rubric, toolSays(jobs)}, "Score these jobs by the rubric.", "Job 7: 7.80 https://jobs.example.com/7f3a\nJob 70: 5.20 https://jobs.example.com/c0de"},
		{"Percents", []sandbox.Message{toolSays(jobs), percents}, "Rank the jobs, please.", "Job 8: 10.00 https://jobs.example.com/81bc\nJob 7: 7.30 https://jobs.example.com/7f3a\nJob 70: 6.60 https://jobs.example.com/c0de"},
		{"NoRubric", []sandbox.Message{toolSays(jobs)}, "Score these jobs by the rubric.", "I do not know the rubric."},
		{"NothingToScore", []sandbox.Message{rubric}, "Score these jobs by the rubric.", "I do not know anything to score by the rubric."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := readerSays(t, &sandbox.Prompt{MaxTokens: 1000, Messages: append(tt.messages, userSays(tt.question))})
			if got := a.Blocks[0].Text; got != tt.want {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Asked to read, it reads once, and then goes on from what it has read.
func TestReaderReads(t *testing.T) {
	p := &sandbox.Prompt{
		Tools:    []string{"search", "read_file", "fetch"},
		Schemas:  []stdjson.RawMessage{nil, stdjson.RawMessage(`{"type":"object","properties":{"limit":{"type":"integer"},"file":{"type":"string"}}}`), stdjson.RawMessage(`{"type":"object","properties":{"x":{"type":"string"},"url":{"type":"string"}},"required":["url"]}`)},
		Messages: []sandbox.Message{userSays("Execute the prompt from search-prompt.txt and fetch https://jobs.example.com/all. What is the port?")},
	}
	a := readerSays(t, p)
	if len(a.Blocks) != 2 || a.Blocks[0].Name != "fetch" || string(a.Blocks[0].Input) != `{"url":"https://jobs.example.com/all"}` || string(a.Blocks[1].Input) != `{"file":"search-prompt.txt"}` {
		t.Fatalf("answer %+v", a)
	}
	p.Messages = append(p.Messages, sandbox.Message{Role: decant.RoleAssistant, Blocks: a.Blocks}, toolSays("The port is 8443."))
	if got := readerSays(t, p).Blocks[0].Text; got != "The port is 8443" {
		t.Error(got)
	}
}

// Asked to delegate, it delegates each task once, and then says what came back. Who has no such tool does it himself.
func TestReaderDelegates(t *testing.T) {
	const ask = "Delegate to marco: What is the port?\nDelegate to sara: read notes.txt"
	p := &sandbox.Prompt{Tools: []string{"read", "delegate"}, Messages: []sandbox.Message{userSays(ask)}}
	a := readerSays(t, p)
	if len(a.Blocks) != 2 || string(a.Blocks[0].Input) != `{"to":"marco","task":"What is the port?"}` || string(a.Blocks[1].Input) != `{"to":"sara","task":"read notes.txt"}` {
		t.Fatalf("answer %+v", a)
	}
	p.Messages = append(p.Messages, sandbox.Message{Role: decant.RoleAssistant, Blocks: a.Blocks}, sandbox.Message{Role: decant.RoleUser, Blocks: []sandbox.Block{
		{Kind: decant.KindResult, Text: "delegation d-1 to marco: answered\n\nThe port is 8443"}, {Kind: decant.KindResult, Text: "delegation d-2 to sara: answered\n\nI have read it."},
	}})
	if got := readerSays(t, p).Blocks[0].Text; got != "The port is 8443\nI have read it." {
		t.Error(got)
	}
	alone := &sandbox.Prompt{Tools: []string{"read"}, Messages: []sandbox.Message{userSays("The port is 8443."), userSays("Delegate to marco: What is the port?")}}
	if a := readerSays(t, alone); len(a.Blocks) != 1 || a.Blocks[0].Text != "The port is 8443" {
		t.Errorf("answer %+v", a)
	}
}

// Asked to search, it searches once, opens each result once, and then goes on from what it has read. It opens nothing else.
func TestReaderSearches(t *testing.T) {
	const ask = "Search for remote Go jobs, open each result and score the jobs by the rubric: stack 4 points, pay 3."
	p := &sandbox.Prompt{Tools: []string{"web_search", "fetch"}, Messages: []sandbox.Message{userSays(ask)}}
	a := readerSays(t, p)
	if len(a.Blocks) != 1 || a.Blocks[0].Name != "web_search" || string(a.Blocks[0].Input) != `{"path":"remote Go jobs"}` {
		t.Fatalf("answer %+v", a)
	}
	p.Messages = append(p.Messages, sandbox.Message{Role: decant.RoleAssistant, Blocks: []sandbox.Block{{Kind: decant.KindUse, ID: "t", Name: "web_search", Input: a.Blocks[0].Input}}},
		toolSays("Found https://jobs.example.com/1, https://jobs.example.com/2, and https://jobs.example.com/1 again."))
	p.OneCall = true
	for _, want := range []string{"1", "2"} {
		a = readerSays(t, p)
		if len(a.Blocks) != 1 || a.Blocks[0].Name != "fetch" || string(a.Blocks[0].Input) != `{"path":"https://jobs.example.com/`+want+`"}` {
			t.Fatalf("answer %+v, want to open %s", a, want)
		}
		page := toolSays("Job " + want + ": stack " + want + "/10, pay 5/10. See https://elsewhere.example.com")
		page.Blocks[0].ID = "of a fetch"
		p.Messages = append(p.Messages, sandbox.Message{Role: decant.RoleAssistant, Blocks: a.Blocks}, page)
	}
	if got := readerSays(t, p).Blocks[0].Text; !strings.HasPrefix(got, "Job 2: 3.29") || !strings.Contains(got, "Job 1: 2.71") {
		t.Error(got)
	}
	p.Tools = nil
	p.Messages = p.Messages[:1]
	if got := readerSays(t, p).Blocks[0].Text; got != "I do not know anything to score by the rubric." {
		t.Errorf("without tools: %s", got)
	}
}

// Behind a server it is a function of the request alone: two of them agree, and what is no longer sent is not known.
func TestReaderBehindAServer(t *testing.T) {
	ask := func(history, question string) string {
		_, url := start(t, sandbox.Options{Model: sandbox.Reader{}})
		got := do(t, "POST", url+"/v1/messages", rule{model: old, messages: history + `{"role":"user","content":` + quote(question) + `}`}.body())
		_, said, _ := strings.Cut(got.body, `"text":"`)
		said, _, _ = strings.Cut(said, `"`)
		return said
	}
	value := fmt.Sprintf("https://example.com/%x", len(t.Name())*7919)
	history := `{"role":"user","content":"Job 7 is at ` + value + `"},{"role":"assistant","content":"Noted."},`
	for range 2 {
		if got := ask(history, "What is the URL of job 7?"); got != "The URL of job 7 is "+value {
			t.Error(got)
		}
	}
	if got := ask("", "What is the URL of job 7?"); !strings.HasPrefix(got, "I do not know") {
		t.Error(got)
	}
	if got := ask(history, "Summarize the conversation."); !strings.Contains(got, value) {
		t.Error(got)
	}
	if got := ask("", "Hello."); got != "I do not know what is asked of me." {
		t.Error(got)
	}
}

// A record that repeats the question, and that it was not known once, does not keep from what else it says.
func TestReaderFindsWhatARecordSaysBesideAQuestion(t *testing.T) {
	record := "[Decant record of m1-m90]\nm2 The access code is 7731.\n" + strings.Repeat("m4 Something else was said then.\n", 900) + "m7 I do not know: What is the access code?\nm8 What is the access code?\n"
	a, err := sandbox.Reader{}.Answer(context.Background(), &sandbox.Prompt{Messages: []sandbox.Message{userSays(record + "\nWhat is the access code?")}})
	if err != nil || len(a.Blocks) != 1 || !strings.Contains(a.Blocks[0].Text, "The access code is 7731") {
		t.Errorf("%+v, %v", a, err)
	}
}
