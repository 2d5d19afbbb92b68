// Runs hooks with the executor that Cursor ships in its SDK: node cursor.cjs SDK < questions.
// Each line of standard input is [event, request]; each line printed is the answer.
//
// The SDK keeps the executor to itself, so two of its files are read with one more name
// exported each. Nothing else of them is changed.
const fs = require("node:fs");
const path = require("node:path");
const Module = require("node:module");

const files = path.join(process.argv[2], "dist", "cjs");
const plain = Module._extensions[".js"];
const once = (text, from, to) => {
  if (text.split(from).length !== 2) throw new Error("this SDK is not the one that is known");
  return text.replace(from, to);
};

Module._extensions[".js"] = (module, file) => {
  if (path.dirname(file) !== files) return plain(module, file);
  let text = fs.readFileSync(file, "utf8");
  if (path.basename(file) === "index.js") {
    const require = [...text.matchAll(/=(\w+)\("zod"\)/g)].at(-1)[1]; // the last is the entry's own
    text = text.replace(/module\.exports=(\w+)\}\)\(\);\s*$/, `module.exports=$1;globalThis.bundled=${require}})();`);
  } else if (text.includes("{createLocalExecutor:")) {
    const runtime = /function (\w+)\(e=\{\}\)\{return\{createHooksRuntime:/.exec(text)[1];
    text = once(text, "{createLocalExecutor:", `{hooks:()=>${runtime},createLocalExecutor:`);
  }
  return module._compile(text, file);
};

async function main() {
  require(path.join(files, "index.js"));
  for (const f of fs.readdirSync(files)) {
    if (/^\d+\.js$/.test(f)) await globalThis.bundled.e(Number.parseInt(f, 10));
  }
  const here = process.cwd();
  const runtime = await globalThis
    .bundled("./src/agent/local-executor.ts")
    .hooks()
    .createHooksRuntime({ workspaceState: { projectRoot: here, workspaceRoots: [here], workingDirectory: here } });
  const executor = runtime.createSessionRuntime().hookExecutor;
  for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    const [event, request] = JSON.parse(line);
    console.log(JSON.stringify((await executor.executeHookForStep(event, request)) ?? null));
  }
}

main().then(
  () => process.exit(0),
  (fault) => {
    console.error(fault);
    process.exit(1);
  },
);
