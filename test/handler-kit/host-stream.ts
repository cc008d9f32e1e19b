// One Serve stream as the host sees it: messages both ways, and a place for a mutant to break a rule.

import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type ServeRequest,
  ServeRequestSchema,
  type ServeResponse,
  ServeResponseSchema,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { Mailbox } from "./mailbox.ts";
import type { WireCall } from "./wire.ts";

export type ResponseInit = MessageInitShape<typeof ServeResponseSchema>;

/** Stands between the process and the kit, and makes the process break a rule. One object serves all streams of a case. */
export interface Mutant {
  /** What the kit sees of a message of the process. */
  fromProcess?(message: ServeRequest): ServeRequest | undefined;
  /** What the process sees of a message of the kit. */
  toProcess?(message: ServeResponse): ServeResponse | undefined;
  /** What the process sees of the gRPC status with which the kit ends a stream. */
  statusToProcess?(code: number): number;
}

/** A message of the process and its size on the wire. */
export interface Arrived {
  readonly message: ServeRequest;
  readonly bytes: number;
  readonly atMs: number;
}

export class HostStream {
  readonly call: WireCall;
  readonly arrived = new Mailbox<Arrived>();
  readonly #mutant: Mutant;
  /** Whether the process has ended its side. */
  hasLeft = false;

  constructor(call: WireCall, mutant: Mutant) {
    this.call = call;
    this.#mutant = mutant;
    call.statusOf = (code) => mutant.statusToProcess?.(code) ?? code;
    call.listen(
      (bytes) => {
        const parsed = fromBinary(ServeRequestSchema, bytes);
        const message = mutant.fromProcess ? mutant.fromProcess(parsed) : parsed;
        if (message === undefined) return;
        this.arrived.add({ message, bytes: bytes.length, atMs: performance.now() });
      },
      () => {
        this.hasLeft = true;
        this.arrived.changed();
      },
    );
  }

  /** The first message, which opens the stream. */
  async opening(): Promise<ServeRequest> {
    return await this.arrived.find(
      ({ message }) => message,
      "a first message with hello or resume",
    );
  }

  write(init: ResponseInit): void {
    const whole = create(ServeResponseSchema, init);
    const message = this.#mutant.toProcess ? this.#mutant.toProcess(whole) : whole;
    if (message !== undefined) this.call.write(toBinary(ServeResponseSchema, message));
  }

  /** Settles when the process has ended the stream. */
  async left(expected: string, withinMs?: number): Promise<void> {
    await this.arrived.until(() => (this.hasLeft ? true : undefined), expected, withinMs);
  }
}
