package memlimit_test

import (
	"testing"
	"testing/fstest"

	"github.com/tidemark/tidemark/internal/base/memlimit"
)

func system(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

const (
	meminfo = "MemTotal:       24498564 kB\nMemFree:         1201544 kB\n"
	whole   = 24498564 << 10
)

func TestWhatIsGivenIsTheLeastOfAllLimits(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nobody says":                      {nil, 0},
		"a machine without control groups": {map[string]string{"proc/meminfo": meminfo}, whole},
		"a file of another form":           {map[string]string{"proc/meminfo": "MemTotal: much kB\n"}, 0},
		"a group without a limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/user.slice\n", "sys/fs/cgroup/user.slice/memory.max": "max\n",
		}, whole},
		"a limit of the group": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/system.slice/tidemark.service\n",
			"sys/fs/cgroup/system.slice/tidemark.service/memory.max": "268435456\n", "sys/fs/cgroup/system.slice/memory.max": "max\n",
		}, 256 << 20},
		"a lower limit of one above it": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "1073741824\n", "sys/fs/cgroup/a/memory.max": "536870912\n",
		}, 512 << 20},
		"a limit from which on it is slowed": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max": "1073741824\n", "sys/fs/cgroup/a/memory.high": "805306368\n",
		}, 768 << 20},
		"a container that sees its own group at the top": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/memory.max": "134217728\n",
		}, 128 << 20},
		"control groups of the first kind": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:hugetlb,memory:/docker/abc\n1:name=systemd:/\n",
			"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "402653184\n",
		}, 384 << 20},
		"the first kind, without a limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, whole},
		"a limit above the machine": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1099511627776\n",
		}, whole},
		"a limit and no word of the machine": {map[string]string{
			"proc/self/cgroup": "0::/\nnonsense\n", "sys/fs/cgroup/memory.max": "67108864\n",
		}, 64 << 20},
	} {
		if got := memlimit.On(system(c.files)); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

func TestTheShareIsAQuarterAndAtMostSoMuch(t *testing.T) {
	for given, want := range map[int64]int64{
		-1: 64 << 20, 0: 64 << 20, 2: 1, 128 << 20: 32 << 20, 2 << 30: 512 << 20, 2<<30 - 4: 512<<20 - 1, whole: 512 << 20,
	} {
		if got := memlimit.Share(given); got != want {
			t.Errorf("of %d: got %d, want %d", given, got, want)
		}
	}
}

func TestAnOwnLimitCounts(t *testing.T) {
	before := memlimit.Given()
	t.Setenv("GOMEMLIMIT", "1TiB") // what the runtime read at its start is what counts: here nothing
	if got := memlimit.Given(); before == 0 || got != before {
		t.Errorf("got %d, and %d without it", got, before)
	}
}
