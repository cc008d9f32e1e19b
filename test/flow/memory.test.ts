// The memory of a run and the actions of handlers on the real trio: handlers in TypeScript, Python and Go write and read it, built-in types
// do without code, and an action that cannot be done changes nothing.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createPawlClient, type Json, type PawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import type { ActionSchema } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ScriptedProcess } from "../../services/executor/src/host/scripted-process.fixture.ts";
import { HANDLERS } from "../handler-kit/programs/sdks.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, type NodeText, script } from "./graph.ts";
import { act, serveKit } from "./kit-program.ts";
import { firstEvent, runGraph, type Story, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let address: string;

beforeAll(async () => {
  const port = await freePort();
  address = `${LOOPBACK}:${port}`;
  cluster = await startCluster({ envOf: { executor: { PAWL_HANDLER_PORT: String(port) } } });
  client = createPawlClient({ baseUrl: cluster.url });
  const billing = (code: string): string =>
    JSON.stringify({ id: "billing", ...graph(["charge > end"], { charge: script(code) }) });
  await client.workflows.apply(billing("return { version: 1 }"));
  await client.workflows.apply(billing("return { version: 2, n: ctx.input.n }"));
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

const typesOf = ({ events }: Story): string[] =>
  events.map(({ type, nodeId }) => (nodeId === "" ? type : `${type} ${nodeId}`));

/** A node that answers the question of another one. A person opens its gate when the question is there. */
async function answered(): Promise<Story> {
  const ask = (message: string): NodeText => ({ type: "approval", config: { message } });
  const definition = graph(["start > review > end", "start > gate > reply"], {
    review: ask("Ship it?"),
    gate: ask("May it reply?"),
    reply: act(["answer_human"]),
  });
  const { run } = await client.runs.test(definition);
  for (const nodeId of ["review", "gate"])
    await firstEvent(
      client,
      run.runId,
      (event) => event.type === "node.blocked" && event.nodeId === nodeId,
    );
  await client.runs.decide(run.runId, "gate", "approve");
  return await storyOf(client, run.runId);
}

/** A handler that asks a person. */
async function asked(): Promise<Story> {
  const { run } = await client.runs.test(graph(["start > ask > end"], { ask: act(["ask_human"]) }));
  await firstEvent(client, run.runId, ({ type }) => type === "node.blocked");
  await client.runs.decide(run.runId, "ask", "approve", { comment: "go" });
  return await storyOf(client, run.runId);
}

test.for(Object.entries(HANDLERS))(
  "a handler in %s writes the memory, reads its part of it, and acts on its run (S2.24, S2.33, S2.37)",
  { timeout: 90_000 },
  async ([, find], context) => {
    const { leave } = await serveKit({ client, address }, find, context);

    const note = { type: "remember", config: { values: { a: [1], b: "two" } } };
    const [memory, ended, handed, merged, asking, reply, refused] = await Promise.all([
      runGraph(
        client,
        graph(["start > write > some > none > all > end"], {
          write: act(["remember"]),
          some: act([], { read_keys: ["city"], write_key: "seen" }),
          none: act([], { read_keys: [] }),
          all: act([]),
        }),
      ),
      runGraph(client, graph(["start > stop > never"], { stop: act(["set_status"]) })),
      runGraph(client, graph(["start > hand > end"], { hand: act(["hand_off_workflow"]) })),
      runGraph(
        client,
        graph(["note > merge > read"], {
          note,
          merge: act(["merge_results"]),
          read: act([], { read_keys: ["all"] }),
        }),
      ),
      asked(),
      answered(),
      runGraph(client, graph(["start > bad"], { bad: act(["remember", "not_json"]) })),
    ]);

    const seen = (nodeId: string): Json | undefined => memory.outputOf(nodeId);
    expect(seen("some")).toEqual({ memory: { city: "Oslo" } });
    expect(seen("none")).toEqual({ memory: {} });
    expect(seen("all")).toEqual({
      memory: { city: "Oslo", count: 2, seen: { memory: { city: "Oslo" } } },
    });
    const types = typesOf(memory);
    expect(types.filter((type) => type.startsWith("memory."))).toEqual(["memory.updated write"]);
    expect(types[types.indexOf("memory.updated write") - 1]).toBe("node.completed write");

    expect(ended).toMatchObject({ status: "completed", output: { ok: true } });
    expect(ended.nodes).toMatchObject({ stop: "completed", never: "cancelled" });
    expect(handed.outputOf("hand")).toEqual({ version: 2, n: 1 });
    expect(merged.outputOf("read")).toEqual({ memory: { all: [[1], "two"] } });
    expect(asking.outputOf("ask")).toMatchObject({ decision: "approved", comment: "go" });
    expect(reply.outputOf("review")).toMatchObject({
      ...{ decision: "approved", response: { ok: true } },
      ...{ comment: "fine", decidedBy: "node reply" },
    });
    expect(refused.of("node.failed")).toMatchObject([{ payload: { cause: "action_invalid" } }]);
    expect(typesOf(refused).filter((type) => type.startsWith("memory."))).toEqual([]);
    const runIds = [memory, ended, handed, merged, asking, reply, refused].map(
      ({ runId }) => runId,
    );
    expect(await checkInvariants(cluster.databaseUrl, runIds)).toEqual([]);

    await leave();
  },
);

test("built-in types write and read the memory without code: remember, llm, scripts, conditions and templates (S2.31, S2.33)", async () => {
  const config = { model: "offline/echo", prompt: "Hello, {{ ctx.memory.customer.name }}." };
  const story = await runGraph(
    client,
    graph(["start > note > greet > count > big", "big:yes > end", "big:else > small"], {
      note: {
        type: "remember",
        config: { values: { customer: "{{ ctx.input }}", stage: "new" } },
      },
      greet: { type: "llm", config, write_key: "greeting" },
      count: script('ctx.remember("length", ctx.memory.greeting.length); return null'),
      big: {
        type: "condition",
        config: {
          branches: [{ id: "yes", when: "ctx.memory.length > 3 && ctx.memory.stage == 'new'" }],
        },
      },
      end: { type: "end", config: { output_parameters: { memory: "{{ ctx.memory }}" } } },
    }),
    { name: "Ada" },
  );
  expect(story.status).toBe("completed");
  expect(story.nodes).toMatchObject({ end: "completed", small: "skipped" });
  const { memory } = story.output as { memory: { greeting: string } };
  const { greeting, ...rest } = memory;
  expect(greeting).toContain("Hello, Ada.");
  expect(rest).toEqual({ customer: { name: "Ada" }, stage: "new", length: greeting.length });
  expect(await checkInvariants(cluster.databaseUrl, [story.runId])).toEqual([]);
});

test("a script that remembers a value that is no JSON, or a reserved key, fails and writes nothing", async () => {
  const play = (code: string) => runGraph(client, graph(["start > bad"], { bad: script(code) }));
  const [nan, proto, large] = await Promise.all([
    play('ctx.remember("a", NaN); return 1'),
    play('ctx.remember("__proto__", 1); return 1'),
    play('for (const key of ["a", "b"]) ctx.remember(key, "x".repeat(4000000)); return 1'),
  ]);
  const causes = [nan, proto, large].map((story) => story.of("node.failed")[0]?.payload);
  expect(causes).toMatchObject([
    { cause: "js_error" },
    { cause: "action_invalid" },
    { cause: "output_too_large" },
  ]);
  for (const story of [nan, proto, large]) expect(story.of("memory.updated")).toEqual([]);
});

type Sent = NonNullable<MessageInitShape<typeof ActionSchema>["action"]>;

test("an action that a handler may not send fails its node for good, and the log has nothing of it (S2.38, S2.39)", async () => {
  const scripted = new ScriptedProcess(address);
  await scripted.hello({ name: "hostile", handlers: [{ type: "acme.hostile" }] });
  const node = { type: "acme.hostile", retry: { attempts: 3, backoff_ms: 1, jitter: false } };
  const send = async (...actions: readonly Sent[]): Promise<Story> => {
    const { run } = await client.runs.test(graph(["start > bad"], { bad: node }));
    const { invocationId } = await scripted.received("invoke");
    const sent = actions.map((action) => ({ action }));
    scripted.send({ case: "result", value: { invocationId, outputJson: "1", actions: sent } });
    return await storyOf(client, run.runId);
  };
  const update = (valuesJson: string): Sent => ({ case: "updateMemory", value: { valuesJson } });
  const status = (word: string): Sent => ({ case: "setStatus", value: { status: word } });
  const stories = {
    unknown: await send({ case: "unknown", value: "fly" }),
    internal: await send(update('{"a":1}'), { case: "unknown", value: "_fail" }),
    proto: await send(update('{"__proto__":{"x":1}}')),
    constructed: await send(update('{"constructor":1}')),
    nan: await send(update('{"a":NaN}')),
    both: await send(status("failed"), { case: "gotoNode", value: { node: "bad" } }),
    illegal: await send(status("running")),
    large: await send(update(`{"a":"${"x".repeat(7_500_000)}"}`)),
  };
  for (const [name, story] of Object.entries(stories)) {
    const cause = { illegal: "illegal_transition", large: "memory_too_large" }[name];
    expect(typesOf(story).slice(-4)).toEqual([
      ...["node.queued bad", "node.started bad", "node.failed bad", "run.failed"],
    ]);
    expect(story.of("node.failed")[0]?.payload).toMatchObject({ cause: cause ?? "action_invalid" });
  }
  expect(JSON.stringify(stories.unknown.of("node.failed"))).toContain("merge_parallel_results");
  expect(
    await checkInvariants(
      cluster.databaseUrl,
      Object.values(stories).map(({ runId }) => runId),
    ),
  ).toEqual([]);
  scripted.send({ case: "leaving", value: {} });
});
