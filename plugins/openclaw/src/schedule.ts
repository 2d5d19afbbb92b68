// Who wrote the text of a scheduled run. OpenClaw runs a webhook's text and a job of its
// schedule in the same way, and says the same of both; the schedule knows which it is.

import type { CronJob, CronService } from "./host.js";

/** Author is the operator, or the session in which an agent put the job on the schedule. */
export type Author = { operator: true } | { session: string };

// Schedules by which the job's own text is all there is. Others add what a command prints.
const plain = ["cron", "at", "every"];

export class Schedule {
  private find: (() => CronService | undefined) | undefined;

  /** use takes the schedule that the host hands out when it starts. */
  use(find: unknown): void {
    if (typeof find === "function") this.find = find as () => CronService | undefined;
  }

  /**
   * author is undefined where nobody can tell: then the text is a stranger's. A webhook has a
   * session and a prompt of the same shape, with a job that is not on the schedule; whoever
   * may choose the name of its session could choose one that is, but not what its prompt
   * begins with.
   */
  async author(sessionKey: string | undefined, prompt: string): Promise<Author | undefined> {
    const id = /:cron:([^:]+):run:/.exec(sessionKey ?? "")?.[1];
    if (id === undefined) return undefined;
    try {
      const job = (await this.find?.()?.list({ includeDisabled: true }))?.find((j) => j.id === id);
      return job === undefined || !says(job, prompt) ? undefined : authorOf(job);
    } catch {
      return undefined;
    }
  }
}

/** says reports whether a prompt begins with the job's own text, behind the host's mark. */
function says(job: CronJob, prompt: string): boolean {
  const text = job.payload?.message?.trim();
  const mark = `[cron:${job.id} `;
  if (!text || !prompt.startsWith(mark)) return false;
  return prompt.slice(mark.length).indexOf(`] ${text}`) >= 0;
}

function authorOf(job: CronJob): Author | undefined {
  if (!plain.includes(job.schedule?.kind ?? "") || job.payload?.externalContentSource !== undefined) return undefined;
  const asked = job.toolsAllowProvenance;
  if (asked && (asked.channelRequester || asked.callerOrigin?.kind !== "local")) return undefined;
  const owner = job.owner;
  if (owner === undefined || owner === null) return job.scheduledToolPolicy?.mode === "trusted" ? { operator: true } : undefined;
  return typeof owner.sessionKey === "string" && owner.sessionKey !== "" ? { session: owner.sessionKey } : undefined;
}
