package deliver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/modelhttp"
)

// Slack is where messages go: a bot, which can answer in threads and look what it has sent, or an incoming webhook, which can do neither.
type Slack struct {
	bot     *slack.Client
	webhook string
	client  *http.Client
}

// timeOfCall is how long one call may take.
const timeOfCall = 30 * time.Second

// Bot returns Slack for a bot token. base is the address of the API; empty: Slack's own. via makes the calls; nil: http.DefaultTransport.
func Bot(token, base string, via http.RoundTripper) (*Slack, error) {
	client := &http.Client{Transport: via, Timeout: timeOfCall, CheckRedirect: stay}
	options := []slack.Option{slack.OptionHTTPClient(client), slack.OptionLog(log.New(io.Discard, "", 0))}
	if base != "" {
		if err := modelhttp.CheckBase(base); err != nil {
			return nil, fmt.Errorf("SLACK_API_URL: %w", err)
		}
		options = append(options, slack.OptionAPIURL(strings.TrimSuffix(base, "/")+"/"))
	}
	return &Slack{bot: slack.New(token, options...), client: client}, nil
}

// Webhook returns Slack for the address of an incoming webhook.
func Webhook(address string, via http.RoundTripper) (*Slack, error) {
	if err := modelhttp.CheckBase(address); err != nil {
		return nil, errors.New("SLACK_WEBHOOK_URL is not the https address of an incoming webhook")
	}
	return &Slack{webhook: address, client: &http.Client{Transport: via, Timeout: timeOfCall, CheckRedirect: stay}}, nil
}

// stay follows no redirects: a token goes to whom it was given for.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Threads reports whether there is a reply for each error. A webhook has one message.
func (s *Slack) Threads() bool { return s.bot != nil }

// eventType is the type of the metadata of our messages.
const eventType = "decant_triage"

func (s *Slack) send(ctx context.Context, it *Item) (*Made, error) {
	if s.bot == nil {
		return s.hook(ctx, it)
	}
	channel, thread, _ := strings.Cut(it.To, "/")
	options := []slack.MsgOption{slack.MsgOptionText(it.Text, false), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: eventType, EventPayload: map[string]any{"marker": it.Marker}})}
	if thread != "" {
		options = append(options, slack.MsgOptionTS(thread))
	}
	id, ts, err := s.bot.PostMessageContext(ctx, channel, options...)
	if err != nil {
		return nil, slackRefusal(err)
	}
	return &Made{Channel: id, ID: ts}, nil
}

// hook sends a message over an incoming webhook.
func (s *Slack) hook(ctx context.Context, it *Item) (*Made, error) {
	body, err := json.Marshal(map[string]any{"text": it.Text, "unfurl_links": false, "unfurl_media": false})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.webhook, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("SLACK_WEBHOOK_URL is no address")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, slackRefusal(err)
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
	switch {
	case resp.StatusCode == http.StatusOK:
		return &Made{}, nil
	case resp.StatusCode == http.StatusTooManyRequests:
		n, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return nil, slackRefusal(&slack.RateLimitedError{RetryAfter: time.Duration(n) * time.Second})
	case resp.StatusCode >= 500:
		return nil, slackRefusal(slack.StatusCodeError{Code: resp.StatusCode, Status: resp.Status})
	}
	return nil, &refusal{err: fmt.Errorf("Slack refuses the webhook: %d %s; make a new one at api.slack.com/apps, under Incoming Webhooks", resp.StatusCode, strings.TrimSpace(string(said)))}
}

// find looks for a message by the marker in its metadata.
func (s *Slack) find(ctx context.Context, e *Entry) (*Made, error) {
	if s.bot == nil {
		return nil, errBlind
	}
	name, thread, _ := strings.Cut(e.Item.To, "/")
	channel, err := s.channel(ctx, name)
	if err != nil {
		return nil, blind(slackRefusal(err))
	}
	oldest := strconv.FormatInt(e.Time.Add(-time.Hour).Unix(), 10)
	cursor := ""
	for range 20 {
		var found []slack.Message
		if thread != "" {
			found, _, cursor, err = s.bot.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: thread, Cursor: cursor, Limit: 200, IncludeAllMetadata: true})
		} else {
			var page *slack.GetConversationHistoryResponse
			page, err = s.bot.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{ChannelID: channel, Oldest: oldest, Cursor: cursor, Limit: 200, IncludeAllMetadata: true})
			if err == nil {
				found, cursor = page.Messages, page.ResponseMetaData.NextCursor
			}
		}
		if err != nil {
			return nil, blind(slackRefusal(err))
		}
		for _, m := range found {
			if m.Metadata.EventType == eventType && m.Metadata.EventPayload["marker"] == e.Item.Marker {
				return &Made{Channel: channel, ID: m.Timestamp}, nil
			}
		}
		if cursor == "" {
			return nil, nil
		}
	}
	return nil, fmt.Errorf("there are too many messages since: %w", errBlind)
}

