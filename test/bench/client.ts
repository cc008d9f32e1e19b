// The caller of the benches: the published client over gRPC, as a service in Node would use it.

import { Http2SessionManager, createGrpcTransport } from "@connectrpc/connect-node";
import { PawlError, TERMINAL_EVENT_TYPES, createPawlClient, type PawlClient } from "@pawl/client";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";

const COMPLETED = "run.completed";

export class BenchClient {
  readonly #session: Http2SessionManager;
  readonly #client: PawlClient;

  constructor(baseUrl: string) {
    this.#session = new Http2SessionManager(baseUrl);
    const transport = createGrpcTransport({ baseUrl, sessionManager: this.#session });
    this.#client = createPawlClient({ transport });
  }

  async apply(workflowId: string, definition: object): Promise<void> {
    const text = JSON.stringify({ title: workflowId, ...definition });
    await this.#client.workflows.apply(text, { workflowId });
  }

  async start(workflowId: string, more: { readonly priority?: number } = {}): Promise<string> {
    const { run } = await this.#client.runs.start(workflowId, { input: {}, ...more });
    return run.runId;
  }

  async cancel(runId: string): Promise<void> {
    try {
      await this.#client.runs.cancel(runId);
    } catch (error) {
      // The run may have ended meanwhile.
      if (!(error instanceof PawlError && error.reason === "RUN_ALREADY_FINISHED")) throw error;
    }
  }

  /** Waits for the terminal event of a run. */
  async finish(runId: string): Promise<void> {
    await completed(this.#client.watch(runId, { types: TERMINAL_EVENT_TYPES }), runId);
  }

  /** Gives every event of a run, to its end. */
  async watch(runId: string, onEvent: (event: RunEvent) => void): Promise<void> {
    for await (const event of this.#client.watch(runId)) onEvent(event);
  }

  /** Starts a run and waits for its terminal event, by one call. */
  async run(workflowId: string): Promise<void> {
    const options = { input: {}, types: TERMINAL_EVENT_TYPES };
    await completed(this.#client.runs.execute(workflowId, options), `a run of ${workflowId}`);
  }

  close(): void {
    this.#session.abort();
  }
}

async function completed(events: AsyncIterable<RunEvent>, what: string): Promise<void> {
  let last = "nothing";
  for await (const { type } of events) last = type;
  if (last !== COMPLETED) throw new Error(`${what} ended with ${last}`);
}
