// SubmitRuns: many starts over one standing stream, and the ends of their runs. The gateway sends every start to the scheduler as StartRun
// does, and takes ends from notifications as ExecuteRun does. Answers of one turn of the event loop leave in one message.
//
// Races. The stream breaks in any phase: starts under way finish, and their answers are dropped. The client sends them again with the same
// request id and gets the same run. A run ends before the scheduler's answer arrives: execute-run.ts explains it. The gateway drains: the
// stream ends with DRAINING, and the client continues on another one.

import type { HandlerContext } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { isFinal, type RunEvent, TERMINAL_TYPES } from "@pawl/core/log/event";
import { type RunId, runId as toRunId } from "@pawl/core/name/ids";
import type { NotificationMark } from "@pawl/platform/ends/endings";
import type { OnInternal } from "@pawl/platform/rpc/status";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { contextFrom, withSpan } from "@pawl/platform/telemetry/trace";
import { toWireEnd } from "@pawl/platform/wire/end";
import { toWireRefusal } from "@pawl/platform/wire/refusal";
import type {
  StartRunResponse,
  Submission,
  SubmitRunsRequest,
  SubmitRunsResponse,
} from "@pawl/proto/pawl/v1/run_service_pb";
import type { RunReader } from "../read/run-reader.ts";
import { abandonKey } from "../request/exchange.ts";
import type { CallLimits } from "../request/forward.ts";
import { awaitEnd } from "../watch/await-end.ts";
import { knownRun } from "../watch/end-only.ts";
import type { Fanout } from "../watch/fanout.ts";
import { AnswerBox } from "./answer-box.ts";
import { type ExecuteRunParts, startRun } from "./execute-run.ts";
import { inField } from "@pawl/platform/wire/in-field";

interface SubmitRunsParts extends Omit<ExecuteRunParts, "fanout"> {
  readonly fanout: Pick<Fanout, "admit" | "attach" | "endSince" | "enlist" | "markNotifications">;
  readonly reader: Pick<RunReader, "findRun">;
  readonly onInternal: OnInternal;
}

const SPAN = "pawl.v1.RunService/SubmitRuns";
const END_ONLY: ReadonlySet<string> = new Set(TERMINAL_TYPES);

/** @throws STREAM_LIMIT if the gateway is full, DRAINING, and the errors of a broken request stream */
export async function* submitRuns(
  parts: SubmitRunsParts,
  requests: AsyncIterable<SubmitRunsRequest>,
  context: Pick<HandlerContext, "signal" | "values">,
): AsyncGenerator<SubmitRunsResponse, void, undefined> {
  const discharge = parts.fanout.admit();
  const box = new AnswerBox(context.values.get(abandonKey));
  const stream = new Submissions(parts, box, context.signal);
  const leave = (): void => box.fail(new EngineError("CALLER_CANCELLED", "the caller left"));
  context.signal.addEventListener("abort", leave, { once: true });
  const delist = parts.fanout.enlist({ finish: (reason) => box.fail(reason) });
  void stream.readAll(requests);
  try {
    yield* box.messages();
  } finally {
    context.signal.removeEventListener("abort", leave);
    delist();
    stream.close();
    discharge();
  }
}

/** A run whose end the client waits for: its place at the tail, and its share of the gateway's streams. */
interface Wait {
  leave: () => void;
  readonly discharge: () => void;
}

/** The submissions of one stream. */
class Submissions {
  readonly #parts: SubmitRunsParts;
  readonly #box: AnswerBox;
  readonly #limits: CallLimits;
  readonly #waits = new Set<Wait>();
  #underWay = 0;
  #isClosed = false;

  constructor(parts: SubmitRunsParts, box: AnswerBox, signal: AbortSignal) {
    this.#parts = parts;
    this.#box = box;
    this.#limits = { signal, timeoutMs: () => undefined };
  }

