// Compares the log of an archived run with its record: the events fold, the run is over, and the record says what the fold says. A restore
// writes only runs that pass, so a run in the database is never a run that no scheduler could have written.

import { EngineError } from "../fault/engine-error.ts";
import type { Graph } from "../definition/graph.ts";
import { timeOf } from "../filter/moment.ts";
import { isFinal, isStreamedType, isTerminalType, type RunEvent } from "../log/event.ts";
import { rowOf } from "../log/event-table.ts";
import { apply, newRunState, runStatus } from "../log/fold.ts";
import { factReferences } from "../log/references.ts";
import type { RunState } from "../log/state.ts";
import { runId as runIdOf } from "../name/ids.ts";
import { archiveInvalid } from "./reader.ts";
import type { RecordOf } from "./record.ts";

export class ArchivedLog {
  readonly #run: RecordOf<"run">;
  readonly #values: ReadonlySet<string>;
  readonly #state: RunState;
  #last = "";

  /** `values` has the digests of the stored values in the file. */
  constructor(run: RecordOf<"run">, graph: Graph, values: ReadonlySet<string>) {
    this.#run = run;
    this.#values = values;
    this.#state = newRunState(runIdOf(run.run_id), graph);
  }

  /** Takes the next event. @throws ARCHIVE_INVALID */
  add(record: RecordOf<"event">, line: number): void {
    const { seq, type } = record;
    const fault = (what: string): EngineError => archiveInvalid(line, what, this.#run.run_id);
    if (rowOf(type) === undefined) throw fault(`event ${seq} has the unknown type ${type}`);
    if ((type === "run.started") !== (seq === 1))
      throw fault(`event ${seq} is ${type}: run.started must be the first event, and only it`);
    if (isTerminalType(this.#last)) throw fault(`event ${seq} lies behind the end of the run`);
    this.#last = type;
    if (isStreamedType(type)) return;
    try {
      const event = eventOf(this.#run, record);
      apply(this.#state, event);
      const missing = factReferences(event).find(({ sha256 }) => !this.#values.has(sha256));
      if (missing !== undefined) throw fault(`names the value ${missing.sha256}, which is missing`);
    } catch (error) {
      if (error instanceof EngineError && error.reason === "ARCHIVE_INVALID") throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw fault(`event ${seq} does not fold: ${why}`);
    }
  }

  /** All events are there. `line` is the line behind them. @throws ARCHIVE_INVALID */
  end(line: number): void {
    const status = runStatus(this.#state);
    const run = this.#run;
    const differs = (what: string): EngineError =>
      archiveInvalid(line, `the log and the record of the run differ: ${what}`, run.run_id);
    if (!isTerminalType(this.#last) || !isFinal(status) || run.ended_at === null)
      throw archiveInvalid(line, "the run has not ended", run.run_id);
    if (status !== run.status) throw differs(`${status} and ${run.status}`);
    if (this.#state.lastSeq !== run.last_seq)
      throw differs(`${this.#state.lastSeq} events and ${run.last_seq}`);
    if (this.#state.hasFailures !== run.has_failures) throw differs("has_failures");
  }
}

/** The event as the folds read it. */
function eventOf(run: RecordOf<"run">, record: RecordOf<"event">): RunEvent {
  const { seq, type, node_id: nodeId, iteration, attempt, epoch, payload, value, at } = record;
  const event = {
    ...{ runId: run.run_id, seq, type, nodeId, iteration, attempt, epoch, at: timeOf(`${at}Z`) },
    payload: JSON.parse(payload) as unknown,
    ...(value === null ? {} : { value }),
  };
  // The table has the type. A payload of another shape fails in the fold, which the caller catches.
  return event as unknown as RunEvent;
}
