// The log in other shapes, through the public API of a real trio: tags, pushes of status, causes.
import {
  type Checkpoint,
  createPawlClient,
  jsonOf,
  type PawlClient,
  runStatusName,
} from "@pawl/client";
import { EVENTS } from "@pawl/core/log/event-table";
import { typeNamed } from "@pawl/core/log/meaning";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";
import { broken, graph, script } from "./graph.ts";
import { runGraph, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  cluster = await startCluster();
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

test("every status transition of a run can be read as a tag, page by page (S1.57, S1.58)", async () => {
  const story = await runGraph(client, graph(["good > bad"], { bad: broken() }));
  const tags: { tag: string; nodeId: string; metadata: unknown }[] = [];
  for (let afterEventId = 0n, hasMore = true; hasMore;) {
    const page = await client.events.tags(story.runId, { afterEventId, pageSize: 3 });
    for (const { tag, nodeId, metadataJson } of page.tags)
      tags.push({ tag, nodeId, metadata: jsonOf(metadataJson) });
    afterEventId = page.tags.at(-1)?.eventId ?? afterEventId;
    ({ hasMore } = page);
  }
  const shown = tags.filter(({ tag }) => tag !== "node_completed" && tag !== "node_failed");
  expect(shown).toEqual([
    { tag: "run_started", nodeId: "", metadata: {} },
    { tag: "node_queued", nodeId: "good", metadata: { attempt: 1 } },
    { tag: "node_started", nodeId: "good", metadata: { attempt: 1, wave: 0 } },
    { tag: "node_queued", nodeId: "bad", metadata: { attempt: 1 } },
    { tag: "node_started", nodeId: "bad", metadata: { attempt: 1, wave: 1 } },
    { tag: "run_failed", nodeId: "", metadata: { error_message: story.run.errorMessage } },
  ]);
  const failed = tags.find(({ tag }) => tag === "node_failed")?.metadata;
  expect(Object.keys(failed as object).toSorted()).toEqual(["error_code", "error_message"]);
  const done = tags.find(({ tag }) => tag === "node_completed")?.metadata;
  expect(done).toMatchObject({ input_tokens: 0, output_tokens: 0 });
  const ofBad = await client.events.tags(story.runId, { nodeId: "bad" });
  expect(new Set(ofBad.tags.map(({ nodeId }) => nodeId))).toEqual(new Set(["bad"]));
});

interface Pushed {
  readonly id: number;
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The frames of a stream of a run that has ended. */
async function frames(path: string): Promise<Pushed[]> {
  const text = await (await fetch(`${cluster.url}${path}`)).text();
  return text.split("\n\n").flatMap((frame) => {
    const line = (name: string): string =>
      frame
        .split("\n")
        .find((each) => each.startsWith(`${name}: `))
        ?.slice(name.length + 2) ?? "";
    if (line("event") === "") return [];
    // A frame of ours holds one line of a JSON object.
    const data = JSON.parse(line("data")) as Pushed["data"];
    return [{ id: Number(line("id")), name: line("event"), data }];
  });
}

test("a client that joins a run by its id gets pushes of node and run status, from any cursor (S3.42, S3.43, S3.44)", async () => {
  const story = await runGraph(client, graph(["start > a > end"]), { n: 1 });
  const path = `/execute/workflows/${story.runId}/events?view=updates`;
  const updates = await frames(path);
  expect(updates[0]).toMatchObject({
    name: "workflow_status_update",
    data: { instanceID: story.runId, status: "running", contextData: { input: { n: 1 } } },
  });
  const ofA = updates.filter(({ data }) => data["nodeID"] === "a");
  expect(ofA.map(({ name, data }) => [name, data["status"]])).toEqual(
    ["queued", "running", "completed"].map((status) => ["workflow_node_update", status]),
  );
  expect(ofA.at(-1)?.data).toMatchObject({ output: story.outputOf("a"), error: null });
  expect(updates.at(-1)).toMatchObject({
    name: "workflow_status_update",
    data: { instanceID: story.runId, status: "completed", contextData: { output: story.output } },
  });
  const second = updates[1]?.id ?? 0;
  expect(await frames(`${path}&afterEventId=${second}`)).toEqual(updates.slice(2));
  expect((await fetch(`${cluster.url}${path}s`)).status).toBe(400);
});

test("a run's log has only names of the event table, and each leads to the seeds' names (S1.44, S1.46, S3.9)", async () => {
  const talkative = script('log("counting", "warn"); return 1');
  const definition = graph(["talkative > bad"], { talkative, bad: broken() });
  const story = await runGraph(client, definition, { n: 1 });
  for (const { type } of story.events) expect(Object.keys(EVENTS)).toContain(type);
  const named = (name: string) => story.of(typeNamed(name) ?? "");
  expect(named("INPUT_SET").map(({ payload }) => payload)).toMatchObject([{ input: { n: 1 } }]);
  expect(named("NODE_DISPATCHED").map(({ nodeId }) => nodeId)).toEqual(["talkative", "bad"]);
  expect(named("NODE_COMPLETED").map(({ nodeId }) => nodeId)).toEqual(["talkative"]);
  expect(named("NODE_FAILED").map(({ nodeId }) => nodeId)).toEqual(["bad"]);
  expect(named("node_log").map(({ nodeId, payload }) => [nodeId, payload])).toMatchObject([
    ["talkative", { level: "warn", message: "counting" }],
  ]);
});

test("a push of status carries the context of the run at that event: input, outputs so far and variables (S3.43)", async () => {
  const early = script("return 1", { output_variable: "first" });
  const definition = graph(["start > early > ask > late > end"], {
    early,
    ask: { type: "approval", config: { message: "Go on?" } },
  });
  const { run } = await client.runs.test(definition, { input: { n: 1 } });
  const { runId } = run;
  await until(async () => runStatusName((await client.runs.get(runId)).run.status) === "waiting", {
    what: "the run to wait",
  });
  await client.runs.decide(runId, "ask", "approve");
  const story = await storyOf(client, runId);
  expect(story.status).toBe("completed");
  const pushed = await frames(`/execute/workflows/${runId}/events?view=updates`);
  const contexts = pushed.flatMap(({ name, data }) =>
    name === "workflow_status_update" ? [[data["status"], data["contextData"]]] : [],
  );
  const input = { n: 1 };
  const before = { start: story.outputOf("start"), early: 1 };
  const after = { ...before, ask: story.outputOf("ask") };
  const vars = { first: 1 };
  expect(contexts).toEqual([
    ["running", { input, nodes: {}, vars: {} }],
    ["waiting", { input, nodes: before, vars }],
    ["running", { input, nodes: after, vars }],
    [
      "completed",
      {
        input,
        nodes: { ...after, late: story.outputOf("late"), end: story.outputOf("end") },
        vars,
        output: story.outputOf("end"),
      },
    ],
  ]);
});

test("every event names the one that caused it, and its wave (S1.48)", async () => {
  const items = {
    type: "map",
    config: { items: [1, 2], body: { type: "javascript", config: { code: "return {}" } } },
  };
  const nodes = { bad: broken({ error_handling: "fail_node" }), each: items };
  const paths = ["first > a > join", "first > b > join", "first > bad > after", "join > each"];
  const story = await runGraph(client, graph(paths, nodes));
  const { events } = await client.events.list(story.runId);
  const causeOf = (type: string, nodeId = "", iteration = 0): string => {
    const event = events.find(
      (each) => each.type === type && each.nodeId === nodeId && each.iteration === iteration,
    );
    const cause = events.find(({ eventId }) => eventId === event?.correlation?.parentEventId);
    return `${cause?.type} ${cause?.nodeId}`;
  };
  expect(causeOf("run.started")).toBe("undefined undefined");
  expect(causeOf("node.queued", "first")).toBe("run.started ");
  for (const id of ["first", "a", "b", "bad", "join"])
    expect(causeOf("node.started", id)).toBe(`node.queued ${id}`);
  for (const id of ["a", "b", "join"])
    expect(causeOf("node.completed", id)).toBe(`node.started ${id}`);
  for (const id of ["a", "b", "bad"])
    expect(causeOf("node.queued", id)).toBe("node.completed first");
  expect(causeOf("node.queued", "join")).toMatch(/^node.completed [ab]$/);
  expect(causeOf("node.failed", "bad")).toBe("node.started bad");
  expect(causeOf("node.failed", "after")).toBe("node.failed bad");
  expect(causeOf("node.queued", "each", 1)).toBe("node.expanded each");
  expect(causeOf("node.completed", "each")).toBe("node.completed each");
  expect(causeOf("run.failed")).toMatch(/^node\.(completed|failed) /);
  const completed = events.find(({ type, nodeId }) => type === "node.completed" && nodeId === "a");
  expect(completed?.correlation?.wave).toBe(1);
  const pushed = await frames(`/execute/workflows/${story.runId}/events`);
  expect(
    pushed.map(({ data }) => (data["correlation"] as Pushed["data"])["parentEventId"]),
  ).toEqual(events.map(({ correlation }) => Number(correlation?.parentEventId ?? 0) || undefined));
  expect(pushed.some(({ data }) => "by" in (data["payload"] as object))).toBe(false);
});

test("callbacks get the state after each step and the result of each node, and the call still returns the output (S4.12)", async () => {
  const workflowId = "called-back";
  const definition = graph(["start > early > flaky > late > end"], {
    early: script("return 1", { output_variable: "first" }),
    flaky: broken({ error_handling: "continue" }),
  });
  await client.workflows.apply(JSON.stringify({ id: workflowId, ...definition }));
  const results: string[] = [];
  const checkpoints: Checkpoint[] = [];
  const output = await client.run(
    workflowId,
    { n: 1 },
    {
      onTaskResult: ({ nodeId, status }) => void results.push(`${nodeId} ${status}`),
      onCheckpoint: (checkpoint) => void checkpoints.push(checkpoint),
    },
  );
  const { runId } = checkpoints[0] ?? { runId: "" };
  const story = await storyOf(client, runId);
  expect(output).toEqual(story.output);
  const settled = story.events.filter(({ type }) =>
    ["node.completed", "node.failed", "node.skipped"].includes(type),
  );
  expect(results).toEqual(settled.map(({ nodeId, type }) => `${nodeId} ${type.slice(5)}`));
  for (const { eventId, state } of checkpoints)
    expect(state).toMatchObject({ event_id: Number(eventId), run_id: runId });
  expect(checkpoints.at(-1)).toMatchObject({
    state: { status: "completed" },
    context: { input: { n: 1 }, vars: { first: 1 } },
  });
});
