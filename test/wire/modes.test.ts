// One log in many forms: every mode over every transport shows the same, from any cursor, and a stream that changes its transport and its
// modes in the middle loses nothing.
import type { StreamMode } from "@pawl/proto/pawl/v1/event_service_pb";
import { StopMode } from "@pawl/proto/pawl/v1/run_pb";
import { MultitaskStrategy } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { graph, script } from "../flow/graph.ts";
import { DOORS } from "./doors.ts";
import {
  modeReaders,
  type ModeName,
  type ModeReader,
  MODES,
  type SeenItem,
} from "./mode-readers.ts";
import { expectRefusal, failure } from "./refusal.ts";
import { useStage } from "./stage.ts";

const WORKFLOW = "modes";
const HELD = "modes-held";

const stage = useStage(undefined, async ({ door }) => {
  const talk = { type: "llm", config: { model: "offline/echo", prompt: "Say hello to Ada" } };
  const own = { type: "text_stream", config: { text: "no model", chunk_chars: 4, interval_ms: 1 } };
  const told = graph(["start > talk > add > end", "start > own > end"], {
    talk,
    own,
    add: script("return { n: 41 + 1 }", { output_variable: "sum" }),
  });
  const held = graph(["start > ask > end"], {
    ask: { type: "approval", config: { message: "Pay?" } },
  });
  for (const [workflowId, definition] of Object.entries({ [WORKFLOW]: told, [HELD]: held }))
    await door("grpc-js").workflows.createWorkflow({
      workflowId,
      definition: { text: JSON.stringify(definition) },
    });
});

const READERS = [
  ...DOORS,
  "buf curl --protocol grpc",
  "buf curl --protocol grpcweb",
  "buf curl --protocol connect",
  "SSE",
] as const;

function reader(name: string): ModeReader {
  const found = modeReaders(stage()).get(name);
  if (found === undefined) throw new Error(`there is no reader ${name}`);
  return found;
}

const start = async (workflowId: string): Promise<string> =>
  (await stage().door("grpc-js").runs.startRun({ workflowId })).run?.runId ?? "";

let finished: Promise<string> | undefined;
/** A run that ended before anything watched it. */
const finishedRun = (): Promise<string> =>
  (finished ??= (async () => {
    const runId = await start(WORKFLOW);
    for await (const _ of stage().door("grpc-js").events.watchRun({ runId }));
    return runId;
  })());

/** What every reader must see: the first reader's items, which the other tests check one by one. */
const everything = async (): Promise<SeenItem[]> =>
  reader("grpc-js")(await finishedRun(), 0, MODES);

const of = (items: readonly SeenItem[], mode: ModeName): SeenItem[] =>
  items.filter((item) => item.mode === mode);

test.each(READERS)(
  "%s sees every mode of a finished run once, alone and in combination, and from any cursor (S4.11, S4.38, S4.40)",
  async (name) => {
    const runId = await finishedRun();
    const all = await everything();
    const read = reader(name);
    expect(await read(runId, 0, MODES)).toEqual(all);
    const middle = all[Math.floor(all.length / 2)]?.id ?? 0;
    expect(await read(runId, middle, MODES)).toEqual(all.filter(({ id }) => id > middle));
    const isDone = ({ data }: SeenItem): boolean => JSON.stringify(data).includes('"done"');
    const pair = await read(runId, 0, ["messages", "updates"]);
    expect(pair).toEqual(
      all.filter((item) => ["messages", "updates"].includes(item.mode) || isDone(item)),
    );
    const last = all.at(-1)?.id ?? 0;
    expect(await read(runId, last, ["values"])).toEqual([]);
    expectRefusal(await failure(read(runId, last + 1, ["values"])), {
      code: "OutOfRange",
      reason: "CURSOR_OUT_OF_RANGE",
    });
  },
);

test("a reader that joins a live run sees the same as one that joins after its end (S4.11, S4.40)", async () => {
  const runId = await start(WORKFLOW);
  const live = await Promise.all(
    ["grpc-js", "Connect JSON", "SSE"].map((name) => reader(name)(runId, 0, MODES)),
  );
  const later = await reader("gRPC-web")(runId, 0, MODES);
  for (const seen of live) expect(seen).toEqual(later);
});

