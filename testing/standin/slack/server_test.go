package slack_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	api "github.com/slack-go/slack"

	"github.com/decantdev/decant/testing/standin/slack"
)

// The official words of Slack for what it refuses, as its client reads them.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := slack.New(slack.Options{Token: "right", Channels: map[string]string{"C01": "errors", "C02": "other"}, Outside: []string{"C02"}, Scopes: []string{"chat:write"}, Webhook: "/services/T/B/x"})
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	as := func(token string) *api.Client { return api.New(token, api.OptionAPIURL(at.URL+"/api/")) }
	post := func(c *api.Client, channel string, o ...api.MsgOption) error {
		_, _, err := c.PostMessageContext(t.Context(), channel, o...)
		return err
	}
	text := api.MsgOptionText("hello", false)
	_, err := as("right").GetConversationHistoryContext(t.Context(), &api.GetConversationHistoryParameters{ChannelID: "C01"})
	for want, got := range map[string]error{
		"invalid_auth": post(as("wrong"), "#errors", text), "channel_not_found": post(as("right"), "#none", text), "not_in_channel": post(as("right"), "C02", text),
		"no_text": post(as("right"), "C01", api.MsgOptionText(" ", false)), "thread_not_found": post(as("right"), "C01", text, api.MsgOptionTS("1.2")), "missing_scope": err,
		"msg_too_long": post(as("right"), "C01", api.MsgOptionText(strings.Repeat("x", 40_001), false)),
	} {
		if got == nil || got.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	if err := post(as("right"), "#errors", text); err != nil || len(s.Messages()) != 1 || s.Messages()[0].Channel != "C01" {
		t.Errorf("%v, %+v", err, s.Messages())
	}
	for path, want := range map[string]int{"/services/T/B/x": http.StatusBadRequest, "/services/T/B/y": http.StatusNotFound} {
		resp, err := http.Post(at.URL+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != want {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}
