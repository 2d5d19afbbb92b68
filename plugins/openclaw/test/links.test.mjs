// A link that a stranger committed is judged as what it leads to, whether that exists or not. The same cases as the hook program's.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { follow, without } from "../dist/links.js";

const root = realpathSync(mkdtempSync(join(tmpdir(), "links-")));
const home = join(root, "home");
const cwd = join(home, "app");
process.env.HOME = home;
after(() => rmSync(root, { recursive: true }));
for (const dir of ["../.ssh", ".git/hooks", "lib"]) mkdirSync(join(cwd, dir), { recursive: true });
for (const [link, to] of Object.entries({
  "docs/keys.md": "../../.ssh/authorized_keys", // which is not there yet
  "docs/top": "../.git",
  "docs/lib.md": "../lib/lib.md",
  "docs/ring": "ring",
  "docs/absolute": join(home, ".profile"),
  "docs/twice": "keys.md",
  "node_modules/.bin/lint": "../lint/main.js",
})) {
  mkdirSync(join(cwd, dirname(link)), { recursive: true });
  symlinkSync(to, join(cwd, link));
}
symlinkSync(cwd, join(root, "way"));

const own = ["exec", "read", "write", "edit", "apply_patch"];
const keys = join(home, ".ssh/authorized_keys");
const profile = join(home, ".profile");

for (const [name, folder, tool, params, want] of [
  ["a link to a key file", cwd, "write", { path: "docs/keys.md", content: "x" }, [keys]],
  ["by its whole name", cwd, "edit", { path: join(cwd, "docs/keys.md") }, [keys]],
  ["a folder link", cwd, "write", { path: "docs/top/hooks/post-commit" }, [".git/hooks/post-commit"]],
  ["a link to a link", cwd, "write", { path: "./docs/twice" }, [keys]],
  ["in a command", cwd, "exec", { command: "echo x >>docs/absolute; cat docs/keys.md" }, [profile, keys]],
  ["in a command with a folder of its own", cwd, "exec", { command: "echo x >> keys.md", workdir: "docs" }, [keys]],
  ["an installed program", cwd, "exec", { command: "node_modules/.bin/lint ." }, undefined],
  ["in a patch", cwd, "apply_patch", { input: "*** Begin Patch\n*** Update File: docs/keys.md\n+x" }, [keys]],
  ["a link inside the folder", cwd, "read", { path: "docs/lib.md" }, ["lib/lib.md"]],
  ["no link", cwd, "write", { path: "lib/lib.md", content: "docs" }, undefined],
  ["a ring", cwd, "write", { path: "docs/ring" }, undefined],
  ["a folder that was reached by a link", join(root, "way"), "write", { path: "lib/lib.md" }, undefined],
  ["links of the system in a command", cwd, "exec", { command: "/proc/self/exe x" }, undefined],
  ["a folder that nobody named", undefined, "write", { path: join(cwd, "docs/keys.md") }, [keys]],
  ["a tool that is not the gateway's own", cwd, "mcp__x__write", { path: "docs/keys.md" }, undefined],
]) {
  test(name, () => {
    const sent = follow(tool, params, folder, own);
    assert.deepEqual(sent.realPaths?.toSorted(), want?.toSorted());
    assert.deepEqual(without(sent, params), params, "what the tool is given");
  });
}

test("what the model fills in under that name hides no link", () => {
  const params = { path: "docs/keys.md", realPaths: ["lib/lib.md"] };
  const sent = follow("write", params, cwd, own);
  assert.deepEqual(sent, { ...params, realPaths_: [keys] });
  assert.deepEqual(without(sent, params), params);
});
