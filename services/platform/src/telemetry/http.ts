// /metrics, /healthz and /readyz over plain HTTP: a server for the scheduler and the executor, a handler for the gateway.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isInnerHost, namesTwoHosts } from "../config/hosts.ts";

interface ProbeSource {
  /** Every metric in Prometheus' text format. */
  metricsText(): Promise<string>;
  /** Why this process cannot serve now, or undefined if it can. */
  notReady(): Promise<string | undefined> | string | undefined;
  /** Notes for the operator; see lifecycle/ready-notes.ts. */
  readonly notes?: { readonly all: Readonly<Record<string, string>> };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const text = (status: number, body: string): Answer => ({
  status,
  type: "text/plain; charset=utf-8",
  body: `${body}\n`,
});

/** One line of text and a line for each note. JSON if the client accepts it. */
const readiness = (reason: string | undefined, source: ProbeSource, isJson: boolean): Answer => {
  const status = reason === undefined ? 200 : 503;
  const notes = source.notes?.all ?? {};
  if (isJson) {
    const body = { ready: reason === undefined, reason, notes };
    return { status, type: "application/json", body: `${JSON.stringify(body)}\n` };
  }
  const lines = Object.entries(notes).map(([name, note]) => `note ${name}: ${note}`);
  return text(status, [reason ?? "ready", ...lines].join("\n"));
};

type Answering = (source: ProbeSource, request: IncomingMessage) => Promise<Answer>;
const answers: Readonly<Record<string, Answering>> = {
  "/metrics": async (source) => ({
    status: 200,
    type: "text/plain; version=0.0.4; charset=utf-8",
    body: await source.metricsText(),
  }),
  // Every process that answers is alive. A supervisor must not restart a process because its database is down.
  "/healthz": async () => text(200, "ok"),
  "/readyz": async (source, { headers }) => {
    const isJson = headers.accept?.includes("application/json") === true;
    return readiness(await source.notReady(), source, isJson);
  },
};

/** Answers the request if it is for one of the three paths. Otherwise it returns false. */
export const answerProbe = (
  source: ProbeSource,
  request: IncomingMessage,
  response: ServerResponse,
): boolean => {
  const path = (request.url ?? "/").split("?")[0] ?? "/";
  const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
  if (answer === undefined) return false;
  if (request.method !== "GET" && request.method !== "HEAD") {
    send(request, response, text(405, "only GET"));
    return true;
  }
  answer(source, request).then(
    (found) => send(request, response, found),
    () => send(request, response, text(500, "the probe failed")),
  );
  return true;
};

const send = (request: IncomingMessage, response: ServerResponse, answer: Answer): void => {
  response.writeHead(answer.status, {
    "content-type": answer.type,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(request.method === "HEAD" ? undefined : answer.body);
};

interface ProbeServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the three paths and nothing else. */
export const startProbeServer = (
  options: ProbeSource & {
    readonly host: string;
    readonly port: number;
    /** Host names by which clients may call it, besides loopback and IP addresses. None by default. */
    readonly allowedHosts?: readonly string[];
  },
): Promise<ProbeServer> => {
  const allowed = new Set([options.host, ...(options.allowedHosts ?? [])]);
  const server = createServer(
    { requestTimeout: 5_000, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    (request, response) => {
      if (namesTwoHosts(request.rawHeaders))
        send(request, response, text(400, "send one Host header"));
      else if (!isInnerHost(request.headers.host ?? "", allowed))
        send(request, response, text(403, "not called by that host name; see PAWL_ALLOWED_HOSTS"));
      else if (!answerProbe(options, request, response))
        send(request, response, text(404, "not found"));
    },
  );
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      // A server that listens on TCP always has such an address.
      const { port } = server.address() as AddressInfo;
      resolve({
        port,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
      });
    });
  });
};
