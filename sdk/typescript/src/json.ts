// Arguments and results as they are sent. An approval is for the bytes of a call's arguments, so there is one spelling of every
// value: RFC 8785 (sorted keys, no blanks). What cannot be spelled is refused as an argument, and becomes text as a result.

export const maxDepth = 190; // the server takes 200, of which the envelope needs some
export const maxBody = 7_500_000; // the server takes 8 MiB
const maxText = 1_000_000; // of a result that is too long; six bytes each at the worst

/** Unsendable is a value that JSON has no spelling for. */
export class Unsendable extends Error {}

/** canonical is the one spelling of a value. */
export function canonical(value: unknown): string {
  return write(value, "", 0);
}

function write(value: unknown, at: string, depth: number): string {
  if (depth > maxDepth) throw new Unsendable(`${at.slice(0, 60)}…: nested deeper than ${maxDepth} levels, or inside itself`);
  switch (typeof value) {
    case "boolean":
      return String(value);
    case "bigint":
      return String(value);
    case "number":
      if (!Number.isFinite(value)) throw new Unsendable(`${at || "the value"}: ${value} is no JSON`);
      return JSON.stringify(value === 0 ? 0 : value);
    case "string":
      return text(value);
    case "object":
      if (value === null) return "null";
      if (Array.isArray(value)) return `[${value.map((v, i) => write(v, `${at}[${i}]`, depth + 1)).join(",")}]`;
      return object(value, at, depth);
    default:
      throw new Unsendable(`${at || "the value"}: ${typeof value} is no JSON`);
  }
}

function text(s: string): string {
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(s)) {
    throw new Unsendable("a text holds half a character (a lone surrogate)");
  }
  return JSON.stringify(s);
}

function object(value: object, at: string, depth: number): string {
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto !== null && Object.getPrototypeOf(proto) !== null) throw new Unsendable(`${at || "the value"}: ${value.constructor.name} is no JSON`);
  const fields = Object.entries(value).filter(([, v]) => v !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${fields.map(([k, v]) => `${text(k)}:${write(v, at === "" ? k : `${at}.${k}`, depth + 1)}`).join(",")}}`;
}

/** sendable is a result as it is reported: itself, or its text. Nothing is ever left out because of its form. */
export function sendable(result: unknown): unknown {
  if (typeof result === "string") return whole(result);
  try {
    canonical(result);
    return result;
  } catch {
    return whole(textOf(result));
  }
}

/** textOf is the text of anything, also of what cannot say what it is. */
export function textOf(value: unknown): string {
  try {
    if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
    if (value instanceof Error) return value.message;
    return (typeof value === "object" ? JSON.stringify(value) : undefined) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** whole is a text without half characters. */
export function whole(s: string): string {
  return Buffer.from(s, "utf8").toString("utf8");
}

/** cut is the beginning of a result that is too long to send. */
export function cut(result: unknown): string {
  const s = typeof result === "string" ? result : canonical(result);
  return `${whole(s.slice(0, maxText))}\n[cut: the result has ${s.length} characters]`;
}
