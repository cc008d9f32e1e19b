// Sends unary calls as commands over a few long-lived streams. The channel's round robin spreads the streams over the schedulers, and the
// calls take the lanes in turn. So several schedulers share the load of one gateway.
//
// Races. A stream breaks with calls under way, or its scheduler drains: the outcome is unknown, so the client sends the calls again on
// another stream. That is harmless because every command carries a request id. A late answer is dropped. A scheduler freezes, or its link
// goes silent: its connection does not answer pings, and the client breaks it with all its streams.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMethod, DescService, Message, MessageInitShape } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { CommandService } from "@pawl/proto/pawl/command/v1/command_service_pb";
import { createBackoff, pause } from "../lifecycle/backoff.ts";
import { currentTraceparent } from "../telemetry/trace.ts";
import { clientSpan } from "../rpc/call-span.ts";
import { CommandLane, tooLarge } from "./command-lane.ts";
import { CALL_TIMEOUT_MS, COMMAND_KEEPALIVE, createGrpcClient } from "../rpc/grpc-client.ts";
import type { GrpcClient, Keepalive, UnaryOptions } from "../rpc/grpc-client.ts";
import { codeOf } from "../rpc/status.ts";

const LANES = 4;
/** The same number as in a gRPC retry policy. */
const TRIES_MAX = 5;
const RETRY_MS = { initialMs: 100, maxMs: 1_000 } as const;

interface CommandClient {
  /** The unary methods of a service, without metadata. They reject only with EngineError. */
  callsOf<Service extends DescService>(service: Service): GrpcClient<Service>["call"];
  /** Settles when a connection is open. @throws SCHEDULER_UNAVAILABLE after `timeoutMs` */
  waitForReady(timeoutMs: number): Promise<void>;
  /** Its streams: how many there may be, how many carry a call, and how many are open without one. */
  usage(): { readonly size: number; readonly inUse: number; readonly idle: number };
  close(): void;
}

export interface CommandClientOptions {
  /** Default COMMAND_KEEPALIVE. */
  readonly keepalive?: Keepalive;
  /** How long a lane stays with one scheduler. CommandLane explains it. */
  readonly streamMs?: number;
}

/** Connects at the first call. `address` is host:port, several with commas, or a gRPC target. */
export function createCommandClient(
  address: string,
  { keepalive = COMMAND_KEEPALIVE, streamMs }: CommandClientOptions = {},
): CommandClient {
  const client = createGrpcClient(CommandService, address, { keepalive });
  const open = () => client.open.carry();
  const lanes = Array.from({ length: LANES }, () => new CommandLane(open, streamMs));
  let turn = 0;
  const nextLane = (): CommandLane => {
    // Calls of one turn of the event loop share a message.
    if (lanes[turn]?.isGathering !== true) turn = (turn + 1) % LANES;
    const lane = lanes[turn];
    if (lane === undefined) throw new RangeError("no lane");
    return lane;
  };
  const callsOf = <Service extends DescService>(service: Service): GrpcClient<Service>["call"] => {
    const calls: Record<string, unknown> = {};
    for (const method of service.methods)
      if (method.methodKind === "unary") calls[method.localName] = caller(method, nextLane);
    // The calls are built from the descriptor that also gives their types.
    return calls as GrpcClient<Service>["call"];
  };
  return {
    callsOf,
    waitForReady: (timeoutMs) => client.waitForReady(timeoutMs),
    usage: () => ({
      size: LANES,
      inUse: lanes.filter((lane) => lane.isInUse).length,
      idle: lanes.filter((lane) => lane.isOpen && !lane.isInUse).length,
    }),
    close: () => {
      for (const lane of lanes) lane.close();
      client.close();
    },
  };
}

const caller = (method: DescMethod, nextLane: () => CommandLane) => {
  const name = `${method.parent.typeName}/${method.name}`;
  return async (
    request: MessageInitShape<typeof method.input>,
    options: UnaryOptions = {},
  ): Promise<Message> => {
    const bytes = toBinary(method.input, create(method.input, request));
    // A message that is too large would end the stream, with the commands of other callers.
    if (bytes.length > LIMITS.itemBytes)
      throw tooLarge("request", bytes.length, "Send less of it at once.");
    const span = clientSpan(name);
    try {
      const response = await ask(nextLane, options, (timeoutMs) => ({
        method: name,
        request: bytes,
        timeoutMs,
        traceparent: currentTraceparent(span.active),
      }));
      span.end("OK");
      return fromBinary(method.output, response);
    } catch (error) {
      span.end(codeOf(error));
      throw error;
    }
  };
};

type NewCommand = Parameters<CommandLane["send"]>[0];

/** Sends a command until there is an answer or a refusal, or until the time or the tries are used up. */
async function ask(
  nextLane: () => CommandLane,
  options: UnaryOptions,
  commandOf: (timeoutMs: number) => NewCommand,
): Promise<Uint8Array> {
  const { signal = new AbortController().signal } = options;
  const endsAt = performance.now() + (options.timeoutMs ?? CALL_TIMEOUT_MS);
  const backoff = createBackoff(RETRY_MS);
  for (let tries = 1; ; tries += 1) {
    const leftMs = Math.max(1, Math.ceil(endsAt - performance.now()));
    try {
      return await nextLane().send(commandOf(leftMs), signal);
    } catch (error) {
      const waitMs = backoff.nextMs();
      const isLast = tries === TRIES_MAX || performance.now() + waitMs >= endsAt;
      if (isLast || codeOf(error) !== "UNAVAILABLE") throw error;
      await pause(waitMs, signal);
    }
  }
}
