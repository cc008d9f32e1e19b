// Every kind of client that starts a run and watches it: with the compiled contract, with the contract by reflection (buf curl), and
// without a contract (fetch: Connect's JSON by hand, Server-Sent Events). All must give the same.
import { type Client, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { endStreamFromJson, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { bufCurl } from "./buf-curl.ts";
import type { Door } from "./doors.ts";
import type { Stage } from "./stage.ts";

/** What a reader saw of an event. A heartbeat has the id 0. */
export type Seen = { readonly id: number; readonly type: string };

/** A client; whatever is refused rejects with a ConnectError. */
export type Reader = {
  readonly name: string;
  readonly start: (workflowId: string) => Promise<string>;
  /** Everything after the cursor, to the end of the run or until `signal`. */
  readonly watch: (runId: string, after: number, signal?: AbortSignal) => AsyncIterable<Seen>;
  readonly list: (runId: string) => Promise<readonly Seen[]>;
};

type JsonEvent = { readonly eventId?: string; readonly type: string };
const seenJson = ({ eventId, type }: JsonEvent): Seen => ({ id: Number(eventId ?? 0), type });

/** All of them, on one stage. */
export const readersOf = (stage: Stage): readonly Reader[] => [
  ...stage.doors.map(compiled),
  ...(["grpc", "grpcweb", "connect"] as const).map((protocol) => reflected(stage.url, protocol)),
  plain(stage.url),
  sse(stage.url, "Last-Event-ID"),
  sse(stage.url, "afterEventId"),
];

const PAGE_SIZE = 1_000;

const compiled = ({ name, runs, events }: Door): Reader => ({
  name,
  start: async (workflowId) => (await runs.startRun({ workflowId })).run?.runId ?? "",
  watch: (runId, after, signal) => watchCompiled(events, runId, after, signal),
  list: async (runId) => {
    const { events: page } = await events.listEvents({ runId, pageSize: PAGE_SIZE });
    return page.map(({ eventId, type }) => ({ id: Number(eventId), type }));
  },
});

async function* watchCompiled(
  client: Client<typeof EventService>,
  runId: string,
  after: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Seen> {
  const request = { runId, afterEventId: BigInt(after) };
  for await (const { events } of client.watchRun(request, signal === undefined ? {} : { signal }))
    for (const { eventId, type } of events) yield { id: Number(eventId), type };
}

type RunAnswer = { readonly run: { readonly runId: string } };
type EventsAnswer = { readonly events?: readonly JsonEvent[] };

function reflected(url: string, protocol: "grpc" | "grpcweb" | "connect"): Reader {
  // The shapes are the contract's own JSON.
  const call = <Answer>(method: string, body: object) =>
    bufCurl(`${url}/${method}`, { protocol, body }) as AsyncIterable<Answer>;
  const one = async <Answer>(method: string, body: object): Promise<Answer> => {
    for await (const answer of call<Answer>(method, body)) return answer;
    throw new Error("buf curl printed nothing");
  };
  return {
    name: `buf curl --protocol ${protocol}`,
    start: async (workflowId) =>
      (await one<RunAnswer>("pawl.v1.RunService/StartRun", { workflowId })).run.runId,
    watch: async function* (runId, afterEventId) {
      const body = { runId, afterEventId };
      const answers = call<EventsAnswer>("pawl.v1.EventService/WatchRun", body);
      for await (const { events = [] } of answers) yield* events.map(seenJson);
    },
    list: async (runId) => {
      const body = { runId, pageSize: PAGE_SIZE };
      const page = await one<EventsAnswer>("pawl.v1.EventService/ListEvents", body);
      return (page.events ?? []).map(seenJson);
    },
  };
}

const plain = (url: string): Reader => ({
  name: "fetch",
  start: (workflowId) => startPlain(url, workflowId),
  list: (runId) => listPlain(url, runId),
  watch: async function* (runId, afterEventId, signal) {
    const message = encodeEnvelope(0, Buffer.from(JSON.stringify({ runId, afterEventId })));
    const response = await fetch(`${url}/pawl.v1.EventService/WatchRun`, {
      method: "POST",
      headers: { "content-type": "application/connect+json" },
      body: message,
      ...(signal === undefined ? {} : { signal }),
    });
    let left: Buffer = Buffer.alloc(0);
    for await (const chunk of response.body ?? []) {
      left = Buffer.concat([left, chunk]);
      while (left.length >= 5 && left.length >= 5 + left.readUInt32BE(1)) {
        const data = left.subarray(5, 5 + left.readUInt32BE(1));
        const isEnd = left[0] === 2;
        left = left.subarray(5 + data.length);
        if (isEnd) throwIfFailed(data);
        else yield* ((JSON.parse(String(data)) as EventsAnswer).events ?? []).map(seenJson);
      }
    }
  },
});

function throwIfFailed(end: Uint8Array): void {
  const { error } = endStreamFromJson(end);
  if (error !== undefined) throw error;
}

/** One unary call as a person with curl makes it. */
async function postJson<Answer>(url: string, body: object): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await throwIfRefused(response);
  return (await response.json()) as Answer;
}

const startPlain = async (url: string, workflowId: string): Promise<string> =>
  (await postJson<RunAnswer>(`${url}/pawl.v1.RunService/StartRun`, { workflowId })).run.runId;

async function listPlain(url: string, runId: string): Promise<Seen[]> {
  const body = { runId, pageSize: PAGE_SIZE };
  const page = await postJson<EventsAnswer>(`${url}/pawl.v1.EventService/ListEvents`, body);
  return (page.events ?? []).map(seenJson);
}

async function throwIfRefused(response: Response): Promise<void> {
  if (response.ok) return;
  const body = new Uint8Array(await response.arrayBuffer());
  throw errorFromJsonBytes(body, undefined, new ConnectError(`not an error: ${String(body)}`));
}

const sse = (url: string, cursor: "Last-Event-ID" | "afterEventId"): Reader => ({
  name: `SSE with ${cursor}`,
  start: (workflowId) => startPlain(url, workflowId),
  list: (runId) => listPlain(url, runId),
  watch: async function* (runId, after, signal) {
    const isHeader = cursor === "Last-Event-ID";
    const query = isHeader ? "" : `?afterEventId=${after}`;
    const response = await fetch(`${url}/execute/workflows/${runId}/events${query}`, {
      headers: isHeader ? { [cursor]: String(after) } : {},
      ...(signal === undefined ? {} : { signal }),
    });
    await throwIfRefused(response);
    let left = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const frames = (left + chunk).split("\n\n");
      left = frames.pop() ?? "";
      for (const frame of frames) yield* seenFrame(frame);
    }
  },
});

/** A frame as an EventSource reads it; a comment is our heartbeat. */
function seenFrame(frame: string): Seen[] {
  if (frame === ": heartbeat") return [{ id: 0, type: "heartbeat" }];
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}: (.*)$`, "m").exec(frame)?.[1];
  const [id, type] = [field("id"), field("event")];
  return id === undefined || type === undefined ? [] : [{ id: Number(id), type }];
}
