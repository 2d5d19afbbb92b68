// A real Tidemark server on a folder of its own.
import { spawn } from "node:child_process";
import { createHash, createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const seedPolicy = { preset: "classic" };

/** startServer runs the binary that TIDEMARK names. */
export async function startServer(policy = seedPolicy, { data, listen = "127.0.0.1:0" } = {}) {
  const binary = process.env.TIDEMARK;
  if (!binary) throw new Error("TIDEMARK must name the tidemark binary (test/run.sh builds it)");
  const folder = data ?? mkdtempSync(join(tmpdir(), "tidemark-"));
  const config = join(folder, "policy.json");
  writeFileSync(config, JSON.stringify(policy));
  const child = spawn(binary, ["serve", "--json", "--show-tokens", "--data", folder, "--config", config, "--listen", listen, "--log-level", "error"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const first = await firstAnswer(child);
  const url = first.url;
  // Those of people are shown once; the file has their hashes.
  const tokens = first.tokens ?? shown.get(folder) ?? JSON.parse(readFileSync(join(folder, "tokens.json"), "utf8"));
  shown.set(folder, tokens);
  return {
    url, folder, tokens,
    config: (more = {}) => ({ url, token: tokens.agent, ownerToken: tokens.owner, timeoutMs: 2000, ...more }),
    get: (path) => ask(url + path, tokens.admin),
    post: (path, body) => ask(url + path, tokens.approver, body),
    async stop({ keep = false } = {}) {
      if (child.exitCode === null) {
        child.kill("SIGTERM");
        await once(child, "exit");
      }
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** prove answers for a scripted server as the real one does. */
export function prove(token, req, res) {
  const own = randomBytes(32).toString("hex");
  const at = `http://${req.headers.host}`;
  const key = createHash("sha256").update(token).digest();
  const proof = createHmac("sha256", key).update(`tidemark server proof 1\n${req.headers["x-tidemark-nonce"]}${own}${at}`).digest("hex");
  const body = JSON.stringify({ nonce: own, at, proof });
  res.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  res.end(body);
}

const shown = new Map();

function firstAnswer(child) {
  return new Promise((resolve, reject) => {
    let text = "";
    child.once("exit", (code) => reject(new Error(`tidemark serve ended with ${code}`)));
    child.stdout.on("data", (chunk) => {
      text += chunk;
      try {
        resolve(JSON.parse(text));
      } catch {
        // not all of it is there yet
      }
    });
  });
}

async function ask(url, token, body) {
  const res = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const got = await res.json();
  if (!res.ok) throw new Error(`${url}: ${res.status} ${JSON.stringify(got)}`);
  return got;
}

/** pending waits for a held call of the session and returns it. */
export async function pending(server, session) {
  let seen = "";
  for (;;) {
    const list = await server.get(`/v1/approvals?state=pending&wait=20&seen=${seen}`);
    const found = list.approvals.find((q) => q.session === session);
    if (found) return found;
    seen = list.seen;
  }
}
