package heap_test

import (
	"errors"
	"testing"

	"github.com/tidemark/tidemark/internal/base/heap"
)

func TestTheLeastOfWhatIsGivenCounts(t *testing.T) {
	const info = "MemFree: 1 kB\nMemTotal:       8000000 kB\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is known":   {nil, 0},
		"a machine alone":    {map[string]string{"/proc/meminfo": info}, 8000000 << 10},
		"no bound":           {map[string]string{"/proc/meminfo": info, "/sys/fs/cgroup/memory.max": "max\n"}, 8000000 << 10},
		"a container":        {map[string]string{"/proc/meminfo": info, "/sys/fs/cgroup/memory.max": "1000000\n"}, 1000000},
		"an older container": {map[string]string{"/proc/meminfo": info, "/sys/fs/cgroup/memory/memory.limit_in_bytes": "2000000\n"}, 2000000},
		"one that has none":  {map[string]string{"/proc/meminfo": info, "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 8000000 << 10},
		"a service in a slice": {map[string]string{
			"/proc/meminfo": info, "/proc/self/cgroup": "0::/system.slice/tidemark.service\n",
			"/sys/fs/cgroup/system.slice/tidemark.service/memory.max": "max\n", "/sys/fs/cgroup/system.slice/memory.max": "3000000\n",
		}, 3000000},
	} {
		got := heap.Machine(func(file string) ([]byte, error) {
			if text, ok := test.files[file]; ok {
				return []byte(text), nil
			}
			return nil, errors.New("not there")
		})
		if got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
	if n := heap.Share(512 << 20); n <= 0 || n > 512<<20 {
		t.Errorf("the share is %d", n)
	}
}
