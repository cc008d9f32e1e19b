// Serves unary methods to gateways over their command streams. Answers of one turn of the event loop leave together, in messages cut by
// bytes. An answer that fits no message would end the stream for all commands, so it becomes a refusal that names its size.
//
// Races. A stream breaks with commands under way: they finish, their answers are dropped, and the gateway asks again with the same request
// id. A command arrives after the drain began: it is refused with DRAINING, and the gateway sends it to another scheduler.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import { context } from "@opentelemetry/api";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import {
  AnswerSchema,
  CarryResponseSchema,
  CommandService,
  type Answer,
  type CarryRequest,
  type Command,
} from "@pawl/proto/pawl/command/v1/command_service_pb";
import { batches } from "../rpc/batch.ts";
import type { BidiStream } from "../rpc/bidi.ts";
import { contextFrom } from "../telemetry/trace.ts";
import { serverSpan } from "../rpc/call-span.ts";
import { LANE_BYTES, tooLarge } from "./command-lane.ts";
import { serve, type ServedService } from "../rpc/implementation.ts";
import { readOrMalformed } from "../rpc/grpc-definition.ts";
import { codeOf, toStatus, type OnInternal } from "../rpc/status.ts";
import type { UnaryHandler } from "../rpc/unary.ts";
import { wireBytes } from "../rpc/wire-bytes.ts";

type CarryStream = BidiStream<CarryRequest, MessageInitShape<typeof CarryResponseSchema>>;

interface Method {
  readonly desc: DescMethod;
  readonly read: (bytes: Uint8Array) => unknown;
  readonly handler: UnaryHandler<unknown, Record<string, unknown>>;
}

/** The service for a server, and the function that stops it. */
export interface CommandServer {
  readonly service: ServedService;
  /** Refuses new commands and ends each stream after its last answer. */
  drain(): void;
}

/** Serves the unary methods of `services` as commands. */
export function serveCommands(
  services: readonly ServedService[],
  onInternal: OnInternal,
): CommandServer {
  const methods = tableOf(services);
  const carriers = new Set<Carrier>();
  let isDraining = false;
  const carry = async (stream: CarryStream): Promise<void> => {
    const carrier = new Carrier(methods, stream, onInternal);
    carriers.add(carrier);
    if (isDraining) carrier.drain();
    await stream.closed;
    carriers.delete(carrier);
  };
  return {
    service: serve(CommandService, { carry }),
    drain: () => {
      isDraining = true;
      for (const carrier of carriers) carrier.drain();
    },
  };
}

function tableOf(services: readonly ServedService[]): ReadonlyMap<string, Method> {
  const methods = new Map<string, Method>();
  for (const { service, implementation } of services)
    for (const desc of service.methods) {
      const handler = implementation[desc.localName];
      if (desc.methodKind !== "unary" || handler === undefined) continue;
      // `serve` has checked the handler's type against the descriptor. This type knows only its kind.
      methods.set(`${service.typeName}/${desc.name}`, {
        desc,
        read: readOrMalformed((bytes: Uint8Array) => fromBinary(desc.input, bytes)),
        handler: handler as Method["handler"],
      });
    }
  return methods;
}

/** One open stream. */
class Carrier {
  readonly #methods: ReadonlyMap<string, Method>;
  readonly #stream: CarryStream;
  readonly #onInternal: OnInternal;
  #answers: Answer[] = [];
  #pending = 0;
  #isScheduled = false;
  #isDraining = false;

  constructor(methods: ReadonlyMap<string, Method>, stream: CarryStream, onInternal: OnInternal) {
    this.#methods = methods;
    this.#stream = stream;
    this.#onInternal = onInternal;
    stream.listen({
      message: ({ commands }) => {
        for (const command of commands) void this.#answer(command);
      },
      end: () => this.drain(),
    });
  }

  drain(): void {
    this.#isDraining = true;
    this.#schedule();
  }

  async #answer(command: Command): Promise<void> {
    this.#pending += 1;
    const answer = await this.#carryOut(command);
    this.#answers.push(answer);
    this.#pending -= 1;
    this.#schedule();
  }

  /** Never rejects. */
  async #carryOut(command: Command): Promise<Answer> {
    const { commandId } = command;
    const span = serverSpan(command.method, contextFrom(command.traceparent));
    try {
      const value = await context.with(span.active, () => this.#call(command));
      if (value.length > LIMITS.itemBytes) throw answerTooLarge(value.length);
      span.end("OK");
      return create(AnswerSchema, { commandId, result: { case: "response", value } });
    } catch (error) {
      span.end(codeOf(error));
      return this.#refusal(commandId, error);
    }
  }

  #refusal(commandId: number, error: unknown): Answer {
    const value = toStatus(error, this.#onInternal);
    const bytes = wireBytes(value);
    if (bytes > LIMITS.itemBytes) return this.#refusal(commandId, answerTooLarge(bytes));
    return create(AnswerSchema, { commandId, result: { case: "refusal", value } });
  }

  async #call({ method: name, request, timeoutMs }: Command): Promise<Uint8Array> {
    if (this.#isDraining) throw new EngineError("DRAINING", "This scheduler is stopping.");
    const method = this.#methods.get(name);
    if (method === undefined) throw new EngineError("UNKNOWN_METHOD", `${name} is not served here`);
    const { desc, read, handler } = method;
    const message = read(request);
    if (message instanceof EngineError) throw message;
    const response = await handler(message, {
      signal: this.#stream.signal,
      deadlineAt: Date.now() + timeoutMs,
    });
    return toBinary(desc.output, create(desc.output, response));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // A tick sends all of its answers together.
    process.nextTick(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    const answers = this.#answers;
    this.#answers = [];
    for (const some of batches(answers, wireBytes, LANE_BYTES))
      this.#stream.write({ answers: some });
    if (this.#isDraining && this.#pending === 0) this.#stream.end();
  }
}

const answerTooLarge = (bytes: number): EngineError =>
  tooLarge("answer", bytes, "Ask for less at once.");
