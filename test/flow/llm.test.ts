// Models through the public API of a real trio: streams that reach their watcher whole, limits that are obeyed, calls that stop.
import { createPawlClient, fromWire, type PawlClient, view } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, script, type NodeText } from "./graph.ts";
import { event, openStream, piece, startModelServer, type ModelServer } from "./model-server.ts";
import { SINK_EGRESS } from "./sink.ts";
import { firstEvent, runGraph, type Story } from "./story.ts";

const CALLED = { call_1: ["add", '{"a":1,"b":2}'], call_2: ["break", "{}"] } as const;

/** The first turn of an agent: two calls of tools. */
const CALLS = {
  openai: piece(
    {
      tool_calls: Object.entries(CALLED).map(([id, [name, args]], index) => ({
        ...{ index, id, type: "function", function: { name, arguments: args } },
      })),
    },
    "tool_calls",
  ),
  anthropic: [
    {
      type: "message_start",
      message: { content: [], usage: { input_tokens: 1, output_tokens: 1 } },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "\n" } },
    ...Object.entries(CALLED).flatMap(([id, [name, args]], at) => [
      {
        ...{ type: "content_block_start", index: at + 1 },
        content_block: { type: "tool_use", id, name, input: {} },
      },
      {
        ...{ type: "content_block_delta", index: at + 1 },
        delta: { type: "input_json_delta", partial_json: args },
      },
    ]),
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ]
    .map(event)
    .join(""),
};

