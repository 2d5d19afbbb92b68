// A link that lies in a repository makes one file of another: what is written to docs/keys.md may land in ~/.ssh. The server
// sees names only, so links are followed here, where they lie, and both are sent: what was written, and what it is.

import { lstatSync, readlinkSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, normalize, relative, resolve as whole, sep } from "node:path";
import type { Json } from "./host.js";

const maxPath = 4096;
const maxWords = 512; // of a command or a patch
const maxLinks = 40; // one after the other, as the kernel has it
const maxReal = 64; // that are sent

/** member is the parameter in which what links lead to is sent. One that the model filled in itself says nothing about links. */
function member(given: Json): string {
  let name = "realPaths";
  while (given[name] !== undefined) name += "_";
  return name;
}

/** follow adds what the paths of a call of the gateway's own tools lead to, where that is another file. */
export function follow(tool: string, params: Json, folder: string | undefined, own: readonly string[]): Json {
  if (!own.includes(tool)) return params;
  const home = homedir();
  // A command may be given a folder of its own; what it names then lies there, or where the run works.
  const workdir = typeof params.workdir === "string" && params.workdir !== "" ? from(folder, home, params.workdir) : undefined;
  const found = new Set<string>();
  for (const cwd of new Set([folder, workdir])) {
    for (const value of Object.values(params)) {
      for (const text of texts(value)) {
        const names = words(text).map((w) => realOf(cwd, home, w, true));
        if (tool !== "exec" && text.length <= maxPath && !/[\n\0]/.test(text)) names.push(realOf(cwd, home, text, false));
        for (const real of names) if (real !== undefined && found.size < maxReal) found.add(real);
      }
    }
  }
  return found.size === 0 ? params : { ...params, [member(params)]: [...found].sort() };
}

/** without is what a server gives back of such parameters, as the tool takes them. */
export function without(params: Json, given: Json): Json {
  const { [member(given)]: _, ...rest } = params;
  return rest;
}

// The strings of a value: one, or those of a list.
function texts(v: unknown): string[] {
  if (typeof v === "string") return [v];
  return Array.isArray(v) ? v.filter((t) => typeof t === "string") : [];
}

// What may be names of files in a command or a patch: quotes, assignments and redirections end one.
function words(text: string): string[] {
  return text.split(/[\s"'`=;|&<>(){}[\],:]+/).filter((w) => w !== "").slice(0, maxWords).filter((w) => w.length <= maxPath && !w.startsWith("-"));
}

function from(cwd: string | undefined, home: string, name: string): string | undefined {
  if (name.startsWith("~/")) return join(home, name.slice(2));
  if (isAbsolute(name)) return normalize(name);
  return name === "" || cwd === undefined ? undefined : join(cwd, name);
}

/**
 * realOf is the file that a name leads to, if that is another one. A word of a command or a patch counts only if the link is in the
 * working folder or the home, since those of the system are what they are, and leads out of the folder below it that it lies in:
 * installed programs are links there to what lies beside them.
 */
function realOf(cwd: string | undefined, home: string, name: string, word: boolean): string | undefined {
  const path = from(cwd, home, name);
  if (path === undefined) return undefined;
  const { real, link } = resolve(path);
  if (real === undefined || link === undefined) return undefined;
  const base = cwd === undefined ? undefined : resolve(cwd).real;
  const given = below(cwd, path);
  if (given !== undefined && base !== undefined && real === join(base, given)) return undefined; // the folder itself was reached by a link
  const at = below(cwd, link);
  if (word && at === undefined && below(home, link) === undefined) return undefined;
  const rel = below(base, real);
  if (word && at !== undefined && rel !== undefined && top(rel) !== "" && top(at) === top(rel)) return undefined;
  return rel ?? real;
}

// The folder that a path begins with; "" for a name alone.
function top(path: string): string {
  const cut = path.indexOf(sep);
  return cut < 0 ? "" : path.slice(0, cut);
}

function below(folder: string | undefined, path: string): string | undefined {
  if (folder === undefined || folder === "") return undefined;
  const rel = relative(folder, path) || ".";
  return rel === ".." || rel.startsWith(".." + sep) || isAbsolute(rel) ? undefined : rel;
}

// resolve follows every link on the way to a file, which need not be there: what it would be made as. link is the last link that was
// followed. A path that goes in circles leads nowhere.
function resolve(path: string): { real?: string; link?: string } {
  const start = whole(path);
  const root = start.slice(0, start.indexOf(sep) + 1);
  let rest = start.slice(root.length).split(sep);
  let real = root;
  let link: string | undefined;
  for (let seen = 0; rest.length > 0; ) {
    const next = join(real, rest[0] ?? "");
    rest = rest.slice(1);
    let to: string;
    try {
      if (!lstatSync(next).isSymbolicLink()) throw new Error("no link");
      to = readlinkSync(next);
    } catch {
      real = next;
      continue;
    }
    link = next;
    if (++seen > maxLinks) return { link };
    if (isAbsolute(to)) {
      real = root;
      to = to.slice(root.length);
    }
    rest = [...to.split(sep), ...rest];
  }
  return { real: normalize(real), ...(link === undefined ? {} : { link }) };
}