test("a stream that changes its transport and its modes at every event loses and repeats nothing (S4.40)", async () => {
  const runId = await finishedRun();
  const all = await everything();
  const seen: SeenItem[] = [];
  const transports = ["gRPC", "SSE", "Connect", "gRPC-web"];
  for (let at = 0; at < (all.at(-1)?.id ?? 0);) {
    const modes = at % 2 === 0 ? MODES : MODES.toReversed();
    const items = await reader(transports[at % transports.length] ?? "")(runId, at, modes);
    const next = items[0]?.id ?? Number.POSITIVE_INFINITY;
    seen.push(...items.filter(({ id }) => id === next));
    at = next;
  }
  expect(seen).toEqual(all);
});

test("each mode shows its part of the run: values, updates, debug, metadata, control and messages (S4.11, S4.38)", async () => {
  const all = await everything();
  const log = await stage().db.query<{ id: number; type: string }>(
    "select seq::int as id, type from pawl.run_events where run_id = $1 order by seq",
    [await finishedRun()],
  );
  expect(of(all, "debug").map(({ id, data }) => ({ id, type: typeIn(data) }))).toEqual(log.rows);

  const [first] = of(all, "metadata");
  expect(all[0]).toEqual(first);
  expect(first?.data).toMatchObject({ runId: await finishedRun(), attempt: 1, workflowVersion: 1 });

  const messages = of(all, "messages").map(({ data }) => data as { nodeId: string; text: string });
  expect(new Set(messages.map(({ nodeId }) => nodeId))).toEqual(new Set(["talk"]));
  expect(messages.map((_, index) => index)).toEqual(
    messages.map((each) => (each as { index?: number }).index),
  );
  const updates = of(all, "updates").map(({ data }) => data as Record<string, unknown>);
  const outputOfTalk = updates.find(
    ({ nodeId, status }) => nodeId === "talk" && status === "completed",
  )?.["output"];
  expect(outputOfTalk).toMatchObject({ text: messages.map(({ text }) => text).join("") });
  expect(updates.filter(({ nodeId }) => nodeId === "add").map(({ status }) => status)).toEqual([
    "queued",
    "running",
    "completed",
  ]);

  const values = of(all, "values").map(({ data }) => data as Values);
  expect(values[0]?.context).toMatchObject({ nodes: {} });
  expect(values.at(-1)).toMatchObject({
    state: { status: "completed" },
    context: { nodes: { add: { n: 42 } }, vars: { sum: { n: 42 } } },
  });
  const sizes = values.map(({ context }) => Object.keys(context.nodes).length);
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));

  expect(of(all, "control").map(({ data }) => data)).toEqual([
    { signal: "done", status: "completed" },
  ]);
});

interface Values {
  readonly context: { readonly nodes: object };
}
const typeIn = (data: unknown): string => (data as { readonly type: string }).type;

test.each(["gRPC", "SSE"])(
  "%s filters by nodes and by node types, and the end always comes (S4.11)",
  async (name) => {
    const runId = await finishedRun();
    const all = await everything();
    const end = all.at(-1)?.id;
    const isOf =
      (...nodes: string[]) =>
      ({ id, data }: SeenItem) =>
        id === end || nodes.includes((data as { nodeId: string }).nodeId);
    const debug = of(all, "debug");
    const read = (filters: object) => reader(name)(runId, 0, ["debug"], filters);
    const done = all.at(-1);
    expect(await read({ nodeIds: ["add"] })).toEqual([...debug.filter(isOf("add")), done]);
    expect(await read({ nodeTypes: ["llm", "javascript"] })).toEqual([
      ...debug.filter(isOf("talk", "add")),
      done,
    ]);
    expect(await read({ nodeIds: ["add"], nodeTypes: ["llm"] })).toEqual([
      ...debug.filter(isOf()),
      done,
    ]);
    expectRefusal(await failure(read({ nodeIds: ["nope"] })), {
      code: "NotFound",
      reason: "NODE_NOT_FOUND",
    });
  },
);

