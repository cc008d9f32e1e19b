// One WatchRun call as the gateway sees it, and the place for a mutant to make the client break a behaviour.

import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyPack, durationFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorInfoSchema, RetryInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { StatusSchema } from "@pawl/proto/google/rpc/status_pb";
import { type RunEvent, RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import { type WatchRunRequest, WatchRunResponseSchema } from "@pawl/proto/pawl/v1/event_service_pb";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import { Mailbox } from "../mailbox.ts";
import type { WireCall } from "../wire.ts";

export type EventInit = MessageInitShape<typeof RunEventSchema>;

/** A line that the program prints: an event, the end or an error. */
export type Printed = Readonly<Record<string, unknown>>;

/** What the program is to watch; PROGRAM.md has the fields. */
export interface Command {
  readonly watch: string;
  readonly after: number;
  readonly silence_ms: number;
  readonly give_up_ms: number;
  readonly leave_after: number;
}

/** A failure as a gateway words it. */
export interface Refusal {
  readonly code: number;
  readonly reason: string;
  /** How long the client is to wait; without it another try cannot help. */
  readonly retryMs?: number;
}

/** Stands between the program and the kit, and makes the client break a behaviour. One object serves all streams of a case. */
export interface WatchMutant {
  /** What the program sees of a command. */
  command?(command: Command): Command;
  /** What the kit sees of a request. */
  request?(request: WatchRunRequest): WatchRunRequest;
  /** What the client sees of a message. */
  events?(events: RunEvent[]): RunEvent[];
  /** What the client sees of a failure. */
  refusal?(refusal: Refusal): Refusal;
  /** What the client sees of its run. */
  run?(run: Run): Run;
  /** What the kit sees of a line. */
  printed?(line: Printed): readonly Printed[];
}

export class WatchStream {
  readonly request: WatchRunRequest;
  readonly openedAtMs = performance.now();
  readonly #call: WireCall;
  readonly #mutant: WatchMutant;
  /** When the stream was over on both sides. */
  readonly closedAtMs = new Mailbox<number>();

  constructor(call: WireCall, request: WatchRunRequest, mutant: WatchMutant) {
    this.#call = call;
    this.#mutant = mutant;
    this.request = mutant.request?.(request) ?? request;
    call.onClose(() => this.closedAtMs.add(performance.now()));
  }

  /** Sends events in one message. */
  send(...events: readonly EventInit[]): void {
    const { runId } = this.request;
    const whole = events.map((event) => create(RunEventSchema, { ...event, runId }));
    const seen = this.#mutant.events?.(whole) ?? whole;
    if (seen.length === 0) return;
    this.#call.write(
      toBinary(WatchRunResponseSchema, create(WatchRunResponseSchema, { events: seen })),
    );
  }

  heartbeat(): void {
    this.send({ type: "heartbeat", fact: { case: "heartbeat", value: {} } });
  }

  /** Ends the stream well, as after the terminal event. */
  end(): void {
    this.#call.end();
  }

  /** Ends the stream with an error, and gives the time of it. */
  refuse(refusal: Refusal): number {
    const { code, reason, retryMs } = this.#mutant.refusal?.(refusal) ?? refusal;
    const message = `the kit refuses with ${reason}`;
    const details = [anyPack(ErrorInfoSchema, create(ErrorInfoSchema, { reason, domain: "pawl" }))];
    if (retryMs !== undefined)
      details.push(
        anyPack(RetryInfoSchema, create(RetryInfoSchema, { retryDelay: durationFromMs(retryMs) })),
      );
    const status = create(StatusSchema, { code, message, details });
    const atMs = performance.now();
    this.#call.end(code, message, toBinary(StatusSchema, status));
    return atMs;
  }

  /** Breaks the connection. */
  cut(): void {
    this.#call.cut();
  }

  /** Settles when the client has left the stream. */
  async left(expected: string): Promise<void> {
    await this.closedAtMs.find((atMs) => atMs, expected);
  }
}