/** The second turn, by the other API. */
const SAID = [
  { type: "message_start", message: { content: [], usage: { input_tokens: 1, output_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Three." } },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
]
  .map(event)
  .join("");

const PICTURE = "data:image/png;base64,iVBORw0KGgo=";

let cluster: Cluster;
let client: PawlClient;
let models: ModelServer;

beforeAll(async () => {
  models = await startModelServer(({ model }, nth, response) => {
    if (model === "busy" && nth === 1) {
      response.writeHead(429, { "retry-after-ms": "700", "retry-after": "1" }).end("{}");
    } else if (model === "wrong") {
      response.writeHead(400).end('{"error":{"message":"no such thing"}}');
    } else if (model === "torn" && nth <= 2) {
      openStream(response).write(piece({ content: `Try ${nth}, torn. ` }), () =>
        response.destroy(),
      );
    } else if (model === "turns-openai") {
      openStream(response).write(nth === 1 ? CALLS.openai : piece({ content: "Three." }, "stop"));
      response.end("data: [DONE]\r\n\r\n");
    } else if (model === "turns-anthropic") {
      openStream(response).end(nth === 1 ? CALLS.anthropic : SAID);
    } else if (model === "endless") {
      openStream(response).write(piece({ content: "and on " }));
    } else {
      openStream(response).write(piece({ content: "Here " }));
      response.write(piece({ images: [{ image_url: { url: PICTURE } }] }));
      response.write(piece({ content: "it is." }, "stop"));
      response.write(event({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 4 } }));
      response.end("data: [DONE]\r\n\r\n");
    }
  });
  const env = { ...SINK_EGRESS, PAWL_LLM_PROVIDERS: models.providers };
  cluster = await startCluster({ envOf: { executor: env } });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await models.stop();
});

const ask = (model: string, prompt: string, more: NodeText = {}): NodeText => ({
  type: "llm",
  config: { model, prompt },
  ...more,
});

type Piece = { readonly deltaIndex?: number; readonly text?: string; readonly media?: object };

/** What a node streamed, whose places are proven to be without a gap. */
function piecesOf(story: Story, nodeId: string): readonly Piece[] {
  const pieces = story.of("node.stream.delta", nodeId).map(({ payload }) => payload as Piece);
  expect(pieces.map(({ deltaIndex = 0 }) => deltaIndex)).toEqual(pieces.map((_, index) => index));
  return pieces;
}

const textOf = (story: Story, nodeId: string): string =>
  piecesOf(story, nodeId)
    .map(({ text = "" }) => text)
    .join("");

const outputOf = (story: Story, nodeId: string) => story.outputOf(nodeId) as { text: string };

test("two thousand pieces at full speed reach the watcher whole and in order (S1.41, S1.43, S1.49)", async () => {
  const story = await runGraph(
    client,
    graph(["start > talk"], { talk: ask("offline/lorem?tokens=2000&chunk=1", "go on") }),
  );
  expect(story.status).toBe("completed");
  const text = textOf(story, "talk");
  expect(text.split(" ")).toHaveLength(2_000);
  expect(outputOf(story, "talk").text).toBe(text);
  expect(piecesOf(story, "talk").length).toBeGreaterThan(20);
});

test("two models speak at once, each in its own order, and a join reads both (S1.14, S1.43)", async () => {
  const story = await runGraph(
    client,
    graph(["start > left > both", "start > right > both"], {
      left: ask("offline/lorem?tokens=60&interval_ms=2", "{{ ctx.input.topic }}", {
        output_variable: "left",
      }),
      right: ask("offline/echo", "About {{ ctx.input.topic }}.", { output_variable: "right" }),
      both: script("return { words: ctx.left.text.split(' ').length, right: ctx.right.text }"),
    }),
    { topic: "pawls" },
  );
  expect(story.status).toBe("completed");
  expect(story.outputOf("both")).toEqual({ words: 60, right: "About pawls." });
  for (const nodeId of ["left", "right"])
    expect(textOf(story, nodeId)).toBe(outputOf(story, nodeId).text);
});

test("text, media and the tokens of a streamed answer reach the client (S1.42, S1.43, S1.58)", async () => {
  const story = await runGraph(
    client,
    graph(["start > paint"], { paint: ask("painter", "a {{ ctx.input }}") }),
    "cat",
  );
  expect(story.status).toBe("completed");
  expect(textOf(story, "paint")).toBe("Here it is.");
  const media = { url: PICTURE, mime: "image/png" };
  expect(piecesOf(story, "paint").flatMap((one) => one.media ?? [])).toEqual([media]);
  expect(story.outputOf("paint")).toEqual({
    text: "Here it is.",
    tool_calls: [],
    usage: { input_tokens: 12, output_tokens: 4 },
    finish_reason: "stop",
    media: [media],
  });
  expect(story.of("node.completed", "paint")[0]?.payload).toMatchObject({
    usage: { inputTokens: 12, outputTokens: 4 },
  });
  expect(models.asked.find(({ model }) => model === "painter")?.body).toMatchObject({
    messages: [{ role: "user", content: "a cat" }],
    stream: true,
  });
});

test("deltas of all attempts have one growing index, and the text of a view is the last attempt's (S1.49, S1.50, S1.51)", async () => {
  const retry = { attempts: 3, backoff_ms: 5, jitter: false };
  const story = await runGraph(
    client,
    graph(["start > torn > end"], { torn: ask("torn", "hello", { retry }) }),
  );
  expect(story.status).toBe("completed");
  const deltas = story.of("node.stream.delta", "torn");
  expect(new Set(deltas.map(({ attempt }) => attempt))).toEqual(new Set([1, 2, 3]));
  expect(textOf(story, "torn")).toMatch(/^Try 1, torn\. Try 2, torn\. Here it is\.$/);
  // A client that keeps a mark per node and drops what is at or below it loses nothing, and the view starts its text with each claim.
  const { events } = await client.events.list(story.runId);
  const folded = view(events.flatMap((each) => fromWire(each) ?? []));
  expect(folded.nodes.get("torn")?.text).toBe("Here it is.");
});

test("a provider that is too busy is not asked again before the time it named (S1.29, S1.30)", async () => {
  const retry = { attempts: 2, backoff_ms: 5, jitter: false };
  const story = await runGraph(
    client,
    graph(["start > patient"], { patient: ask("busy", "hello", { retry }) }),
  );
  expect(story.status).toBe("completed");
  expect(story.of("node.retried", "patient")[0]?.payload).toMatchObject({
    cause: "rate_limit",
    delayMs: 700,
  });
  const [first, second] = models.asked.filter(({ model }) => model === "busy");
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(700);
});

test("a question the provider refuses is not asked twice, and the key stays out of the log (S1.29)", async () => {
  const story = await runGraph(
    client,
    graph(["start > ill"], { ill: ask("wrong", "hello", { retry: { attempts: 3 } }) }),
  );
  expect(story.nodes).toMatchObject({ ill: "failed" });
  expect(story.of("node.failed", "ill")[0]?.payload).toMatchObject({ cause: "http_status" });
  expect(models.asked.filter(({ model }) => model === "wrong")).toHaveLength(1);
  expect(JSON.stringify(story.events) + cluster.logs()).not.toContain("sk-flow");
});

test("cancelling the run hangs up on the provider (S1.9, S1.38)", async () => {
  const { run } = await client.runs.test(graph(["start > on"], { on: ask("endless", "go") }));
  await firstEvent(client, run.runId, ({ type }) => type === "node.stream.delta");
  await client.runs.cancel(run.runId);
  await models.asked.find(({ model }) => model === "endless")?.hungUp;
});

test("the logs of runs with models hold as any other (S3.2)", async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});

/** What the second turn of an agent sends behind the prompt, by the kind of its provider. */
const SECOND = {
  openai: [
    {
      ...{ role: "assistant", content: "" },
      tool_calls: Object.entries(CALLED).map(([id, [name, args]]) => ({
        ...{ id, type: "function", function: { name, arguments: args } },
      })),
    },
    { role: "tool", tool_call_id: "call_1", content: "3" },
    { role: "tool", tool_call_id: "call_2", content: expect.stringContaining("no luck") as string },
  ],
  anthropic: [
    {
      role: "assistant",
      content: Object.entries(CALLED).map(([id, [name, args]]) => ({
        ...{ type: "tool_use", id, name, input: JSON.parse(args) as object },
      })),
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "call_1", content: "3" },
        {
          ...{ type: "tool_result", tool_use_id: "call_2", is_error: true },
          content: expect.stringContaining("no luck") as string,
        },
      ],
    },
  ],
};

