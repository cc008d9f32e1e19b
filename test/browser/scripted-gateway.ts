// A gateway for tests of the console alone: the real protocol and the real page over a real socket, serving one scripted run. A test feeds
// the log; watchers get the events so far and then the new ones.

import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import type { RunSchema } from "@pawl/proto/pawl/v1/run_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import type { WorkflowSchema } from "@pawl/proto/pawl/v1/workflow_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";

const DIST = fileURLToPath(new URL("../../clients/web/dist/", import.meta.url));
const MIME: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
};

export interface ScriptedRun {
  readonly run: MessageInitShape<typeof RunSchema> & { readonly runId: string };
  readonly workflow: MessageInitShape<typeof WorkflowSchema>;
  readonly definition: unknown;
  /** Older runs, for the list. */
  readonly others?: readonly MessageInitShape<typeof RunSchema>[];
}

/** A fact as the log would hold it, without its place and time there. */
export type ScriptedFact = Pick<RunEvent, "type"> &
  Partial<Pick<RunEvent, "nodeId" | "attempt" | "epoch">> & {
    readonly fact: NonNullable<MessageInitShape<typeof RunEventSchema>["fact"]>;
  };

export class ScriptedGateway implements AsyncDisposable {
  readonly #script: ScriptedRun;
  readonly #server: Server;
  readonly #log: RunEvent[] = [];
  #more = Promise.withResolvers<void>();
  url = "";

  constructor(script: ScriptedRun) {
    this.#script = script;
    const api = connectNodeAdapter({ routes: (router) => this.#route(router) });
    this.#server = createServer((request, response) => {
      if (request.url?.startsWith("/pawl.v1.") === true) api(request, response);
      else serveFile(request, response);
    });
  }

  async start(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    const address = this.#server.address() as AddressInfo; // a listening TCP server has no other kind
    this.url = `http://127.0.0.1:${address.port}`;
  }

  /** Appends a fact at a time given in milliseconds. */
  append(atMs: number, fact: ScriptedFact): void {
    const eventId = BigInt(this.#log.length + 1);
    const time = timestampFromMs(atMs);
    const { runId } = this.#script.run;
    this.#log.push(create(RunEventSchema, { ...fact, eventId, runId, time }));
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #route(router: ConnectRouter): void {
    const { run, workflow, definition, others = [] } = this.#script;
    const definitionJson = new TextEncoder().encode(JSON.stringify(definition));
    router.service(RunService, {
      listRuns: () => ({ runs: [run, ...others] }),
      getRun: (request) => {
        if (request.runId !== run.runId)
          throw notFound("RUN_NOT_FOUND", `No run ${request.runId}.`);
        return { run, definitionJson };
      },
      startRun: () => ({ run }),
      cancelRun: () => ({ run }),
    });
    router.service(ApprovalService, { listApprovals: () => ({ approvals: [] }) });
    router.service(WorkflowService, {
      listWorkflows: () => ({ workflows: [workflow] }),
      getWorkflow: () => ({ workflow: { ...workflow, definitionJson } }),
    });
    router.service(EventService, {
      watchRun: (request, { signal }) => this.#watch(Number(request.afterEventId), signal),
    });
  }

  async *#watch(after: number, signal: AbortSignal): AsyncGenerator<{ events: RunEvent[] }> {
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener("abort", () => resolve()),
    );
    yield { events: [] };
    for (let sent = after; !signal.aborted;) {
      const more = this.#more.promise;
      const events = this.#log.slice(sent);
      sent += events.length;
      if (events.length > 0) yield { events };
      else await Promise.race([more, aborted]);
    }
  }
}

const notFound = (reason: string, message: string): ConnectError =>
  new ConnectError(message, Code.NotFound, undefined, [
    { desc: ErrorInfoSchema, value: { reason, domain: "pawl" } },
  ]);

function serveFile(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  const asked = join(DIST, pathname);
  const file = extname(asked) !== "" && existsSync(asked) ? asked : join(DIST, "index.html");
  response.setHeader("content-type", MIME[extname(file)] ?? "application/octet-stream");
  createReadStream(file).pipe(response);
}
