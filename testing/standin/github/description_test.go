package github

import (
	"encoding/json"
	"strings"
	"testing"
)

// Where the stand-in has nothing to say, what it answers and what a request would hold is as described.
func TestWhatIsCompletedIsAsDescribed(t *testing.T) {
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	bodies := 0
	hold := func(name string, content map[string]*media) {
		m := content[mediaJSON]
		if m == nil || m.Schema == nil {
			return
		}
		bodies++
		v := d.zero(m.Schema)
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.wrong(text); err != nil {
			t.Errorf("%s: %s: %v", name, text, err)
		}
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			for status, a := range op.Responses {
				if strings.HasPrefix(status, "2") { // refusals are written as they are
					hold(method+" "+path+" "+status, a.Content)
				}
			}
			if op.RequestBody != nil {
				hold(method+" "+path, op.RequestBody.Content)
			}
		}
	}
	if bodies < 30 {
		t.Errorf("%d bodies", bodies)
	}
}

func TestWhatIsNotAsDescribed(t *testing.T) {
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	op := d.operation("POST", "/repos/{owner}/{repo}/issues")
	body := op.RequestBody.Content[mediaJSON]
	for text, want := range map[string]string{
		`{"title":"a"}`: "", `{"title":7}`: "", `{"title":"a","milestone":null}`: "", `{"title":"a","milestone":true}`: "milestone",
		`{}`: "title", `{"title":"a","labels":"x"}`: "labels", `{"title":"a","assignee":null}`: "", `[]`: "array", `{`: "JSON",
	} {
		err := body.wrong([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if m, ok := op.answer(201); !ok || m.wrong([]byte(`{"title":"a"}`)) == nil {
		t.Error("an issue without a number is taken for one")
	}
	if _, ok := op.answer(418); ok {
		t.Error("there is an answer that is not described")
	}
	list := d.operation("GET", "/repos/{owner}/{repo}/issues")
	values := map[string][2]string{"per_page": {"7", "x"}, "page": {"2", "1.5"}, "state": {"open", "shut"}, "owner": {"acme", ""}}
	for _, p := range list.Parameters {
		v, ok := values[p.Name]
		if !ok {
			continue
		}
		if err := p.wrong(v[0]); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if v[1] != "" && p.wrong(v[1]) == nil {
			t.Errorf("%s may be %q", p.Name, v[1])
		}
		delete(values, p.Name)
	}
	if len(values) > 0 {
		t.Errorf("there are no parameters %v", values)
	}
	if list.asks("unknown") || !list.asks("state") {
		t.Error("the parameters of a query are others")
	}
}

func TestADescriptionThatIsBroken(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "JSON",
		`{"paths":{"/a":{"get":{"operationId":"x","parameters":[{"$ref":"#/components/parameters/none"}]}}}}`:     `operation x: there is no parameter`,
		`{"paths":{"/a":{"get":{"operationId":"x","responses":{"200":{"$ref":"#/components/responses/none"}}}}}}`: `operation x: there is no answer "none"`,
	} {
		if _, err := parseDescription([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
