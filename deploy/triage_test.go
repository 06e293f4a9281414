package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// The schedule of systemd: what it runs, and what systemd itself thinks of it.
func TestTriageUnits(t *testing.T) {
	d := directives(t, read(t, "decant-triage.service"))
	for name, want := range map[string]string{
		"[Service]Type": "oneshot", "[Service]SuccessExitStatus": "1", "[Service]UMask": "0077", "[Service]NoNewPrivileges": "yes",
		"[Service]ExecStart": "/usr/local/bin/decant triage run --config /etc/decant/triage.yaml --html /var/lib/decant-triage/report.html", "[Service]EnvironmentFile": "/etc/decant/triage.env",
	} {
		if !slices.Contains(d[name], want) {
			t.Errorf("%s is %q, want %q", name, d[name], want)
		}
	}
	for _, name := range []string{"ProtectKernelTunables", "ProtectKernelLogs", "ProtectHostname", "ProtectProc", "ProcSubset"} {
		if d["[Service]"+name] != nil {
			t.Errorf("%s covers a part of /proc, and then commands have no walls", name)
		}
	}
	for _, space := range strings.Fields("user mnt pid net ipc uts") {
		if !slices.Contains(strings.Fields(d["[Service]RestrictNamespaces"][0]), space) {
			t.Errorf("the walls of commands need a namespace %s", space)
		}
	}
	if timer := directives(t, read(t, "decant-triage.timer")); !slices.Contains(timer["[Timer]Persistent"], "yes") || len(timer["[Timer]OnCalendar"]) != 1 {
		t.Errorf("%v", timer)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("NOT TESTED: there is no systemd-analyze here")
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var names []string
	for _, name := range []string{"decant-triage.service", "decant-triage.timer"} {
		unit := strings.NewReplacer("/usr/local/bin/decant", binary, "/etc/decant/triage.env", "-/etc/decant/triage.env").Replace(read(t, name))
		names = append(names, filepath.Join(dir, name))
		if err := os.WriteFile(names[len(names)-1], []byte(unit), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(analyze, append([]string{"verify"}, names...)...).CombinedOutput(); err != nil || strings.Contains(string(out), "decant-triage") {
		t.Errorf("verify: %v\n%s", err, out)
	}
}

// The GitHub Action: it can be read, a secret is only ever in the environment of the step that needs it, and the report is kept also when a run fails.
func TestTriageWorkflow(t *testing.T) {
	text := read(t, "triage-workflow.yml")
	var w struct {
		On          map[string]any
		Permissions map[string]string
		Jobs        map[string]struct {
			Steps []struct {
				Uses, Run, If string
				Env, With     map[string]any
			}
		}
	}
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	if w.On["schedule"] == nil || len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
		t.Errorf("%+v", w)
	}
	runs, kept, trusted := 0, false, false
	for _, s := range w.Jobs["triage"].Steps {
		if strings.Contains(s.Run, "${{") || strings.Contains(s.Run, "secrets.") {
			t.Errorf("a secret or an expression in a command: %s", s.Run)
		}
		if strings.HasPrefix(s.Run, "decant triage run ") {
			runs++
			for _, name := range []string{"ANTHROPIC_API_KEY", "NEW_RELIC_API_KEY", "SENTRY_AUTH_TOKEN", "GITHUB_TOKEN", "DECANT_DB"} {
				if s.Env[name] == nil {
					t.Errorf("the run has no %s", name)
				}
			}
		} else if len(s.Env) > 0 {
			t.Errorf("%s has an environment: %v", s.Uses+s.Run, s.Env)
		}
		trusted = trusted || strings.HasPrefix(s.Run, "decant trust --hash ") && runs == 0 // before the run, and to one content
		kept = kept || strings.HasPrefix(s.Uses, "actions/upload-artifact@") && s.If == "always()"
	}
	if runs != 1 || !kept || !trusted {
		t.Errorf("%d runs, report kept: %v, settings trusted: %v", runs, kept, trusted)
	}
}
