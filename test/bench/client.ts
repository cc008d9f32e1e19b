// A lean gRPC caller: starts runs and waits for their terminal event, by one call or by two, as any client would.

import { randomUUID } from "node:crypto";
import {
  credentials,
  makeClientConstructor,
  Metadata,
  status,
  type Client,
  type ClientReadableStream,
  type ServiceError,
} from "@grpc/grpc-js";
import type { DescService } from "@bufbuild/protobuf";
import { isTerminalType } from "@pawl/core/log/event";
import { grpcDefinition } from "@pawl/platform/rpc/grpc-definition";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { EventService, type WatchRunResponse } from "@pawl/proto/pawl/v1/event_service_pb";
import {
  type ExecuteRunRequestSchema,
  type ExecuteRunResponse,
  type ExecuteRunResponseSchema,
  RunService,
  type StartRunResponse,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { LeanCaller } from "./lean-caller.ts";

type Unary = (
  request: object,
  callback: (error: ServiceError | null, response: unknown) => void,
) => void;
type EventStream = ClientReadableStream<WatchRunResponse>;
type Stream = (request: object, metadata: Metadata) => EventStream;

const INPUT = Buffer.from("{}");
/** Only what a caller who waits for the result needs. */
const TERMINAL_ONLY = ["run.completed"];

export class BenchClient {
  readonly #runs: Client;
  readonly #executeRun: LeanCaller<typeof ExecuteRunRequestSchema, typeof ExecuteRunResponseSchema>;
  readonly #events: Client;
  readonly #workflows: Client;

  constructor(address: string) {
    const connect = (service: DescService): Client => {
      const Constructor = makeClientConstructor(grpcDefinition(service), service.typeName);
      return new Constructor(address, credentials.createInsecure());
    };
    this.#runs = connect(RunService);
    this.#executeRun = new LeanCaller(address, RunService.method.executeRun);
    this.#events = connect(EventService);
    this.#workflows = connect(WorkflowService);
  }

  async apply(workflowId: string, definition: object): Promise<void> {
    const text = JSON.stringify({ title: workflowId, ...definition });
    try {
      await unary(this.#workflows, "createWorkflow", { workflowId, definition: { text } });
    } catch (error) {
      // A bench that runs twice in one stack finds its workflow there.
      if ((error as ServiceError).code !== status.ALREADY_EXISTS) throw error;
    }
  }

  async start(workflowId: string, more: { readonly priority?: number } = {}): Promise<string> {
    const request = { workflowId, inputJson: INPUT, requestId: randomUUID(), ...more };
    const response = (await unary(this.#runs, "startRun", request)) as StartRunResponse;
    return response.run?.runId ?? "";
  }

  async cancel(runId: string): Promise<void> {
    try {
      await unary(this.#runs, "cancelRun", { runId, requestId: randomUUID() });
    } catch (error) {
      // It may be over meanwhile.
      if ((error as ServiceError).code !== status.FAILED_PRECONDITION) throw error;
    }
  }

  /** Waits on the run's stream until its terminal event is here. */
  async finish(runId: string): Promise<void> {
    await ended(stream(this.#events, "watchRun", { runId, types: TERMINAL_ONLY }), runId);
  }

  /** Every event of a run to its end; a stream that is cut off goes on after the last event seen. */
  async watch(runId: string, onEvent: (event: RunEvent) => void): Promise<void> {
    let afterEventId = 0n;
    for (;;) {
      let isOver = false;
      const left = Promise.withResolvers<boolean>();
      const watching = stream(this.#events, "watchRun", { runId, afterEventId });
      watching?.on("data", ({ events }: WatchRunResponse) => {
        for (const event of events) {
          if (event.eventId > afterEventId) afterEventId = event.eventId;
          isOver ||= isTerminalType(event.type);
          onEvent(event);
        }
      });
      watching?.on("error", () => left.resolve(isOver));
      watching?.on("end", () => left.resolve(isOver));
      if (await left.promise) return;
    }
  }

  /** Starts a run and waits for its end, by one call. */
  async run(workflowId: string): Promise<void> {
    const start = { workflowId, inputJson: INPUT, requestId: randomUUID() };
    const isOver = ({ events }: ExecuteRunResponse): boolean =>
      events.some(({ type }) => isTerminalType(type));
    const last = await this.#executeRun.call({ start, types: TERMINAL_ONLY }, isOver);
    if (last?.events.at(-1)?.type !== "run.completed")
      throw new Error(`a run of ${workflowId} ended otherwise`);
  }

  close(): void {
    this.#executeRun.close();
    for (const client of [this.#runs, this.#events, this.#workflows]) client.close();
  }
}

/** As our own clients ask. */
const EXACT_JSON = Metadata.fromHttp2Headers({ "pawl-json": "bytes" });

const stream = (client: Client, method: string, request: object): EventStream | undefined =>
  (client as unknown as Record<string, Stream>)[method]?.call(client, request, EXACT_JSON);

/** Settles when the terminal event is here. */
async function ended(events: EventStream | undefined, what: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  events?.on("data", (message: WatchRunResponse) => {
    const last = message.events.find((event) => isTerminalType(event.type));
    if (last === undefined) return;
    if (last.type === "run.completed") resolve();
    else reject(new Error(`${what} ended with ${last.type}`));
  });
  events?.on("error", reject);
  events?.on("end", () => reject(new Error(`the stream of ${what} ended early`)));
  await promise;
}

function unary(client: Client, method: string, request: object): Promise<unknown> {
  const call = (client as unknown as Record<string, Unary>)[method]?.bind(client);
  return new Promise((resolve, reject) =>
    call?.(request, (error, response) => (error === null ? resolve(response) : reject(error))),
  );
}
