package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// mostOfSessions is how many MB of memory a server may take for forty sessions of 16 MB at once.
const mostOfSessions = 600

// Forty sessions of 16 MB at once stay within the memory of a server. Those for which there is no room wait, and are told
// so when there is none for long.
func TestLargeSessionsThroughTheGateway(t *testing.T) {
	testkit.NeedFull(t, "how much memory large sessions take")
	up := httptest.NewServer(sandbox.New(sandbox.Options{Window: 1 << 30}))
	t.Cleanup(up.Close)
	p := start(t, "anthropic_upstream: "+up.URL+"\n")
	largeSessions(t, p.cmd, func(session, turn int) *http.Request {
		var turns []io.Reader
		size := int64(0)
		add := func(text string) { turns, size = append(turns, strings.NewReader(text)), size+int64(len(text)) }
		add(`{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[`)
		for i := range turn + 1 {
			if i > 0 {
				add(`,{"role":"assistant","content":"I have."},`)
			}
			add(`{"role":"user","content":"`)
			words := newWords(session, i)
			turns, size = append(turns, words), size+words.Size()
			add(`"}`)
		}
		add("]}")
		r := p.request("")
		r.Body, r.ContentLength = io.NopCloser(io.MultiReader(turns...)), size
		r.Header.Set("X-Decant-Session", fmt.Sprint("s", session))
		return r
	})
}

// The same holds for the chat service, whose sessions lie with the server.
func TestLargeSessionsOfTheChat(t *testing.T) {
	testkit.NeedFull(t, "how much memory large sessions take")
	cmd := exec.Command("decant", "chat", "--serve", "--sandbox", "--listen", "127.0.0.1:0", "--db", t.TempDir()+"/chat.db")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	var base string
	if _, err := fmt.Fscanf(out, "The chat is at %s", &base); err != nil {
		t.Fatal(err)
	}
	var ids sync.Map
	largeSessions(t, cmd, func(session, turn int) *http.Request {
		id, known := ids.Load(session)
		if !known {
			res, err := http.Post(base+"/v1/sessions", "application/json", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(res.Body)
			res.Body.Close()
			id = regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(string(text))[1]
			ids.Store(session, id)
		}
		words := newWords(session, turn)
		r, _ := http.NewRequestWithContext(t.Context(), "POST", base+"/v1/sessions/"+id.(string)+"/messages", nil)
		r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(`{"text":"`), words, strings.NewReader(`"}`))), words.Size()+11
		r.Header.Set("Accept", "application/json")
		return r
	})
}

// newWords returns 8 MB of text that is another one for each session and turn.
func newWords(session, turn int) *io.SectionReader {
	return io.NewSectionReader(words(session*7919+turn*104_729), 0, 8<<20)
}

// words are an endless text of words of eight letters, each of which is a number.
type words int

// ReadAt implements io.ReaderAt.
func (w words) ReadAt(p []byte, at int64) (int, error) {
	for i := range p {
		n, letter := (at+int64(i))/8, (at+int64(i))%8
		word := uint32(int64(w)*2_654_435_761+n*40_503) >> (4 * min(letter, 6))
		p[i] = "abcdefghijklmnop"[word&15]
		if letter == 7 {
			p[i] = ' '
		}
	}
	return len(p), nil
}

// largeSessions has forty sessions of two turns send what request returns, all at once, and checks how much memory a
// server has taken at most.
func largeSessions(t *testing.T, server *exec.Cmd, request func(session, turn int) *http.Request) {
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for session := range 40 {
		all.Go(func() {
			for turn := range 2 {
				res, err := http.DefaultClient.Do(request(session, turn))
				if err != nil {
					t.Error(err)
					return
				}
				text, _ := io.ReadAll(res.Body)
				res.Body.Close()
				mu.Lock()
				statuses[res.StatusCode]++
				mu.Unlock()
				if res.StatusCode != http.StatusOK && (res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "") {
					t.Errorf("%d %.200s", res.StatusCode, text)
				}
			}
		})
	}
	all.Wait()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", server.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	kb, err := strconv.Atoi(regexp.MustCompile(`VmHWM:\s+(\d+)`).FindStringSubmatch(string(status))[1])
	t.Logf("answers by status %v, at most %d MB", statuses, kb>>10)
	if err != nil || kb>>10 > mostOfSessions || statuses[http.StatusOK] == 0 {
		t.Errorf("%d MB, %v; want at most %d MB and some answers", kb>>10, err, mostOfSessions)
	}
}
