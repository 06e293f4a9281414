package gateway_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/tracing"
	"github.com/decantdev/decant/testing/sandbox"
)

// marks makes strings that stand nowhere else, one for each place that a client controls.
type marks struct{ places []string }

func (m *marks) at(place string) string {
	m.places = append(m.places, "Zq"+place+"Qz")
	return "Zq" + place + "Qz"
}

// found returns the places whose marks are in what was exported, in clear, as hexadecimal, or in other letters.
func (m *marks) found(raw []byte) (out []string) {
	low := bytes.ToLower(raw)
	for _, mark := range m.places {
		l := strings.ToLower(mark)
		if bytes.Contains(low, []byte(l)) || bytes.Contains(low, []byte(hex.EncodeToString([]byte(mark)))) {
			out = append(out, mark)
		}
	}
	return out
}

// conversation is a body that has a mark in every place.
func (m *marks) conversation(filling int) string {
	return fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":100,"%s":"%s","metadata":{"user_id":"user_%s_session_%s"},"system":[{"type":"text","text":"%s"}],`+
		`"stop_sequences":["%s"],"tools":[{"name":"%s","description":"%s","input_schema":{"type":"object","properties":{"%s":{"type":"string"}}}}],`+
		`"messages":[{"role":"user","content":[{"type":"text","text":"%s /home/%s/%s.go https://%s.example/%s?%s=1 %s"}]},`+
		`{"role":"assistant","content":[{"type":"text","text":"%s"},{"type":"tool_use","id":"toolu_%s","name":"%s","input":{"%s":"/srv/%s"}}]},`+
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_ZqusePlaceQz","content":"%s %s"}]}]}`,
		m.at("member"), m.at("value"), m.at("user"), m.at("session"), m.at("system"),
		m.at("stop"), m.at("toolname"), m.at("description"), m.at("property"),
		m.at("text"), m.at("folder"), m.at("file"), m.at("site"), m.at("page"), m.at("parameter"), strings.Repeat("plain words of a long question ", filling),
		m.at("said"), m.at("usePlace"), "ZqtoolnameQz", m.at("argument"), m.at("path"), m.at("result"), strings.Repeat("a line of an output\\n", filling))
}

// Nothing that a client says is in any byte that a collector gets, whatever is done about it.
func TestNoContentIsExported(t *testing.T) {
	up := strict(sandbox.Options{Window: 30_000})
	w := newTracedWorld(t, up, gateway.Options{}, engine.Options{Window: 20_000}, tracing.Options{Tenants: true})
	m := &marks{}
	headers := []string{
		"User-Agent", m.at("agent"), "X-Api-Key", "sk-ant-" + m.at("key"), "Authorization", "Bearer " + m.at("bearer"), "X-Decant-Session", m.at("named"), "X-Decant-Key", m.at("door"),
		"X-" + m.at("header"), m.at("other"), "Cookie", m.at("cookie"), "Anthropic-Beta", m.at("beta"), "Baggage", "a=" + m.at("baggage"),
		"Traceparent", sampled, "Tracestate", "zq=" + m.at("state"), "X-Forwarded-For", m.at("for"), "Referer", "https://" + m.at("referer"),
	}
	send := func(path, body string, more ...string) {
		t.Helper()
		if _, _, err := w.try(w.url, path, body, append(headers, more...)...); err != nil {
			t.Fatal(err)
		}
	}
	body := m.conversation(100)
	send("/v1/messages?"+m.at("query")+"="+m.at("queried"), body)
	send("/v1/messages", m.conversation(3000)) // which is poured
	send("/v1/messages", strings.Replace(body, `"max_tokens"`, `"stream":true,"max_tokens"`, 1))
	send("/"+m.at("prefix")+"/v1/messages", body)
	send("/v1/"+m.at("elsewhere")+"/x", body)
	send("/v1/messages/count_tokens", body)
	send("/v1/messages/../"+m.at("climb"), body)
	send("/v1/messages", body, "X-Decant-Preset", m.at("preset"))
	send("/v1/messages", body, "X-Decant-Mode", m.at("mode"))
	send("/v1/messages", body, "Content-Encoding", m.at("encoding"))
	send("/v1/messages", `{"model":"`+m.at("broken"))
	send("/v1/chat/completions", body)
	for i, model := range []string{m.at("model") + " with words", "/etc/" + m.at("modelpath"), strings.Repeat(m.at("long"), 100), `\"` + m.at("quoted"), "sk-ant-api03-" + strings.Repeat(m.at("secretmodel"), 5)} {
		send("/v1/messages", strings.Replace(body, "claude-sonnet-4-5", model, 1), "X-Decant-Session", fmt.Sprint(i))
	}
	raw(t, w.url, m.at("METHOD")+" /v1/messages HTTP/1.1\r\nHost: "+m.at("host")+".localhost\r\nContent-Length: 0\r\n\r\n")
	raw(t, w.url, "POST /v1/messages HTTP/1.1\r\nHost: "+m.at("host2")+".localhost\r\nContent-Length: 1000\r\n\r\n"+m.at("half"))
	up.Inject(sandbox.Fault{Kind: sandbox.FaultInternal}, sandbox.Fault{Kind: sandbox.FaultReset})
	send("/v1/messages", body)
	w.try(w.url, "/v1/messages", body, headers...)
	w.flush()

	if n := len(w.Spans("")); n < 60 || len(w.Spans("decant.archive")) == 0 || !outcomes(w)["poured"] || !outcomes(w)["refused"] {
		t.Errorf("%d spans, of outcomes %v: that is not what was to be looked at", n, outcomes(w))
	}
	if found := m.found(w.Raw()); len(found) > 0 {
		t.Errorf("of %d places these were exported: %q", len(m.places), found)
	}
	for _, s := range w.Spans("") { // and nothing that is longer than any name
		for name, v := range s.Attrs {
			if text, ok := v.(string); ok && (len(text) > 100 || strings.ContainsAny(text, "\n\"{}")) {
				t.Errorf("%s of %s is %q", name, s.Name, text)
			}
		}
	}
}