// blind turns the lack of a right to look into errBlind: no later try will find out either.
func blind(err error) error {
	if e, ok := errors.AsType[slack.SlackErrorResponse](err); ok && (e.Err == "missing_scope" || e.Err == "channel_not_found" || e.Err == "not_in_channel") {
		return fmt.Errorf("%w: the bot lacks channels:history, or channels:read", errBlind)
	}
	return err
}

// channelID matches the id of a channel.
var channelID = lazyregexp.New(`^[CGD][A-Z0-9]{2,}$`)

// channel returns the id of a channel, which searching takes alone.
func (s *Slack) channel(ctx context.Context, name string) (string, error) {
	if channelID.MatchString(name) {
		return name, nil
	}
	cursor := ""
	for range 50 {
		found, next, err := s.bot.GetConversationsContext(ctx, &slack.GetConversationsParameters{Cursor: cursor, Limit: 1000, ExcludeArchived: true, Types: []string{"public_channel"}})
		if err != nil {
			return "", err
		}
		for _, c := range found {
			if c.Name == strings.TrimPrefix(name, "#") {
				return c.ID, nil
			}
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	return "", slack.SlackErrorResponse{Err: "channel_not_found"}
}

// advice says what to do about an answer of Slack.
var advice = map[string]string{
	"not_in_channel":    "invite the bot: /invite @decant in the channel",
	"channel_not_found": "there is no such channel, or the bot was not invited to it: name it by its id in the settings",
	"invalid_auth":      "SLACK_BOT_TOKEN is wrong",
	"token_expired":     "SLACK_BOT_TOKEN has expired: make a new one at api.slack.com/apps, under OAuth & Permissions",
	"token_revoked":     "SLACK_BOT_TOKEN was revoked: make a new one at api.slack.com/apps, under OAuth & Permissions",
	"account_inactive":  "the bot was removed: install the app again",
	"not_authed":        "SLACK_BOT_TOKEN is empty",
	"missing_scope":     "give the app the scopes chat:write, channels:read and channels:history, and install it again",
}

// slackRefusal says what an error of the client means.
func slackRefusal(err error) error {
	if e, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		return &refusal{err: fmt.Errorf("Slack wants %v to pass before the next message", e.RetryAfter), again: true, after: e.RetryAfter}
	}
	if e, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		wrapped := fmt.Errorf("Slack: %w", e)
		if do := advice[e.Err]; do != "" {
			wrapped = fmt.Errorf("%w; %s", wrapped, do)
		}
		return &refusal{err: wrapped, again: e.Err == "internal_error" || e.Err == "fatal_error", unclear: e.Err == "internal_error" || e.Err == "fatal_error"}
	}
	if e, ok := errors.AsType[slack.StatusCodeError](err); ok {
		busy := e.Code == http.StatusTooManyRequests
		return &refusal{err: fmt.Errorf("Slack answers %s", e.Status), again: true, unclear: !busy}
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // the address of a webhook is a secret
	}
	return &refusal{err: fmt.Errorf("reach Slack: %w", err), again: true, unclear: true}
}

// Check examines the credential and the rights.
func (s *Slack) Check(ctx context.Context, channel string) error {
	if s.bot == nil {
		return nil // only a message can tell
	}
	if _, err := s.bot.AuthTestContext(ctx); err != nil {
		return slackRefusal(err)
	}
	if channel == "" {
		return errors.New("no channel is named: slack: {channel: \"#errors\"} in the settings")
	}
	id, err := s.channel(ctx, channel)
	if err != nil {
		return slackRefusal(err)
	}
	if _, err := s.bot.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{ChannelID: id, Limit: 1}); err != nil {
		return slackRefusal(err)
	}
	return nil
}
