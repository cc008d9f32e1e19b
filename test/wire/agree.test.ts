// One log, many ways to read it. Every client that starts a run and watches it, live, from a cursor or after the end, sees the same event
// ids and types as ListEvents and as Postgres (C5).
import { afterAll, expect, test } from "vitest";
import { DOORS } from "./doors.ts";
import { type Reader, readersOf, type Seen } from "./readers.ts";
import { expectRefusal, failure } from "./refusal.ts";
import { useStage } from "./stage.ts";

const WORKFLOW = "story";
const HELD = "story-held";

const stage = useStage(undefined, async ({ door }) => {
  const { workflows } = door("grpc-js");
  const nodes = [
    { id: "start", type: "start" },
    { id: "say", type: "text_stream", config: { text: "abcdef", chunk_chars: 1, interval_ms: 40 } },
    { id: "end", type: "end" },
  ];
  const edges = [
    { source: "start", target: "say" },
    { source: "say", target: "end" },
  ];
  await workflows.createWorkflow({
    workflowId: WORKFLOW,
    definition: { text: JSON.stringify({ nodes, edges }) },
  });
  const pause = { id: "say", type: "delay", config: { delay_ms: 3_600_000 } };
  const held = nodes.map((node) => (node.id === "say" ? pause : node));
  await workflows.createWorkflow({
    workflowId: HELD,
    definition: { text: JSON.stringify({ nodes: held, edges }) },
  });
});

const READERS = [
  ...DOORS,
  "buf curl --protocol grpc",
  "buf curl --protocol grpcweb",
  "buf curl --protocol connect",
  "fetch",
  "SSE with Last-Event-ID",
  "SSE with afterEventId",
] as const;

