// Tickets of sessions, made of a secret of the application's. A ticket that the server draws is in the memory of one process. One that is
// made of the session's name and a secret can be made again: after a restart, and by every process of the same application. Nothing is
// stored, so there is nothing to read but the secret itself.

import { createHmac } from "node:crypto";
import { TidemarkError } from "./errors.js";

const shortest = 32; // characters: with 16 signs 128 bits
const make = `node -p 'require("crypto").randomBytes(32).toString("hex")'`;

/** checked is the secret as it is used; undefined without one. */
export function checked(secret: string | Uint8Array | undefined): Buffer | undefined {
  if (secret === undefined) return undefined;
  if (typeof secret !== "string" && !(secret instanceof Uint8Array)) throw new TypeError("secret is neither a string nor bytes");
  const raw = Buffer.from(secret);
  if (raw.length < shortest) {
    throw new RangeError(`secret has ${raw.length} characters, and whoever guesses it speaks for the user: give ${shortest} or more by chance (${make})`);
  }
  return raw;
}

/** ticket of the session of this name: whoever has it, and not the secret, has that of no other. */
export function ticket(secret: Buffer, session: string): string {
  return "tms-" + createHmac("sha256", secret).update("tidemark sdk session ticket 1\n" + session).digest("hex").slice(0, 48);
}

/** differs refuses the agents' token as a secret: it lies where programs that agents start can read it. */
export function differs(secret: Buffer | undefined, token: string): void {
  if (secret?.equals(Buffer.from(token)) === true) throw new TidemarkError(`secret is the agents' token, which others can read: give one of its own (${make})`);
}