test.each([
  ["openai", "main"],
  ["anthropic", "other"],
] as const)(
  "an agent of a provider of the kind %s gets the calls and results of its turn (S1.42)",
  async (kind, provider) => {
    const tool = (name: string, code: string) => ({ name, type: "javascript", config: { code } });
    const tools = [
      tool("add", "return input.a + input.b"),
      tool("break", "throw Error('no luck')"),
    ];
    const model = `turns-${kind}`;
    const config = { provider, model, prompt: "Add.", tools };
    const story = await runGraph(
      client,
      graph(["start > a > end"], { a: { type: "agent", config } }),
    );
    expect(story.status, story.run.errorMessage).toBe("completed");
    expect(story.outputOf("a")).toMatchObject({ text: "Three.", turns: 2, tool_calls: 2 });
    const [first, second] = models.asked.filter((each) => each.model === model);
    expect(first?.body["tools"]).toHaveLength(2);
    const messages = second?.body["messages"];
    expect(Array.isArray(messages) && messages.slice(1)).toEqual(SECOND[kind]);
  },
);

test("a model that the node's timeout cuts off counts what it wrote, in each attempt (S2.20, S2.22)", async () => {
  const slow = ask("offline/lorem?tokens=1000&interval_ms=20", "Go on", {
    timeout_ms: 150,
    retry: { attempts: 2, backoff_ms: 1 },
  });
  const story = await runGraph(client, graph(["start > a"], { a: slow }));
  const counted = [...story.of("node.retried", "a"), ...story.of("node.timed_out", "a")].map(
    ({ payload }) => (payload as { usage?: { outputTokens: number } }).usage?.outputTokens ?? 0,
  );
  expect(counted).toHaveLength(2);
  expect(Math.min(...counted)).toBeGreaterThan(0);
  expect(Number(story.run.usage?.outputTokens)).toBe(counted.reduce((a, b) => a + b));
});
