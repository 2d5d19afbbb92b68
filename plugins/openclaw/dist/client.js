// The way to the server. Whatever is not a whole, well-formed answer within the deadline
// is a Failure; nobody downstream has to know how it came about.
import { randomBytes } from "node:crypto";
import { isObject, ownerSecret, readSecret, server } from "./config.js";
import { post } from "./proven.js";
/** Failure says that the server could not be asked, in words for the person. */
export class Failure extends Error {
    status;
    kind;
    constructor(message, status = 0, kind = "") {
        super(message);
        this.status = status;
        this.kind = kind;
    }
}
const maxAnswer = 8 << 20;
const askHeader = "x-tidemark-ask";
const notToThis = "the answer is not one to this question (from a server of an earlier version: start tidemark serve anew)";
// hello says that the gateway's process is who a session is of: its sessions outlive it, so a ticket in its memory would not do.
const hello = { version: 1, agent: "openclaw", process: "self" };
export class Client {
    config;
    constructor(config) {
        this.config = config;
    }
    /** hook reports one event and returns the server's answer to it. */
    async hook(name, event, ctx, more = {}) {
        const got = await this.call(`/v1/hooks/${name}`, {
            method: "POST", body: { event, ctx: { ...ctx, hello } }, extraMs: (ctx.wait ?? 0) * 1000, signal: more.signal,
        });
        if (!isAnswer(got))
            throw new Failure(`the answer to ${name} is malformed`);
        return got;
    }
    async call(path, r = {}) {
        const limit = AbortSignal.timeout(this.config.timeoutMs + (r.extraMs ?? 0));
        const signal = r.signal === undefined ? limit : AbortSignal.any([limit, r.signal]);
        try {
            return await this.send(path, r, signal);
        }
        catch (err) {
            if (err instanceof Failure)
                throw err;
            if (limit.aborted)
                throw new Failure(`no answer within ${this.config.timeoutMs + (r.extraMs ?? 0)} ms`);
            if (signal.aborted)
                throw new Failure("the run was cancelled");
            throw new Failure(reasonOf(err));
        }
    }
    // A server elsewhere is known by its certificate, one on this machine by what it can show.
    async exchange(where, path, m, signal) {
        if (where.url.startsWith("https:")) {
            const res = await fetch(where.url + path, { ...m, signal, redirect: "error" });
            return { status: res.status, ask: res.headers.get(askHeader), text: await readText(res.body ?? none()) };
        }
        try {
            const res = await post(where, readSecret(this.config.token, "agent"), path, m, signal);
            return { status: res.statusCode ?? 0, ask: res.headers[askHeader], text: await readText(res) };
        }
        catch (err) {
            throw isRefused(err) ? new Failure(notRunning) : err;
        }
    }
    async send(path, r, signal) {
        const where = server(this.config);
        if (where === undefined)
            throw new Failure(notRunning);
        const role = r.role ?? "agent";
        const token = readSecret(role === "agent" ? this.config.token : this.config.approver, role);
        const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
        if (r.body !== undefined)
            headers["content-type"] = "application/json";
        const owner = role === "agent" ? ownerSecret(this.config) : undefined;
        if (owner !== undefined)
            headers["x-tidemark-owner"] = owner;
        // A hook's answer bears the name of its question: one of another call's, or of nobody's, is none.
        const ask = path.startsWith("/v1/hooks/") ? randomBytes(32).toString("hex") : undefined;
        if (ask !== undefined)
            headers[askHeader] = ask;
        const message = { method: r.method ?? "GET", headers, ...(r.body === undefined ? {} : { body: JSON.stringify(r.body) }) };
        const { status, text, ask: answers } = await this.exchange(where, path, message, signal);
        const got = parse(text);
        if (status < 200 || status > 299) {
            const detail = typeof got?.detail === "string" ? got.detail : "";
            const kind = typeof got?.type === "string" ? got.type : "";
            throw new Failure(`it answered ${status}: ${detail.slice(0, 300)}`, status, kind);
        }
        if (ask !== undefined && answers !== ask)
            throw new Failure(notToThis);
        if (got === undefined)
            throw new Failure("its answer is not a JSON object");
        return got;
    }
}
/** notRunning is for the person: a guess at an address would only hide it. */
const notRunning = "no server is running; start it: tidemark serve";
async function readText(chunks) {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let text = "";
    let size = 0;
    for await (const chunk of chunks) {
        const bytes = chunk;
        size += bytes.byteLength;
        if (size > maxAnswer)
            throw new Failure("its answer is too large");
        text += decoder.decode(bytes, { stream: true });
    }
    return text + decoder.decode();
}
function parse(text) {
    try {
        const v = JSON.parse(text);
        return isObject(v) ? v : undefined;
    }
    catch {
        return undefined;
    }
}
/** isAnswer checks the types of everything a handler acts on. */
function isAnswer(v) {
    const note = v.tidemark;
    const is = (o, key, type) => o[key] === undefined || typeof o[key] === type;
    return (isObject(note) && typeof note.taint === "string" &&
        ["verdict", "kind", "rule", "notice", "command", "reason"].every((k) => is(note, k, "string")) &&
        (note.hidden === undefined || (Array.isArray(note.hidden) && note.hidden.every((n) => typeof n === "string"))) &&
        (note.approval === undefined || isQuestion(note.approval)) &&
        is(v, "block", "boolean") && is(v, "cancel", "boolean") &&
        ["blockReason", "cancelReason", "content", "decision"].every((k) => is(v, k, "string")) &&
        (v.params === undefined || isObject(v.params)) && (v.confine === undefined || isObject(v.confine)));
}
function isQuestion(v) {
    return (isObject(v) && ["expiresAt", "prompt"].every((k) => typeof v[k] === "string") &&
        ["id", "code", "text"].every((k) => v[k] === undefined || typeof v[k] === "string"));
}
async function* none() { }
/** isRefused reports whether nobody listens at all. */
function isRefused(err) {
    const all = err instanceof AggregateError ? err.errors : [err];
    return all.length > 0 && all.every((e) => isObject(e) && e.code === "ECONNREFUSED");
}
/** reasonOf digs out what fetch hides in its causes. */
function reasonOf(err) {
    const cause = err instanceof Error && err.cause instanceof Error ? err.cause : err;
    if (cause instanceof AggregateError && cause.errors[0] instanceof Error)
        return cause.errors[0].message;
    return cause instanceof Error ? cause.message : String(cause);
}
