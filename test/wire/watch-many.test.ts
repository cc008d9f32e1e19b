// Watch: many runs over one connection, with a position in each of them.
import { StreamMode } from "@pawl/proto/pawl/v1/event_service_pb";
import { expect, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { DOORS } from "./doors.ts";
import { expectRefusal, failure, invalidField } from "./refusal.ts";
import { useStage } from "./stage.ts";

const WORKFLOW = "many";

const stage = useStage(undefined, async ({ door }) => {
  const say = { type: "text_stream", config: { text: "abcd", chunk_chars: 1, interval_ms: 30 } };
  await door("grpc-js").workflows.createWorkflow({
    workflowId: WORKFLOW,
    definition: { text: JSON.stringify(graph(["start > say > end"], { say })) },
  });
});

const NOBODY = "0198c0de-0000-7000-8000-00000000dead";

const startThree = async (): Promise<string[]> => {
  const { runs } = stage().door("gRPC");
  const started = await Promise.all([1, 2, 3].map(() => runs.startRun({ workflowId: WORKFLOW })));
  return started.map(({ run }) => run?.runId ?? "");
};

type Request = Parameters<ReturnType<ReturnType<typeof stage>["door"]>["events"]["watch"]>[0];

interface Seen {
  readonly ids: Map<string, number[]>;
  readonly done: Map<string, string>;
  readonly cursors: string[];
}

/** Reads a stream to its end, or until it has so many messages. */
async function read(name: string, request: Request, messagesMax = Infinity): Promise<Seen> {
  const seen: Seen = { ids: new Map(), done: new Map(), cursors: [] };
  for await (const message of stage().door(name).events.watch(request)) {
    const { runId, events, items, done, reason, cursor } = message;
    seen.cursors.push(cursor);
    const ids = seen.ids.get(runId) ?? [];
    if (runId !== "") seen.ids.set(runId, ids);
    for (const { eventId } of [...events, ...items]) ids.push(Number(eventId));
    if (done) seen.done.set(runId, reason);
    if (seen.cursors.length >= messagesMax) break;
  }
  return seen;
}

const logOf = async (runId: string): Promise<number[]> => {
  const { events } = await stage().door("gRPC").events.listEvents({ runId, pageSize: 1_000 });
  return events.map(({ eventId }) => Number(eventId));
};

test.each(DOORS)(
  "%s watches many live runs over one connection: every event once and in order",
  async (name) => {
    const runIds = await startThree();
    const { ids, done } = await read(name, { runs: runIds.map((runId) => ({ runId })) });
    for (const runId of runIds) expect(ids.get(runId)).toEqual(await logOf(runId));
    expect([...done.values()]).toEqual(["", "", ""]);
  },
);

test("a stream of many runs resumes with one cursor, and another one takes more runs with what the caller has (S4.40)", async () => {
  const runIds = await startThree();
  const runs = runIds.map((runId) => ({ runId }));
  const first = await read("gRPC", { runs }, 4);
  const cursor = first.cursors.at(-1) ?? "";
  const rest = await read("Connect", { runs, cursor });
  for (const runId of runIds) {
    const all = [...(first.ids.get(runId) ?? []), ...(rest.ids.get(runId) ?? [])];
    expect(all).toEqual(await logOf(runId));
  }
  const [more = ""] = await startThree();
  const has = (await logOf(runIds[0] ?? "")).length - 1;
  const wider = await read("gRPC-web", {
    runs: [{ runId: runIds[0] ?? "", afterEventId: BigInt(has) }, { runId: more }],
  });
  expect(wider.ids.get(runIds[0] ?? "")).toEqual([has + 1]);
  expect(wider.ids.get(more)).toEqual(await logOf(more));
});

test("a run that cannot be read is done with a reason, and the others continue", async () => {
  const [runId = ""] = await startThree();
  const { ids, done } = await read("gRPC", { runs: [{ runId: NOBODY }, { runId }] });
  expect(done.get(NOBODY)).toBe("RUN_NOT_FOUND");
  expect(ids.get(runId)).toEqual(await logOf(runId));
});

test("a stream of many runs has modes too (S4.38)", async () => {
  const runIds = await startThree();
  const runs = runIds.map((runId) => ({ runId }));
  const { ids } = await read("gRPC", { runs, modes: [StreamMode.DEBUG] });
  for (const runId of runIds) {
    const log = await logOf(runId);
    // The last event also has the control item.
    expect(ids.get(runId)).toEqual([...log, log.length]);
  }
});

test("no run, a run twice, too many runs and a foreign cursor are refused with their field", async () => {
  const refused = async (request: Request, field: string, rule: string): Promise<void> =>
    expectRefusal(await failure(read("gRPC", request)), invalidField(field, rule));
  await refused({ runs: [] }, "runs", "OUT_OF_RANGE");
  await refused({ runs: [{ runId: NOBODY }, { runId: NOBODY }] }, "runs", "REPEATED");
  const many = Array.from({ length: 101 }, () => ({ runId: NOBODY }));
  await refused({ runs: many }, "runs", "OUT_OF_RANGE");
  await refused({ runs: [{ runId: NOBODY }], cursor: "1.2" }, "cursor", "BAD_CURSOR");
  await refused({ runs: [{ runId: NOBODY }], cursor: "x" }, "cursor", "BAD_CURSOR");
});