// Nor is anything that the provider answers.
func TestNoAnswerIsExported(t *testing.T) {
	m := &marks{}
	message := fmt.Sprintf(`{"id":"%s","type":"message","role":"assistant","model":"%s","stop_reason":"%s","content":[{"type":"text","text":"%s"},{"type":"tool_use","id":"toolu_1","name":"%s","input":{"%s":"%s"}}],"usage":{"input_tokens":7,"output_tokens":1,"service_tier":"%s"}}`,
		m.at("id"), m.at("answeredmodel"), m.at("reason"), m.at("answer"), m.at("tool"), m.at("key"), m.at("argument"), m.at("tier"))
	charset, event, kind, text, id, organization := m.at("charset"), m.at("event"), m.at("errortype"), m.at("errortext"), m.at("requestid"), m.at("organization")
	answers := []func(http.ResponseWriter){
		func(w http.ResponseWriter) { fmt.Fprint(w, message) },
		func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream; charset="+charset)
			fmt.Fprintf(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":%s}\n\nevent: error\ndata: {\"error\":{\"message\":\"%s\"}}\n\n", message, event)
		},
		func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"type":"error","error":{"type":"%s","message":"prompt is too long: %s"}}`, kind, text)
		},
	}
	var n atomic.Int64
	w := newTracedWorld(t, handler(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Request-Id", id)
		w.Header().Set("Anthropic-Organization-Id", organization)
		answers[min(int(n.Add(1)), len(answers))-1](w)
	}), gateway.Options{}, engine.Options{}, tracing.Options{})
	for range answers {
		if res, _ := w.post(w.url, "/v1/messages", hello); res.Header.Get("Request-Id") == "" {
			t.Errorf("answer %v", res.Header)
		}
	}
	w.flush()
	calls := w.Spans("chat ")
	if len(calls) < 3 || calls[0].Attrs["gen_ai.usage.input_tokens"] != 7 {
		t.Errorf("%d calls", len(calls))
	}
	if found := m.found(w.Raw()); len(found) > 0 || len(m.places) < 12 {
		t.Errorf("of %d places these were exported: %q", len(m.places), found)
	}
}

func outcomes(w *tracedWorld) map[string]bool {
	out := map[string]bool{}
	for _, s := range w.Spans("") {
		if o, ok := s.Attrs["decant.outcome"].(string); ok {
			out[o] = true
		}
	}
	return out
}

// raw sends what no client library would, and waits for the answer, or for the end of what can be sent.
func raw(t *testing.T, base, text string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	conn.(*net.TCPConn).CloseWrite()
	buf := make([]byte, 4096)
	for err == nil {
		_, err = conn.Read(buf)
	}
}

// The model's name is a client's word as well: what looks like one is shown, nothing else.
func TestModelsAreShownIfTheyLookLikeOne(t *testing.T) {
	for model, want := range map[string]any{
		"claude-sonnet-4-5": "claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
		"arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude": "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude",
		"claude-opus-4-6[1m]": "claude-opus-4-6[1m]", "two words": "_OTHER", "9x": "_OTHER", "": nil, strings.Repeat("m", 129): "_OTHER", "ein-gro\u00dfes": "_OTHER",
		"sk-ant-api03-" + strings.Repeat("aB3", 31) + "AA": "_OTHER",
	} {
		up := handler(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
		w := newTracedWorld(t, up, gateway.Options{}, engine.Options{}, tracing.Options{})
		w.post(w.url, "/v1/messages", strings.Replace(hello, "claude-sonnet-4-5", model, 1))
		w.flush()
		if got := w.Span("chat").Attrs["gen_ai.request.model"]; got != want {
			t.Errorf("%q is shown as %v", model, got)
		}
	}
}
