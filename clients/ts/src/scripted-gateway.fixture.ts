// A gateway for tests: the real protocol over a real socket, serving logs that a test scripts. Per run it plays connections in
// order, each a list of steps, so that a test can cut, stall, repeat or skip exactly where it wants; the last one repeats.

import { createServer as createHttp1, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import {
  EventService,
  type StreamItemSchema,
  type WatchRunRequest,
  WatchRunResponseSchema,
} from "@pawl/proto/pawl/v1/event_service_pb";
import { NodeTypeService } from "@pawl/proto/pawl/v1/node_type_service_pb";
import { ArchiveService } from "@pawl/proto/pawl/v1/archive_service_pb";
import { BulkService } from "@pawl/proto/pawl/v1/bulk_service_pb";
import { QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import {
  type ExecuteRunRequest,
  ExecuteRunResponseSchema,
  RunService,
  type SubmissionAnswerSchema,
  type SubmitRunsRequest,
  SubmitRunsResponseSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import { WebhookService } from "@pawl/proto/pawl/v1/webhook_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";

type ScriptedEvent = MessageInitShape<typeof RunEventSchema>;
type ScriptedItem = MessageInitShape<typeof StreamItemSchema>;

/** What a connection does next: sends events, waits for the test, fails, is cut, says nothing more, or ends well. */
type Step =
  | { readonly send: readonly ScriptedEvent[]; readonly items?: readonly ScriptedItem[] }
  | { readonly until: Promise<unknown> }
  | { readonly fail: ConnectError }
  | { readonly cut: true }
  | { readonly stall: true };

/** In a call that starts a run, it is also accepted under an id. */
type ExecuteStep = Step | { readonly accept: string };

/** On a stream of SubmitRuns, answers are sent. */
export type SubmitStep =
  | Exclude<Step, { readonly send: unknown }>
  | { readonly answers: readonly MessageInitShape<typeof SubmissionAnswerSchema>[] };

export interface Script {
  /** Steps of the n-th connection to WatchRun, from 0. */
  readonly watch?: (
    request: WatchRunRequest,
    connection: number,
  ) => Iterable<Step> | AsyncIterable<Step>;
  /** Steps of the n-th call of ExecuteRun, from 0. */
  readonly execute?: (
    request: ExecuteRunRequest,
    connection: number,
  ) => Iterable<ExecuteStep> | AsyncIterable<ExecuteStep>;
  /** Steps of the n-th stream of SubmitRuns, from 0; it gets the messages of the client as they come. */
  readonly submit?: (
    messages: AsyncIterable<SubmitRunsRequest>,
    connection: number,
  ) => AsyncIterable<SubmitStep>;
  readonly runs?: Partial<ServiceImpl<typeof RunService>>;
  readonly workflows?: Partial<ServiceImpl<typeof WorkflowService>>;
  readonly approvals?: Partial<ServiceImpl<typeof ApprovalService>>;
  readonly queues?: Partial<ServiceImpl<typeof QueueService>>;
  readonly archive?: Partial<ServiceImpl<typeof ArchiveService>>;
  readonly bulks?: Partial<ServiceImpl<typeof BulkService>>;
  readonly nodeTypes?: Partial<ServiceImpl<typeof NodeTypeService>>;
  readonly schedules?: Partial<ServiceImpl<typeof ScheduleService>>;
  readonly webhooks?: Partial<ServiceImpl<typeof WebhookService>>;
  readonly events?: Partial<ServiceImpl<typeof EventService>>;
}

/** A failure as the gateway words it. */
export const scriptedFailure = (
  code: Code,
  reason: string,
  message: string,
  details: ConstructorParameters<typeof ConnectError>[3] = [],
): ConnectError =>
  new ConnectError(message, code, undefined, [
    { desc: ErrorInfoSchema, value: { reason, domain: "pawl", metadata: {} } },
    ...details,
  ]);

/** A whole log: the events get their ids, run and types in order. */
export const scriptedLog = (
  runId: string,
  events: readonly (ScriptedEvent & { readonly type: string })[],
): ScriptedEvent[] =>
  events.map((event, index) => ({ runId, eventId: BigInt(index + 1), ...event }));

export class ScriptedGateway implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Every WatchRun request, in order. */
  readonly watched: WatchRunRequest[] = [];
  /** Every ExecuteRun request, in order. */
  readonly executed: ExecuteRunRequest[] = [];
  /** The messages of every stream of SubmitRuns, in order. */
  readonly submitted: SubmitRunsRequest[][] = [];

  constructor(script: Script) {
    const handler = connectNodeAdapter({
      routes: (router) => this.#route(router, script),
      acceptCompression: [], // as the gateway does
    });
    const http1 = createHttp1((request: IncomingMessage, response: ServerResponse) =>
      handler(request, response),
    );
    const http2 = createHttp2((request, response) => handler(request, response));
    http2.on("sessionError", () => undefined);
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => undefined);
      // One port for both protocols, as the gateway has it; the first bytes of a loopback connection come whole.
      socket.once("readable", () => {
        const first: Buffer | null = socket.read();
        if (first === null) return;
        socket.unshift(first);
        (first.subarray(0, 3).toString() === "PRI" ? http2 : http1).emit("connection", socket);
      });
    });
  }

  /** Serves on a free port of the loopback; returns the address. */
  async start(port = 0): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    const address = this.#server.address() as AddressInfo; // a listening TCP server has no other kind
    return `http://127.0.0.1:${address.port}`;
  }

  /** Cuts every connection without a word, as a crash does. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.cut();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #route(router: ConnectRouter, script: Script): void {
    const { watched, executed, submitted } = this;
    const cut = () => this.cut();
    router.service(RunService, {
      async *executeRun(request, context) {
        const steps = script.execute?.(request, executed.length) ?? [];
        executed.push(request);
        for await (const said of play(steps, context.signal, cut))
          yield create(ExecuteRunResponseSchema, {
            ...("accept" in said ? { run: { runId: said.accept } } : { events: eventsOf(said) }),
          });
      },
      async *submitRuns(requests, context) {
        const messages: SubmitRunsRequest[] = [];
        submitted.push(messages);
        const steps = script.submit?.(noted(requests, messages), submitted.length - 1);
        yield create(SubmitRunsResponseSchema);
        if (steps === undefined) return;
        for await (const { answers } of play(steps, context.signal, cut))
          yield create(SubmitRunsResponseSchema, { answers: [...answers] });
      },
      ...script.runs,
    });
    router.service(WorkflowService, { ...script.workflows });
    router.service(ApprovalService, { ...script.approvals });
    router.service(QueueService, { ...script.queues });
    router.service(ArchiveService, { ...script.archive });
    router.service(BulkService, { ...script.bulks });
    router.service(NodeTypeService, { ...script.nodeTypes });
    router.service(ScheduleService, { ...script.schedules });
    router.service(WebhookService, { ...script.webhooks });
    router.service(EventService, {
      ...script.events,
      async *watchRun(request, context) {
        const steps = script.watch?.(request, watched.length) ?? [];
        watched.push(request);
        for await (const said of play(steps, context.signal, cut))
          yield create(WatchRunResponseSchema, {
            ...{ events: eventsOf(said), items: [...(said.items ?? [])] },
          });
      },
    });
  }
}

/** The same messages, also kept in a list. */
async function* noted<Message>(
  messages: AsyncIterable<Message>,
  list: Message[],
): AsyncGenerator<Message> {
  for await (const message of messages) {
    list.push(message);
    yield message;
  }
}

type Said = Extract<
  ExecuteStep | SubmitStep,
  { readonly send: unknown } | { readonly accept: unknown } | { readonly answers: unknown }
>;
type Send = Extract<Step, { readonly send: unknown }>;

const eventsOf = ({ send }: Send) => send.map((event) => create(RunEventSchema, event));

/** Does what the steps say, up to the next one that is to be sent. */
async function* play<S extends ExecuteStep | SubmitStep>(
  steps: Iterable<S> | AsyncIterable<S>,
  signal: AbortSignal,
  cut: () => void,
): AsyncGenerator<Extract<S, Said>> {
  for await (const step of steps) {
    if ("until" in step) {
      await step.until;
    } else if ("fail" in step) {
      throw step.fail;
    } else if ("cut" in step || "stall" in step) {
      if ("cut" in step) cut();
      await aborted(signal);
    } else {
      yield step as Extract<S, Said>; // all other kinds of steps are done above
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
