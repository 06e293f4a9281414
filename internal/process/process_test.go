package process

import (
	"os"
	"path/filepath"
	"testing"
)

func TestEnvironment(t *testing.T) {
	p := &Process{Environ: []string{"A=1", "KEY= secret ", "A=2", "EMPTY="}}
	if got := p.Getenv("A"); got != "2" {
		t.Errorf("A is %q, want the last value", got)
	}
	if _, set := p.LookupEnv("EMPTY"); !set {
		t.Error("a variable with an empty value is not set")
	}
	if _, set := p.LookupEnv("HOME"); set {
		t.Error("a variable of this process is visible")
	}
	if got := p.Key("KEY"); got != "secret" {
		t.Errorf("the key is %q", got)
	}
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	p := &Process{Dir: dir}
	for name, want := range map[string]string{
		"": "", "a": filepath.Join(dir, "a"), "../b": filepath.Join(filepath.Dir(dir), "b"), dir: dir,
	} {
		if got := p.Path(name); got != want {
			t.Errorf("the path of %q is %q, want %q", name, got, want)
		}
	}
	if got := p.Preset("default"); got != "default" {
		t.Errorf("a preset that comes with the program is looked for at %q", got)
	}
	if got := p.Preset("mine.yaml"); got != filepath.Join(dir, "mine.yaml") {
		t.Errorf("a preset in a file is looked for at %q", got)
	}
	here := new(Process) // in the working directory of the test: names stay as they are given
	if got := here.Path("a"); got != "a" {
		t.Errorf("without a folder the path of a is %q", got)
	}
}

func TestContextEndsWithASignal(t *testing.T) {
	var arrives chan<- os.Signal
	p := &Process{Notify: func(c chan<- os.Signal, _ ...os.Signal) { arrives = c }}
	ctx, stop := p.Context()
	defer stop()
	arrives <- os.Interrupt
	<-ctx.Done()
}
