package edge

import (
	"errors"
	"math"
	"os"
	"testing"

	"github.com/decantdev/decant/internal/config"
)

func TestMemoryOfContainerAndMachine(t *testing.T) {
	const v2, v1, machine = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/proc/meminfo"
	for _, c := range []struct {
		files map[string]string
		want  int64
	}{
		{map[string]string{}, 3 << 30},
		{map[string]string{v2: "max\n"}, 3 << 30},
		{map[string]string{v2: "536870912\n"}, 512 << 20},
		{map[string]string{v2: "max\n", machine: "MemTotal:       24000000 kB\nMemFree: 1 kB\n"}, 24000000 << 10},
		{map[string]string{v2: "536870912\n", machine: "MemTotal:       24000000 kB\n"}, 512 << 20},
		{map[string]string{v1: "9223372036854771712\n", machine: "MemTotal: 2048 kB\n"}, 2 << 20},
		{map[string]string{v1: "garbage", machine: ""}, math.MaxInt64},
	} {
		got := memoryOf(func(name string) ([]byte, error) {
			if text, ok := c.files[name]; ok {
				return []byte(text), nil
			}
			return nil, errors.New("no such file")
		}, func() int64 { return 3 << 30 })
		if got != c.want {
			t.Errorf("%v: %d, want %d", c.files, got, c.want)
		}
	}
}

// What the system says of the machine is no less than what it says in the file.
func TestInstalledMemory(t *testing.T) {
	unknown := func() int64 { return math.MaxInt64 }
	if _, err := os.ReadFile("/proc/meminfo"); err != nil {
		t.Skip("this system has no such file")
	}
	machine := func(name string) ([]byte, error) {
		if name != "/proc/meminfo" {
			return nil, os.ErrNotExist
		}
		return os.ReadFile(name)
	}
	// A container may be shown a file of its own, so the file may say less.
	if told, read := installed(), memoryOf(machine, unknown); told/(1<<20) < read/(1<<20) || told == math.MaxInt64 {
		t.Errorf("the system tells of %d bytes, the file of %d", told, read)
	}
}

func TestBodyMemoryIsWhatIsConfigured(t *testing.T) {
	if got := BodyMemory(&config.Config{Bodies: 5 << 30}); got != 5<<30 {
		t.Errorf("%d", got)
	}
	if got := BodyMemory(&config.Config{}); got < leastBodies || got > mostBodies {
		t.Errorf("%d by itself", got)
	}
}

// A body may be larger than what the API takes where there is room, since what is sent of it is not.
func TestTheLargestBody(t *testing.T) {
	for bodies, want := range map[config.Size]int64{64 << 20: 32 << 20, 200 << 20: 100 << 20, 2 << 30: 128 << 20} {
		if got := BodyLimit(&config.Config{Bodies: bodies}); got != want {
			t.Errorf("room of %d: %d, want %d", bodies, got, want)
		}
	}
	if got := BodyLimit(&config.Config{BodyLimit: 1 << 20}); got != 1<<20 {
		t.Errorf("configured: %d", got)
	}
}
