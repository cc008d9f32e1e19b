// Agents on the real trio. The model is the offline one: its script is the prompt. The tools are real: scripts, calls to a
// server, child runs, people and the memory.
import { createPawlClient, type Json, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Cluster } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, type NodeText, script } from "./graph.ts";
import { startSink, type Sink } from "./sink.ts";
import { firstEvent, runGraph, type Story, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await sharedCluster();
  client = createPawlClient({ baseUrl: cluster.url });
  const double = graph(["start > double > end"], { double: script("return ctx.input.n * 2") });
  await client.workflows.apply(JSON.stringify({ id: "double", ...double }));
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

interface Turn {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments?: Json }[];
}

const call = (name: string, args: Json = {}) => ({ name, arguments: args });

/** An agent whose model follows this script. */
const agent = (turns: readonly Turn[], tools: readonly Json[], more: NodeText = {}): NodeText => {
  const { config = {}, ...rest } = more;
  const own = { model: "offline/script", prompt: JSON.stringify(turns), tools: [...tools] };
  return { type: "agent", config: { ...own, ...(config as object) }, ...rest };
};

const ADD = {
  name: "add",
  description: "Adds two numbers.",
  type: "javascript",
  config: { code: "return input.a + input.b" },
  input_schema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
};

const textOf = (story: Story, id = "a"): unknown => (story.outputOf(id) as { text?: unknown }).text;

const proved = async (story: Story): Promise<Story> => {
  expect(await checkInvariants(cluster.databaseUrl, [story.runId])).toEqual([]);
  return story;
};

test("an agent calls scripts, servers, workflows, people and the memory, each as an execution of its own (S2.32, S2.36)", async () => {
  const tools = [
    ADD,
    {
      name: "order",
      http: { url: sink.url("order"), method: "POST", body: { sku: "{{ ctx.item.sku }}" } },
    },
    { workflow: "double", description: "Doubles n." },
    { name: "ask", type: "approval", config: { message: "Pay {{ ctx.item.cents }} cents?" } },
    "save_to_memory",
  ];
  const definition = graph(["start > a > end"], {
    a: agent(
      [
        { text: "I compute. ", calls: [call("add", { a: 1, b: 2 }), call("double", { n: 21 })] },
        { calls: [call("order", { sku: "gear" }), call("ask", { cents: 500 })] },
        { calls: [call("save_to_memory", { values: { total: 42, note: "paid" } })] },
        { text: "All done: {results}" },
      ],
      tools,
      { write_key: "answer" },
    ),
    end: {
      type: "end",
      config: {
        output_parameters: { text: "{{ ctx.memory.answer }}", total: "{{ ctx.memory.total }}" },
      },
    },
  });
  const { run } = await client.runs.test(definition);
  const asked = await firstEvent(client, run.runId, ({ payload }) =>
    JSON.stringify(payload).includes("Pay 500 cents?"),
  );
  await client.runs.decide(run.runId, "a", "approve", { iteration: asked.iteration });
  const story = await proved(await storyOf(client, run.runId));
  expect(story.status, story.run.errorMessage).toBe("completed");
  expect(story.output).toEqual({
    text: 'All done: ["{\\"total\\":42,\\"note\\":\\"paid\\"}"]',
    total: 42,
  });
  const steps = story.run.nodes.filter(({ item }) => item > 0);
  expect(steps.map(({ turn, tool }) => `${turn} ${tool}`)).toEqual([
    ...["1 ", "1 add", "1 double", "2 ", "2 order", "2 ask", "3 ", "3 save_to_memory", "4 "],
  ]);
  const first = story.of("node.completed", "a").find(({ iteration }) => iteration === 1);
  expect(first?.payload).toMatchObject({ calls: [{ name: "add" }, { name: "double" }] });
  const deltas = story.of("node.stream.delta", "a");
  expect(new Set(deltas.map(({ iteration }) => iteration))).toEqual(new Set([1, 9]));
  const end = story.of("node.completed", "a").find(({ iteration }) => iteration === 0);
  const counted = { input_tokens: expect.any(Number), output_tokens: expect.any(Number) };
  expect(end?.payload).toMatchObject({ output: { turns: 4, tool_calls: 5, usage: counted } });
  expect(sink.calls.filter(({ name }) => name === "order")).toHaveLength(1);
});

test("bad arguments, an unknown tool and a failing tool go back to the model, and nothing runs with them", async () => {
  const broken = {
    name: "broken",
    type: "javascript",
    config: { code: "throw new Error('no luck')" },
  };
  const definition = graph(["start > a > end"], {
    a: agent(
      [
        {
          calls: [
            call("add", { a: "one", b: 2 }),
            call("add", "{not json"),
            call("add", '{"a":1,"b":2,"__proto__":{}}'),
            call("delete_everything"),
            call("broken"),
          ],
        },
        { text: "{results}" },
      ],
      [ADD, broken],
    ),
  });
  const story = await proved(await runGraph(client, definition));
  expect(story.status, story.run.errorMessage).toBe("completed");
  const results = (JSON.parse(String(textOf(story))) as string[]).map(
    (each) => (JSON.parse(each) as { error: string }).error,
  );
  expect(results).toEqual([
    "arguments.a must be number",
    expect.stringContaining("not JSON"),
    expect.any(String),
    'there is no tool "delete_everything"; the tools are add, broken',
    expect.stringContaining("no luck"),
  ]);
  expect(story.of("node.started", "a").map(({ iteration }) => iteration)).toEqual([0, 1, 6, 7]);
});

