// Where the server is, and the token of agents.

import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { TidemarkError } from "./errors.js";

export const notRunning = "no Tidemark server is running (start it: tidemark serve)";

/** Place is a server's address. exact: the server itself wrote it down, so it must say the same. */
export interface Place {
  url: string;
  token: string;
  exact: boolean;
  ca?: string; // the one certificate that it is known by
}

/** find is the server: as given, else TIDEMARK_URL, else the one that this machine has joined, else what it left in its data folder. */
export function find(url = process.env["TIDEMARK_URL"], token = process.env["TIDEMARK_TOKEN"]): Place {
  const data = process.env["TIDEMARK_DATA"] ?? join(process.env["XDG_DATA_HOME"] ?? join(homedir(), ".local", "share"), "tidemark");
  if (url === undefined && existsSync(join(data, "elsewhere.json"))) return joined(data, token);
  if (url !== undefined && token === undefined && !existsSync(join(data, "tokens.json"))) {
    throw new TidemarkError(`there is no token for ${url}: set TIDEMARK_TOKEN to what \`tidemark token agent\` prints where the server runs`);
  }
  const place = {
    url: (url ?? word(join(data, "server.json"), "url", 0o022)).replace(/\/+$/, ""),
    token: token ?? word(join(data, "tokens.json"), "agent", 0o077),
    exact: url === undefined,
  };
  check(place.url);
  return place;
}

/** joined is the server elsewhere that this machine has joined (tidemark join), known by the key that joining left here. */
function joined(data: string, token: string | undefined): Place {
  const file = join(data, "elsewhere.json");
  const url = word(file, "url", 0o077).replace(/\/+$/, "");
  if (!url.startsWith("https://")) throw new TidemarkError(`${url} is not https`);
  check(url);
  const place: Place = { url, token: token ?? text(join(data, "machine.token"), 0o077), exact: false };
  if (pinned(file)) place.ca = text(join(data, "server.crt"), 0o022);
  return place;
}

function pinned(file: string): boolean {
  const known = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown> | null;
  return typeof known?.["pin"] === "string" && known["pin"] !== "";
}

function text(file: string, forbidden: number): string {
  try {
    if (process.platform !== "win32" && (statSync(file).mode & forbidden) !== 0) {
      throw new TidemarkError(`${file} is open to others (run: chmod 600 ${file})`);
    }
    return readFileSync(file, "utf8").trim();
  } catch (err) {
    if (err instanceof TidemarkError) throw err;
    throw new TidemarkError(`${file} cannot be read (tidemark leave, then tidemark join)`);
  }
}

function check(raw: string): void {
  const url = URL.canParse(raw) ? new URL(raw) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.username !== "") {
    throw new TidemarkError(`"${raw}" is no address of a server (http://HOST:PORT)`);
  }
  if (url.protocol === "http:" && !/^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(url.hostname)) {
    throw new TidemarkError(`${raw} is not on this machine: use https, or the token and all calls travel for everybody to read`);
  }
}

function word(file: string, key: string, forbidden: number): string {
  let value: unknown;
  try {
    if (process.platform !== "win32" && (statSync(file).mode & forbidden) !== 0) {
      throw new TidemarkError(`${file} is open to others (run: chmod 600 ${file})`);
    }
    value = (JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown> | null)?.[key];
  } catch (err) {
    if (err instanceof TidemarkError) throw err;
    throw new TidemarkError((err as NodeJS.ErrnoException).code === "ENOENT" ? notRunning : `${file} cannot be read: ${String(err)}`);
  }
  if (typeof value !== "string" || value === "") throw new TidemarkError(`${file} has no "${key}"`);
  return value;
}
