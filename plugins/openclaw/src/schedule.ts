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

  /** author is undefined where nobody can tell: then the text is a stranger's. */
  async author(jobId: string | undefined): Promise<Author | undefined> {
    if (!jobId) return undefined;
    try {
      const job = (await this.find?.()?.list({ includeDisabled: true }))?.find((j) => j.id === jobId);
      return job === undefined ? undefined : authorOf(job);
    } catch {
      return undefined;
    }
  }
}

function authorOf(job: CronJob): Author | undefined {
  if (!plain.includes(job.schedule?.kind ?? "")) return undefined;
  const owner = job.owner;
  if (owner === undefined || owner === null) return { operator: true };
  return typeof owner.sessionKey === "string" && owner.sessionKey !== "" ? { session: owner.sessionKey } : undefined;
}
