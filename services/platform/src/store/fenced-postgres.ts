// What executors say about their claims, as statements of one transaction. Every one of them compares epochs and executors with leases
// itself, behind the lock of the run's row, without which another scheduler could give the lease away between the look and the commit.

import type { RunId } from "@pawl/core/name/ids";
import type { Statement } from "../db/sql.ts";
import type * as fenced from "./fenced.ts";
import type { ClaimKey, Extension } from "./leases/leases.ts";
import { appendStreamed } from "./statements/append-streamed.ts";
import { beginEffects } from "./statements/begin-effects.ts";
import { commitEffects } from "./statements/commit-effects.ts";
import { countStreamed } from "./statements/count-streamed.ts";
import { extendLeases } from "./statements/extend-leases.ts";
import { lockRuns } from "./statements/lock-runs.ts";
import { type Column, leaseKeys } from "./tick-batch.ts";

/** The answer to nothing sent. */
const NOTHING = Promise.resolve();
const NONE = Promise.resolve([]);

/** Sends a statement of the transaction. */
type Send = <Row extends object>(
  statement: Statement,
  columns: readonly Column[],
) => Promise<Row[]>;
/** Remembers an answer for the commit. */
type Keep = <T>(answer: Promise<T>) => Promise<T>;

export class PostgresFenced implements fenced.FencedWrites {
  readonly #send: Send;
  readonly #keep: Keep;
  /** Runs whose rows this transaction has locked by name. */
  readonly #locked = new Set<RunId>();

  constructor(send: Send, keep: Keep) {
    this.#send = send;
    this.#keep = keep;
  }

  lock(runIds: readonly RunId[]): Promise<void> {
    const fresh = [...new Set(runIds)].filter((runId) => !this.#locked.has(runId));
    for (const runId of fresh) this.#locked.add(runId);
    return fresh.length === 0
      ? NOTHING
      : this.#keep(this.#send(lockRuns, [fresh.toSorted()]).then(() => undefined));
  }

  stream(sent: readonly fenced.StreamedFact[]): Promise<readonly boolean[]> {
    if (sent.length === 0) return NONE;
    const facts = once(sent);
    const columns = [
      ...this.#claims(facts),
      facts.map((fact) => fact.type),
      facts.map((fact) => fact.ordinal),
    ];
    const counted = this.#send<HeldRow>(countStreamed, columns);
    const payloads = facts.map((fact) => JSON.stringify(fact.payload));
    void this.#send(appendStreamed, [...columns, payloads]);
    return this.#keep(
      counted.then((rows) => {
        const held = new Set(facts.filter((_, at) => rows[at]?.held === true).map(claimKey));
        return sent.map((fact) => held.has(claimKey(fact)));
      }),
    );
  }

  beginEffects(begins: readonly fenced.EffectBegin[]): Promise<readonly fenced.Begun[]> {
    if (begins.length === 0) return NONE;
    const rows = this.#send<BegunRow>(beginEffects, [
      ...this.#claims(begins),
      begins.map((begin) => begin.name),
      begins.map((begin) => begin.class),
    ]);
    return this.#keep(rows.then((found) => found.map(begunOf)));
  }

  commitEffects(commits: readonly fenced.EffectCommit[]): Promise<readonly fenced.Committed[]> {
    if (commits.length === 0) return NONE;
    const rows = this.#send<HeldRow & { readonly is_begun: boolean }>(commitEffects, [
      ...this.#claims(commits),
      commits.map((commit) => commit.name),
      commits.map((commit) => commit.resultJson),
    ]);
    return this.#keep(
      rows.then((found) =>
        found.map(({ held, is_begun: isBegun }) => {
          if (!held) return "stale";
          return isBegun ? "committed" : "not_begun";
        }),
      ),
    );
  }

  extendLeases(extensions: readonly Extension[]): Promise<readonly boolean[]> {
    if (extensions.length === 0) return NONE;
    const rows = this.#send<HeldRow>(extendLeases, [
      ...this.#claims(extensions),
      extensions.map((extension) => extension.extendMs),
    ]);
    return this.#keep(rows.then((found) => found.map(({ held }) => held)));
  }

  /** The columns of claims, with their runs locked: a lease that is compared stays as it is until the commit. */
  #claims(claims: readonly ClaimKey[]): Column[] {
    void this.lock(claims.map((claim) => claim.runId));
    return [
      ...leaseKeys(claims),
      claims.map((claim) => claim.epoch),
      claims.map((claim) => claim.executorId),
    ];
  }
}

interface HeldRow {
  readonly held: boolean;
}

interface BegunRow extends HeldRow {
  readonly is_new: boolean;
  readonly is_committed: boolean;
  readonly result: string | null;
}

function begunOf(row: BegunRow): fenced.Begun {
  if (!row.held) return { state: "stale" };
  if (row.is_committed) return { state: "committed", resultJson: row.result ?? "null" };
  return { state: row.is_new ? "new" : "begun_before" };
}

const claimKey = ({ runId, nodeId, iteration, epoch, executorId }: ClaimKey): string =>
  `${runId}/${nodeId}/${iteration}/${epoch}/${executorId}`;

/** A fact that one executor sent twice in one batch counts once; what is in the log already, the statements find. */
function once(facts: readonly fenced.StreamedFact[]): readonly fenced.StreamedFact[] {
  const seen = new Map<string, fenced.StreamedFact>();
  for (const fact of facts) {
    const key = `${claimKey(fact)} ${fact.type} ${fact.ordinal}`;
    if (!seen.has(key)) seen.set(key, fact);
  }
  return [...seen.values()];
}