test("the control stream shows pause, resume, cancel and done, with their authors and reasons (S4.39)", async () => {
  const { runs, events } = stage().door("grpc-js");
  const runId = await start(HELD);
  const blocked = Promise.withResolvers<void>();
  const watching = (async () => {
    for await (const { events: some } of events.watchRun({ runId }))
      if (some.some(({ type }) => type === "node.blocked")) blocked.resolve();
  })();
  await blocked.promise;
  const live = reader("SSE")(runId, 0, ["control"]);
  await runs.pauseRun({ runId, by: "Ada", reason: "lunch" });
  await runs.resumeRun({ runId, by: "Ada", reason: "back" });
  await runs.cancelRun({ runId, reason: "no longer needed" });
  await watching;
  const control = (await live).map(({ data }) => data);
  expect(control).toMatchObject([
    { signal: "pause", by: "Ada", reason: "lunch" },
    { signal: "resume", by: "Ada", reason: "back" },
    { signal: "cancel", reason: "no longer needed" },
    { signal: "done", status: "cancelled" },
  ]);
});

test.each([
  ["a cancel with the reason interrupt", { reason: "interrupt" }, "cancel"],
  ["an interrupt", { mode: StopMode.INTERRUPT, reason: "new facts" }, "interrupt"],
  ["a rollback", { mode: StopMode.ROLLBACK }, "rollback"],
  ["a rollback that undoes", { mode: StopMode.ROLLBACK, compensate: true }, "rollback"],
])(
  "the control stream shows %s by its mode, not by its reason (S4.38, S4.39)",
  async (_, how, signal) => {
    const { runs } = stage().door("grpc-js");
    const runId = await start(HELD);
    await runs.cancelRun({ runId, ...how });
    const control = (await reader("SSE")(runId, 0, ["control"])).map(({ data }) => data);
    expect(control).toEqual([
      { signal, reason: "reason" in how ? how.reason : "" },
      expect.objectContaining({ signal: "done", status: "cancelled" }),
    ]);
  },
);

test.each([
  ["interrupt", MultitaskStrategy.INTERRUPT],
  ["rollback", MultitaskStrategy.ROLLBACK],
])(
  "the control stream shows the %s of a run by the next run of its thread (S4.39)",
  async (multitask, multitaskStrategy) => {
    const { runs } = stage().door("grpc-js");
    const thread = { threadId: `modes-${multitask}`, createThread: true };
    const first = (await runs.startRun({ workflowId: HELD, ...thread })).run?.runId ?? "";
    const next = await runs.startRun({ workflowId: HELD, ...thread, multitaskStrategy });
    const [facts] = await reader("SSE")(first, 0, ["metadata"]);
    expect(facts?.data).toMatchObject({ workflowId: HELD, threadId: thread.threadId });
    const control = (await reader("gRPC")(first, 0, ["control"])).map(({ data }) => data);
    expect(control).toMatchObject([{ signal: multitask }, { signal: "done" }]);
    await runs.cancelRun({ runId: next.run?.runId ?? "" });
  },
);

test("the metadata stream shows the metadata that a user sets (S4.38)", async () => {
  const { runs } = stage().door("grpc-js");
  const runId = await start(HELD);
  await runs.updateRunMetadata({
    runId,
    metadataJson: new TextEncoder().encode('{"team":"blue"}'),
  });
  await runs.cancelRun({ runId });
  const items = of(await reader("SSE")(runId, 0, ["metadata"]), "metadata");
  expect(items.map(({ data }) => data)).toMatchObject([
    { runId, workflowId: HELD },
    { runId, metadata: { team: "blue" } },
  ]);
});

test("an unknown mode is refused with its name (S4.11)", async () => {
  const runId = await finishedRun();
  const refusal = { code: "InvalidArgument", reason: "INPUT_INVALID" } as const;
  const { events } = stage().door("gRPC");
  const drain = async (): Promise<void> => {
    for await (const _ of events.watchRun({ runId, modes: [99 as StreamMode] }));
  };
  expectRefusal(await failure(drain()), refusal);
  const unknown = ["everything"] as unknown as readonly ModeName[];
  expectRefusal(await failure(reader("SSE")(runId, 0, unknown)), refusal);
});
