// Commands as jobs of pg-boss: the half of the workflow queue that waits. Delivery, order and delay are pg-boss's business.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { JobWithMetadata, PgBoss } from "pg-boss";
import { run } from "../db/query.ts";
import type { Queryable } from "../db/sql.ts";
import { AT_ONCE } from "./at-once.ts";
import { anyReadyCommand, countWaitingCommands } from "./command-rows.ts";
import { COMMAND_QUEUE } from "./queue-name.ts";
import { type CommandData, type ParsedCommand, parseData } from "./workflow-command.ts";

const YEAR_SECONDS = 366 * 24 * 3_600;

/** A job to wait: our priorities are sooner for lower numbers, pg-boss's for higher ones (X16). */
export interface NewCommandJob {
  readonly id?: string;
  readonly data: CommandData;
  readonly priority: number;
  readonly afterMs?: number;
}

/** A job that was waiting; `command` is an error where its data is none. */
export interface CommandJob {
  readonly id: string;
  readonly data: unknown;
  readonly priority: number;
  readonly createdOn: Date;
  readonly parsed: ParsedCommand | EngineError;
}

export class BossCommands {
  readonly #boss: PgBoss;

  constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  /** Makes the queue; as often as one likes. */
  async ensure(): Promise<void> {
    // A command waits until somebody takes it; pg-boss must neither delete it nor try it again on its own.
    const options = { retentionSeconds: 10 * YEAR_SECONDS, retryLimit: 0, notify: true };
    await this.#boss.createQueue(COMMAND_QUEUE, options);
  }

  async send(db: Queryable, { id, data, priority, afterMs = 0 }: NewCommandJob): Promise<void> {
    const job = {
      ...(id === undefined ? {} : { id }),
      data,
      priority: 0 - priority,
      startAfter: afterMs > 0 ? `${afterMs} milliseconds` : AT_ONCE,
    };
    await this.#boss.insert(COMMAND_QUEUE, [job], { db: onQueryable(db), returnId: false });
  }

  /** Takes the next job out: a rollback of the transaction puts it back. */
  async take(db: Queryable): Promise<CommandJob | undefined> {
    const tx = { db: onQueryable(db) };
    const options = { includeMetadata: true, ...tx } as const;
    const [job] = await this.#boss.fetch<unknown>(COMMAND_QUEUE, options);
    if (job === undefined) return undefined;
    // Handed over as fetched, never as a plain id: pg-boss then fences the call to this attempt. Completed and not deleted, so
    // that whatever makes pg-boss send a job once (a singleton key, a throttle) goes on seeing it.
    await this.#boss.complete(COMMAND_QUEUE, job, null, tx);
    return fromBossJob(job);
  }

  /** A job that waits and was never taken. */
  async find(id: string): Promise<CommandJob | undefined> {
    const [job] = await this.#boss.findJobs<unknown>(COMMAND_QUEUE, { id, queued: true });
    return job && fromBossJob(job);
  }

  async isAnyReady(db: Queryable): Promise<boolean> {
    return (await run(db, anyReadyCommand, { queue: COMMAND_QUEUE })).length > 0;
  }

  async countWaiting(db: Queryable): Promise<number> {
    const [row] = await run(db, countWaitingCommands, { queue: COMMAND_QUEUE });
    return row?.count ?? 0;
  }
}

/** A connection of ours as pg-boss wants it: what it sends joins the connection's transaction. */
const onQueryable = (db: Queryable) => ({
  executeSql: async (text: string, values?: unknown[]) =>
    await db.query<object>({ text, ...(values === undefined ? {} : { values }) }),
});

function fromBossJob(job: JobWithMetadata<unknown>): CommandJob {
  const { id, data, createdOn } = job;
  const priority = 0 - job.priority;
  return { id, data, priority, createdOn, parsed: parsedOrFault(data, { id, priority }) };
}

/** What the data says, or why it is no command. */
export function parsedOrFault(
  data: unknown,
  job: { readonly id: string; readonly priority: number },
): ParsedCommand | EngineError {
  try {
    return parseData(data, job);
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
}
