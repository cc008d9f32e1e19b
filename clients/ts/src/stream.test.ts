import { Code } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { StreamMode as Mode, type StreamItemSchema } from "@pawl/proto/pawl/v1/event_service_pb";
import { expect, test } from "vitest";
import type { Checkpoint, TaskResult } from "./callbacks.ts";
import { createPawlClient } from "./client.ts";
import { type Script, ScriptedGateway, scriptedFailure } from "./scripted-gateway.fixture.ts";

const RUN = "0199-run";
type Item = MessageInitShape<typeof StreamItemSchema>;

const item = (eventId: bigint, mode: Mode, data: object): Item => ({
  ...{ eventId, runId: RUN, mode },
  dataJson: new TextEncoder().encode(JSON.stringify(data)),
});
const debug = (eventId: bigint, type: string): Item => ({
  ...{ eventId, runId: RUN, mode: Mode.DEBUG },
  event: { eventId, runId: RUN, type },
});
const place = { nodeId: "a", iteration: 0, attempt: 1 };

const ITEMS: readonly (readonly Item[])[] = [
  [
    debug(1n, "run.started"),
    item(1n, Mode.UPDATES, { status: "running" }),
    item(1n, Mode.VALUES, { state: {}, context: {} }),
  ],
  [debug(2n, "node.started"), item(2n, Mode.UPDATES, { ...place, status: "running" })],
  [
    debug(3n, "node.completed"),
    item(3n, Mode.UPDATES, { ...place, status: "completed", output: { n: 1 } }),
    item(3n, Mode.VALUES, { state: { status: "running" }, context: { nodes: { a: { n: 1 } } } }),
  ],
  [debug(4n, "run.completed"), item(4n, Mode.CONTROL, { signal: "done", status: "completed" })],
];

const sent = (items: readonly (readonly Item[])[]) =>
  items.map((some) => ({ send: [], items: some }));

/** The first connection is cut after two events; the second one repeats the second event. */
const CUT: Script = {
  watch: (_, connection) =>
    connection === 0
      ? [
          ...sent(ITEMS.slice(0, 2)),
          { fail: scriptedFailure(Code.Unavailable, "DRAINING", "stops") },
        ]
      : sent(ITEMS.slice(1)),
};

async function setup(script: Script) {
  const gateway = new ScriptedGateway(script);
  const transport = createConnectTransport({ baseUrl: await gateway.start(), httpVersion: "1.1" });
  const clock = { now: () => 0, random: () => 0, pause: () => Promise.resolve() };
  return { gateway, client: createPawlClient({ transport, clock }) };
}

test("a stream in modes resumes after the last event when cut, and ends after done (S4.40)", async () => {
  const { gateway, client } = await setup(CUT);
  await using _ = gateway;
  const seen: [bigint, string][] = [];
  const modes = ["debug", "updates", "values"] as const;
  for await (const { eventId, mode } of client.stream(RUN, { modes, nodeIds: ["a"] }))
    seen.push([eventId, mode]);
  expect(seen).toEqual([
    ...[
      [1n, "debug"],
      [1n, "updates"],
      [1n, "values"],
      [2n, "debug"],
      [2n, "updates"],
    ],
    ...[
      [3n, "debug"],
      [3n, "updates"],
      [3n, "values"],
      [4n, "debug"],
      [4n, "control"],
    ],
  ]);
  expect(gateway.watched.map(({ afterEventId, nodeIds }) => [afterEventId, nodeIds])).toEqual([
    [0n, ["a"]],
    [2n, ["a"]],
  ]);
});

test("callbacks get each step and each result once, across a cut (S4.12)", async () => {
  const { gateway, client } = await setup(CUT);
  await using _ = gateway;
  const checkpoints: Checkpoint[] = [];
  const results: TaskResult[] = [];
  const events: string[] = [];
  const options = {
    types: ["node.started"],
    onCheckpoint: (checkpoint: Checkpoint) => void checkpoints.push(checkpoint),
    onTaskResult: (result: TaskResult) => void results.push(result),
  };
  for await (const { type } of client.watch(RUN, options)) events.push(type);
  expect(events).toEqual(["node.started", "run.completed"]);
  expect(checkpoints.map(({ eventId }) => eventId)).toEqual([1n, 3n]);
  expect(checkpoints[1]?.context).toEqual({ nodes: { a: { n: 1 } } });
  expect(results).toMatchObject([{ ...place, status: "completed", output: { n: 1 } }]);
  expect(gateway.watched[0]?.types).toEqual([]);
});

test("an error that a callback throws ends the watch and reaches the caller (S4.12)", async () => {
  const { gateway, client } = await setup(CUT);
  await using _ = gateway;
  const onCheckpoint = () => Promise.reject(new Error("the disk is full"));
  const watching = client.watch(RUN, { onCheckpoint });
  await watching.next();
  await expect(watching.next()).rejects.toThrow("the disk is full");
  expect(gateway.watched).toHaveLength(1);
});
