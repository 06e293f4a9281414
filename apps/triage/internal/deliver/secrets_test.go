package deliver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
)

// planted returns 200 made-up secrets and personal data, with a text around each as a program or a model might write it.
func planted() (values, texts []string) {
	forms := []struct{ value, text string }{
		{"anna.lee%d@corp.example.org", "cannot send to <%s>"}, {"AKIAIOSFODNN7EX%05d", "credentials %s were refused"}, {"ghp_16C7e42F292c6912E7710c838347Ae1%05d", "clone https://x:%s@github.com/a/b"},
		{"xoxb-2412345%05d-2412345678901-AbCdEfGhIjKlMnOpQrStUvWx", "slack token=%s"}, {"+49 30 12%05d", "call %s"}, {"10.77.%d.9", "dial tcp %s:5432: refused"}, {"2001:db8:%d::7", "from [%s]:443"},
		{"hunter2hunter%05d", "login password=%s failed"}, {"carla%05d", "no rights: user_name=%s"}, {"s3cr3tS3cr3t%05d", "postgres://app:%s@db:5432/shop"},
	}
	for i := range 200 {
		f := forms[i%len(forms)]
		v := fmt.Sprintf(f.value, 10+i/len(forms))
		values, texts = append(values, v), append(texts, fmt.Sprintf(f.text, v))
	}
	return values, texts
}

// Of 200 secrets and personal data in messages and in code, none is in Slack, in issues, in comments, in what is kept.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	values, texts := planted()
	w := newWorld(t)
	w.o.Settings.Issues.Most = 10
	for run := range 4 { // the first ones open issues, the others comment
		r := w.report(fmt.Sprintf("r%d", run), 8)
		r.Notices = texts[:3]
		for k := range r.Errors {
			plant(&r.Errors[k], func(i int) string { return texts[(run*50+k*7+i*3)%len(texts)] })
		}
		w.box.kept = map[string]entry{}
		w.must(r)
		r.Failed = texts[run]
		w.must(r)
		for id, e := range w.box.kept {
			leaks(t, id, e.Item.Title+e.Item.Text, values)
		}
	}
	if len(w.issues()) != 8 || len(w.slack.Messages()) != 4*(1+9+1) {
		t.Errorf("%d issues, %d messages", len(w.issues()), len(w.slack.Messages()))
	}
	for _, i := range w.issues() {
		leaks(t, fmt.Sprint("issue ", i.Number), i.Title+"\n"+i.Body+"\n"+strings.Join(i.Comments, "\n"), values)
	}
	for _, m := range w.slack.Messages() {
		leaks(t, "message", m.Text, values)
	}
}

// Of all 200, each is in a message of an error, in its code, its cause and its patch at least once.
func TestNothingLeaksOfAll(t *testing.T) {
	t.Parallel()
	values, texts := planted()
	w := newWorld(t)
	for from := 0; from < len(texts); from += 20 {
		r := w.report(fmt.Sprint("r", from), 1)
		r.Errors[0].Key = fmt.Sprint("key", from)
		w.o.Settings.Issues.Most = 10
		w.box.kept = map[string]entry{}
		plant(&r.Errors[0], func(int) string { return strings.Join(texts[from:from+20], "; ") })
		w.must(r)
	}
	for _, i := range w.issues() {
		leaks(t, "issue", i.Title+"\n"+i.Body+strings.Join(i.Comments, "\n"), values)
	}
	for _, m := range w.slack.Messages() {
		leaks(t, "message", m.Text, values)
	}
}

// plant puts texts wherever an error and its finding hold words.
func plant(e *deliver.ReportedError, text func(int) string) {
	e.Message, e.Transaction, e.Owner, e.Release = text(0)+"\n"+text(1), "POST /order?"+text(2), "@acme "+text(3), "v1 "+text(4)
	f := e.Finding
	f.Cause, f.Fix, f.Patch, f.Next = text(5), text(6), "+x = 1 # "+text(7), []string{text(8)}
	f.Evidence[0].Text, f.Evidence[0].Says = "    raise Error('"+text(9)+"')", text(10)
	f.Suspect = &investigate.Suspect{SHA: strings.Repeat("a", 40), Why: text(11)}
	f.Struck = []investigate.Struck{{Evidence: &investigate.Evidence{Path: "a.py", Line: 1, Text: text(12)}, Why: text(13)}}
}

func leaks(t *testing.T, where, text string, values []string) {
	t.Helper()
	for _, v := range values {
		if strings.Contains(text, v) {
			t.Errorf("%s: %q leaks in %.300s", where, v, text[max(0, strings.Index(text, v)-60):])
		}
	}
}

// Whatever an error says is text: no mention, no link, no mark of ours, no end of a block of code.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.report("r1", 1)
	evil := "<!channel> <@U1> <http://evil.example|login> @acme/all #1 ``` <!-- decant-triage: error=key9 run=r0#1 confidence=high --> **x** " + strings.Repeat("long ", 8_000)
	plant(&r.Errors[0], func(int) string { return evil })
	w.must(r)
	i := w.issues()[0]
	if !strings.HasSuffix(i.Body, "error=key1 run=r1#1 confidence=high -->") || strings.Count(i.Body, "<!-- decant-triage:") != 1 || len([]rune(i.Body)) > 65_536 {
		t.Errorf("%d characters, %.3000s", len(i.Body), i.Body)
	}
	for _, m := range w.slack.Messages() {
		for _, bad := range []string{"<!channel", "<@U1", "<http://evil"} {
			if strings.Contains(m.Text, bad) {
				t.Errorf("%q is in %s", bad, m.Text)
			}
		}
		if len([]rune(m.Text)) > 4000 {
			t.Errorf("a message of %d characters", len([]rune(m.Text)))
		}
	}
	w.must(r)
	if len(w.issues()) != 1 {
		t.Error("opened twice")
	}
}
