package shell

import (
	"path"
	"slices"
	"strings"
)

// unpacks reads programs that take archives apart: what was fetched stays fetched.
func (c *call) unpacks() {
	c.does |= FileWrite
	fetched := c.in.fetched
	c.archiveRuns()
	c.unpacked()
	c.packs()
	for i, a := range c.args {
		fetched = fetched || c.isFetched(a.Text)
		if i > 0 && (c.args[i-1].Text == "-C" || c.args[i-1].Text == "-d" && c.name == "unzip") {
			c.written(strings.TrimSuffix(a.Text, "/"), flow{})
			if a.Text == "/" || Lasting(a.Text+"/x") {
				c.does |= Persist
			}
			continue
		}
		if !strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, ".") {
			c.out = c.out.join(flow{secret: c.reads(a.Text)})
		}
	}
	c.inside = c.inside || fetched
	if fetched && c.name == "gunzip" {
		for _, a := range c.args {
			c.bring(strings.TrimSuffix(a.Text, ".gz"))
		}
	}
	if fetched && c.takesApart() {
		c.unpacksStrange()
	}
}

// archives are the endings of what is taken apart.
var archives = []string{
	".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tgz", ".txz", ".tbz2", ".tar", ".zip", ".7z", ".cpio", ".jar", ".whl",
}

// unpacksStrange remembers where an archive from elsewhere is taken apart: in a folder that is
// named, or here, most likely in a folder of the archive's own name.
func (c *call) unpacksStrange() {
	to := c.unpackTo()
	for _, dir := range to {
		c.bring(dir)
	}
	if len(to) > 0 {
		return
	}
	c.line.Spills = true
	for _, a := range c.args {
		for _, end := range archives {
			if stem, ok := strings.CutSuffix(a.Text, end); ok {
				c.bring(path.Base(stem))
				break
			}
		}
	}
}

// unpacked looks at the folders that archives are taken apart in: anything may be put there.
func (c *call) unpacked() {
	if !c.takesApart() {
		return
	}
	to := c.unpackTo()
	if len(to) == 0 {
		to = []string{"."}
	}
	for _, dir := range to {
		for _, f := range c.everywhere(dir) {
			c.does |= c.stays(f)
			if overseenFolder(f) {
				c.does |= Persist | Oversight
			}
		}
	}
}

// packs looks at the file that an archive is put into.
func (c *call) packs() {
	if c.takesApart() || len(c.args) == 0 {
		return
	}
	args := slices.Clone(c.args)
	switch first := &args[0]; c.name {
	case "tar", "bsdtar":
		if !strings.HasPrefix(first.Text, "-") {
			first.Text = "-" + first.Text // the old way to say what is to be done
		}
		flags, _ := options(args, unpackValues[c.name], unpackLong)
		if flags["-t"] == nil && flags["--list"] == nil {
			for _, f := range valuesOf(flags, "-f", "--file") {
				c.written(f, flow{})
			}
		}
	case "cpio":
		flags, _ := options(args, "OF", nil)
		for _, f := range valuesOf(flags, "-O", "-F") {
			c.written(f, flow{})
		}
	case "7z":
		if words := texts(args); len(words) > 1 && words[0] == "a" {
			c.written(words[1], flow{})
		}
	}
}

// takesApart reports whether an archive is taken apart, not made or looked at.
func (c *call) takesApart() bool {
	switch c.name {
	case "tar", "bsdtar":
		for i, a := range c.args {
			long := strings.HasPrefix(a.Text, "--")
			if long && (strings.HasPrefix(a.Text, "--ex") && !strings.HasPrefix(a.Text, "--exc") || strings.HasPrefix(a.Text, "--get")) ||
				!long && (i == 0 || strings.HasPrefix(a.Text, "-")) && strings.Contains(a.Text, "x") {
				return true
			}
		}
		return false
	case "unzip":
		flags, _ := options(c.args, "d", nil)
		return flags["-l"] == nil && flags["-t"] == nil && flags["-p"] == nil && flags["-v"] == nil && flags["-Z"] == nil
	case "7z":
		return len(c.args) > 0 && (c.args[0].Text == "x" || c.args[0].Text == "e")
	case "cpio":
		flags, _ := options(c.args, "", nil)
		return flags["-i"] != nil || flags["--extract"] != nil
	}
	return false
}

var (
	unpackValues = map[string]string{"tar": "Cf", "bsdtar": "Cf", "unzip": "d", "7z": "o", "cpio": "D"}
	unpackLong   = set("--directory --file")
)

// unpackTo are the folders named for it.
func (c *call) unpackTo() []string {
	flags, _ := options(c.args, unpackValues[c.name], unpackLong)
	return slices.DeleteFunc(valuesOf(flags, "-C", "-d", "-o", "-D", "--directory"), func(v string) bool { return v == "" })
}