test("two agents side by side see only their own conversations, and no other node sees one (S2.36)", async () => {
  const secret = (word: string): NodeText =>
    agent(
      [{ text: `secret ${word}`, calls: [call("echo", { word })] }, { text: "{results}" }],
      [{ name: "echo", type: "javascript", config: { code: "return input.word" } }],
    );
  const definition = graph(["start > a > look", "start > b > look", "look > end"], {
    a: secret("apple"),
    b: secret("berry"),
    look: script("return JSON.stringify(ctx)"),
  });
  const story = await proved(await runGraph(client, definition));
  expect([textOf(story, "a"), textOf(story, "b")]).toEqual(['["apple"]', '["berry"]']);
  expect(JSON.stringify(story.outputOf("look"))).not.toContain("secret");
});

test("cancel in the middle of a tool ends the tool, the turn and the run", async () => {
  const tool = { name: "wait", http: { url: sink.url("hold-cancel") } };
  const definition = graph(["start > a > end"], {
    a: agent([{ calls: [call("wait")] }, { text: "never" }], [tool]),
  });
  const { run } = await client.runs.test(definition);
  const held = await sink.received("hold-cancel");
  await client.runs.cancel(run.runId);
  await held.hungUp;
  const story = await proved(await storyOf(client, run.runId));
  expect([story.status, story.nodes["a"], story.nodes["a#2"]]).toEqual([
    "cancelled",
    "cancelled",
    "cancelled",
  ]);
});

test("a tool past its timeout is an error for the model; with on_error fail it fails the agent", async () => {
  const tool = { name: "wait", http: { url: sink.url("hold-late") }, timeout_ms: 200 };
  const turns = [{ calls: [call("wait")] }, { text: "{results}" }];
  const story = await proved(
    await runGraph(client, graph(["start > a > end"], { a: agent(turns, [tool]) })),
  );
  expect(String(textOf(story))).toContain("timed out");
  const failing = await proved(
    await runGraph(
      client,
      graph(["start > a > end"], { a: agent(turns, [{ ...tool, on_error: "fail" }]) }),
    ),
  );
  expect(failing.status).toBe("failed");
  expect(failing.run.errorMessage).toContain("the tool wait (iteration 2) failed");
});

test("an agent that does not end fails with max_turns, and leaves by its error handle if it has one", async () => {
  const endless = Array.from({ length: 5 }, () => ({ calls: [call("add", { a: 1, b: 1 })] }));
  const definition = graph(["start > a > end", "a:error > sorry"], {
    a: agent(endless, [ADD], { config: { max_turns: 3 } }),
    sorry: script("return ctx.nodes.a.error.cause"),
  });
  const story = await proved(await runGraph(client, definition));
  expect(story.outputOf("sorry")).toBe("max_turns");
  expect(story.of("node.completed", "a").filter(({ iteration }) => iteration > 0)).toHaveLength(5);
});

test("an agent in a loop edge runs again with a new conversation and new iterations", async () => {
  const text = graph(["start > a > judge:else > end"], {
    a: agent([{ calls: [call("add", { a: 2, b: 2 })] }, { text: "{results}" }], [ADD], {
      output_variable: "sum",
    }),
    count: script("return 0"),
    judge: script("return (ctx.rounds ?? 0) + 1", { output_variable: "rounds" }),
  });
  const nodes = text.nodes.filter(({ id }) => id !== "count");
  const judge = {
    id: "again",
    type: "condition",
    config: { branches: [{ id: "yes", when: "ctx.vars.rounds < 3" }] },
  };
  const edges = [
    { source: "start", target: "a" },
    { source: "a", target: "judge" },
    { source: "judge", target: "again" },
    { source: "again", target: "a", source_handle: "yes", loop: true },
    { source: "again", target: "end", source_handle: "else" },
  ];
  const story = await proved(await runGraph(client, { nodes: [...nodes, judge], edges }));
  expect(story.status, story.run.errorMessage).toBe("completed");
  const ended = story.of("node.completed", "a").map(({ iteration }) => iteration);
  expect(ended).toEqual([1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8]);
});

test("a definition with faults in its tools is refused with their places", async () => {
  const bad = graph(["start > a > end"], {
    a: agent(
      [{ text: "x" }],
      [
        { name: "one two", type: "javascript", config: { code: "return 1" } },
        { name: "twice", type: "javascript", config: { code: "return (" } },
        { name: "twice", type: "map", config: {} },
        { name: "both", type: "noop", workflow: "double" },
        { name: "reads", http: { url: "https://x.test/{{ input.city }}" } },
        "save_to_file",
      ],
    ),
  });
  const refused = await client.workflows
    .apply(JSON.stringify({ id: "bad", ...bad }))
    .catch(
      (error: unknown) => error as { violations: readonly { path: string; reason: string }[] },
    );
  const found = (refused as { violations: readonly { path: string; reason: string }[] }).violations;
  expect(
    found
      .map(({ path, reason }) => `${path.replace("definition.nodes[1].config.", "")} ${reason}`)
      .toSorted(),
  ).toEqual([
    "tools[0].name BAD_ID",
    "tools[1].config.code JS_SYNTAX",
    "tools[2].name DUPLICATE_ID",
    "tools[2].type BAD_TOOL",
    "tools[3] BAD_TOOL",
    "tools[4].http.url TEMPLATE_SYNTAX",
    "tools[5] WRONG_TYPE",
  ]);
});