function reader(name: string): Reader {
  const found = readersOf(stage()).find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no reader ${name}`);
  return found;
}

async function all(seen: AsyncIterable<Seen>): Promise<Seen[]> {
  const list: Seen[] = [];
  for await (const one of seen) if (one.id > 0) list.push(one);
  return list;
}

/** The log as Postgres has it. */
async function stored(runId: string): Promise<Seen[]> {
  const { rows } = await stage().db.query<Seen>(
    "select seq::int as id, type from pawl.run_events where run_id = $1 order by seq",
    [runId],
  );
  return rows;
}

/** The stories each reader made, so that every other reader is held to them as well. */
const told = new Map<string, readonly Seen[]>();

test.each(READERS)(
  "%s starts a run, watches it live, resumes, replays, and agrees with ListEvents and Postgres (S1.48, S1.53, S1.54, C5)",
  async (name) => {
    const { start, watch, list } = reader(name);
    const runId = await start(WORKFLOW);
    const live = await all(watch(runId, 0));
    const log = await stored(runId);
    told.set(runId, log);
    expect(log.at(-1)?.type).toBe("run.completed");
    expect(live).toEqual(log);
    expect(await list(runId)).toEqual(log);
    const middle = Math.floor(log.length / 2);
    expect(await all(watch(runId, middle))).toEqual(log.slice(middle));
    expect(await all(watch(runId, 0))).toEqual(log);
    expect(await all(watch(runId, log.length))).toEqual([]);
    expectRefusal(await failure(all(watch(runId, log.length + 1))), {
      code: "OutOfRange",
      reason: "CURSOR_OUT_OF_RANGE",
    });
  },
);

test("all clients at one live run see the same events, whenever they came (C5, S1.48)", async () => {
  const readers = readersOf(stage());
  const runId = await reader("grpc-js").start(WORKFLOW);
  const seen = await Promise.all(readers.map(({ watch }) => all(watch(runId, 0))));
  const log = await stored(runId);
  expect(Object.fromEntries(readers.map(({ name }, index) => [name, seen[index]]))).toEqual(
    Object.fromEntries(readers.map(({ name }) => [name, log])),
  );
});

test.each(READERS)(
  "%s gets a heartbeat with the event id 0 from a silent run, and it is not in the log (S1.45)",
  async (name) => {
    const { watch, list } = reader(name);
    const runId = await heldRun();
    const log = await list(runId);
    const leave = new AbortController();
    for await (const seen of watch(runId, log.length, leave.signal)) {
      expect(seen).toEqual({ id: 0, type: "heartbeat" });
      break;
    }
    leave.abort();
    expect(await stored(runId)).toEqual(log);
  },
);

let held: Promise<string> | undefined;

/** A run whose delay has begun: no event follows for a long time. */
function heldRun(): Promise<string> {
  const make = async (): Promise<string> => {
    const { start, watch } = reader("grpc-js");
    const runId = await start(HELD);
    // The node behind the delay is queued, and waits for its time.
    for await (const { type } of watch(runId, 0)) if (type === "node.queued") return runId;
    throw new Error("the delay did not hold the run");
  };
  return (held ??= make());
}

afterAll(() => {
  for (const [runId, log] of told)
    expect(
      log.map(({ id }) => id),
      runId,
    ).toEqual(log.map((_, index) => index + 1));
});

test("SSE answers with exactly its headers, and never with Transfer-Encoding (S1.52, S1.55, S1.56)", async () => {
  const runId = await reader("fetch").start(WORKFLOW);
  const response = await fetch(`${stage().url}/execute/workflows/${runId}/events`);
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toEqual({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    connection: "keep-alive",
    "x-accel-buffering": "no",
    date: expect.any(String),
    // Node's own: the body's length is not known.
    "transfer-encoding": "chunked",
  });
  const isSaid = (frame: string): boolean => frame !== "" && !frame.startsWith(":");
  const frames = (await response.text()).split("\n\n").filter(isSaid);
  expect(frames[0]).toMatch(/^retry: \d+$/);
  const log = await stored(runId);
  expect(frames).toHaveLength(log.length + 1);
  frames.slice(1).forEach((frame, index) => {
    const [id, event, data] = frame.split("\n");
    const at = log[index];
    expect([id, event]).toEqual([`id: ${at?.id}`, `event: ${at?.type}`]);
    const envelope: unknown = JSON.parse(String(data).replace(/^data: /, ""));
    expect(envelope).toMatchObject({
      eventId: at?.id,
      sequence: at?.id,
      type: at?.type,
      runId,
      workflowId: WORKFLOW,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      correlation: { phase: "engine" },
      payload: expect.any(Object),
    });
  });
});

test("of two cursors of an SSE client the query wins over the header (S1.53)", async () => {
  const runId = await reader("fetch").start(WORKFLOW);
  await all(reader("fetch").watch(runId, 0));
  const log = await stored(runId);
  const ids = async (query: string, header: string): Promise<number[]> => {
    const response = await fetch(`${stage().url}/execute/workflows/${runId}/events${query}`, {
      headers: { "Last-Event-ID": header },
    });
    return [...(await response.text()).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  };
  const after = (cursor: number): number[] => log.slice(cursor).map(({ id }) => id);
  expect(await ids("?afterEventId=3", "7")).toEqual(after(3));
  expect(await ids("?afterEventId=0", "7")).toEqual(after(0));
  expect(await ids("", "7")).toEqual(after(7));
  // The cursor in the query takes precedence; the gateway does not read the header.
  expect(await ids("?afterEventId=2", "nonsense")).toEqual(after(2));
});

test("a reader that has the whole of a finished run gets 204, and so does not reconnect (S1.54)", async () => {
  const runId = await reader("fetch").start(WORKFLOW);
  const log = await all(reader("fetch").watch(runId, 0));
  const response = await fetch(`${stage().url}/execute/workflows/${runId}/events`, {
    headers: { "Last-Event-ID": String(log.length) },
  });
  expect([response.status, await response.text()]).toEqual([204, ""]);
});