  /** Takes submissions until the client sends no more, and then lets the stream end after the last answer. Never rejects. */
  async readAll(requests: AsyncIterable<SubmitRunsRequest>): Promise<void> {
    this.#underWay += 1;
    try {
      for await (const { submissions } of requests) {
        if (this.#isClosed) return;
        for (const submission of submissions) void this.#take(submission);
        await this.#box.room();
      }
      this.#done();
    } catch (error) {
      this.#box.fail(error);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const { leave, discharge } of this.#waits) {
      leave();
      discharge();
    }
    this.#waits.clear();
  }

  async #take(submission: Submission): Promise<void> {
    const requestId = submission.start?.requestId ?? "";
    const isOver = this.#underWay > LIMITS.submissions;
    this.#underWay += 1;
    try {
      if (isOver) throw tooMany();
      const settings = { parent: contextFrom(submission.traceparent) };
      await withSpan(SPAN, settings, () => this.#start(submission, requestId));
    } catch (error) {
      this.#box.add({ requestId, refused: toWireRefusal(error, this.#parts.onInternal) });
      this.#done();
    }
  }

  async #start({ start, wait }: Submission, requestId: string): Promise<void> {
    if (start === undefined) throw invalidField("start", "REQUIRED", "is missing");
    if (requestId === "")
      throw invalidField("start.request_id", "REQUIRED", "is missing; answers are named by it");
    const { scheduler, fanout } = this.#parts;
    const since = fanout.markNotifications();
    const started = await inField("start", () => startRun(scheduler, start, this.#limits));
    const { run, duplicate } = started;
    if (run === undefined) throw new EngineError("INTERNAL", "The answer names no run.");
    const accepted = { runId: run.runId, duplicate };
    if (!wait) {
      this.#box.add({ requestId, accepted });
      return this.#done();
    }
    const runId = toRunId(run.runId);
    const end = fanout.endSince(runId, since);
    if (end === undefined) {
      this.#box.add({ requestId, accepted });
      return this.#wait(requestId, runId, started, since);
    }
    this.#box.add({ requestId, accepted, end: toWireEnd(end) });
    this.#done();
  }

  async #wait(
    requestId: string,
    runId: RunId,
    started: StartRunResponse,
    since: NotificationMark,
  ): Promise<void> {
    const { fanout, reader } = this.#parts;
    const known = knownRun(started, END_ONLY, since);
    const run = known ?? (await reader.findRun(runId));
    if (this.#isClosed) return;
    if (isFinal(run.status) && known === undefined) return this.#read(requestId, runId);
    const wait = { leave: (): void => undefined, discharge: fanout.admit() };
    const over = (): void => {
      this.#waits.delete(wait);
      wait.discharge();
    };
    this.#waits.add(wait);
    const place = { runId, scope: run.scope, afterSeq: run.lastSeq, since: known?.since };
    wait.leave = awaitEnd(fanout, place, {
      onEnd: (event) => {
        over();
        this.#ended(requestId, event);
      },
      onLost: (reason) => {
        over();
        this.#box.add({ requestId, refused: toWireRefusal(reason, this.#parts.onInternal) });
        this.#done();
      },
    });
  }

  /** Reads the end of a run that has ended from the log. */
  async #read(requestId: string, runId: RunId): Promise<void> {
    const { signal } = this.#limits;
    const watching = this.#parts.watch({ runId, afterSeq: 0, types: END_ONLY, signal });
    for await (const [last] of watching)
      if (last !== undefined) return this.#ended(requestId, last.event);
  }

  #ended(requestId: string, event: RunEvent): void {
    METRICS.eventsDelivered.add(1, {});
    this.#box.add({ requestId, end: toWireEnd(event) });
    this.#done();
  }

  #done(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#box.finish();
  }
}

const tooMany = (): EngineError =>
  new EngineError(
    "STREAM_LIMIT",
    `The stream has ${LIMITS.submissions} submissions under way; wait for ends, or open another stream.`,
    { metadata: { limit: String(LIMITS.submissions) }, retryAfterMs: 1_000 },
  );
