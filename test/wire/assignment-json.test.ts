// What a real scheduler sends as node_json and context_json fits the written schema, with every key that the engine writes.
import { readFileSync } from "node:fs";
import { createPawlClient } from "@pawl/client";
import { compileContract } from "@pawl/platform/contract/contract";
import { expect, onTestFinished, test } from "vitest";
import { completed, connectExecutor } from "./fake-executor.ts";
import { useStage } from "./stage.ts";

const SCHEMA = new URL("../../proto/pawl/worker/v1/assignment.schema.json", import.meta.url);
const TYPE = "acme.step";
const OUTPUT = '{"done":"yes"}';

const stage = useStage();

interface Schema {
  readonly $defs: Readonly<Record<string, { readonly properties?: object }>>;
}

const jsonIn = (bytes: Uint8Array): Record<string, unknown> =>
  JSON.parse(Buffer.from(bytes).toString());
const arrayIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function collect(seen: Map<string, Set<string>>, name: string, value: unknown): void {
  const keys = seen.get(name) ?? new Set();
  seen.set(name, keys);
  for (const key of Object.keys(value ?? {})) keys.add(key);
}

/** Keys that other tests show: of a definition of an earlier version, and of a supervisor. */
const ELSEWHERE: ReadonlySet<string> = new Set(["causeSpellings", "decisions"]);

/** The definitions that schedulers compile differently: plain, with everything a node may have, and the bodies of a map and of a loop. */
const GRAPH = {
  nodes: [
    { id: "start", type: "start" },
    { id: "plain", type: TYPE },
    {
      id: "left",
      type: TYPE,
      label: "Left",
      output_variable: "seen",
      write_key: "left",
      error_handling: "continue",
    },
    {
      id: "full",
      type: TYPE,
      label: "Everything",
      config: { note: "{{ctx.input.who}}" },
      input: { who: "{{ctx.input.who}}" },
      merge: "array",
      retry: "standard",
      on_parent_failure: "substitute_default",
      contracts: { input: { type: "object" }, output: true },
      moderation: "both",
      moderation_action: "hold",
      join: { n_of_m: 2 },
      timeout_ms: 5000,
    },
    {
      id: "each",
      type: "map",
      config: { items: ["a"], body: { type: TYPE, config: { item: "{{ctx.item}}" } } },
    },
    {
      id: "again",
      type: "loop",
      config: {
        until: "output.done",
        max_iterations: 3,
        body: { type: TYPE, input: { before: "{{ctx.previous}}" }, retry: "standard" },
      },
    },
    { id: "ways", type: "condition", config: { branches: [{ id: "yes", when: "true" }] } },
    { id: "after", type: TYPE },
  ],
  edges: [
    { source: "start", target: "plain" },
    { source: "start", target: "left" },
    { source: "plain", target: "full", target_param_label: "parts" },
    {
      source: "left",
      target: "full",
      target_param_label: "parts",
      source_output_key: "done",
      merge_strategy: "concat",
    },
    { source: "full", target: "each" },
    { source: "each", target: "again" },
    { source: "again", target: "ways" },
    { source: "ways", target: "after", source_handle: "yes" },
    { source: "ways", target: "plain", source_handle: "else", loop: true },
  ],
};

test("every assignment that a scheduler sends fits the written schema, and uses each of its keys", async () => {
  const schema: Schema = JSON.parse(readFileSync(SCHEMA, "utf8"));
  const errorsOf = compileContract({ ...schema }, "input");
  const connected = connectExecutor(`127.0.0.1:${stage().cluster.schedulers[0]?.port}`);
  onTestFinished(() => connected.leave());
  await connected.register({ nodeTypes: [TYPE] });
  const client = createPawlClient({ baseUrl: stage().url });
  onTestFinished(() => client.close());
  const { run } = await client.runs.test(GRAPH, { input: { who: "Ada" } });
  const seen = new Map<string, Set<string>>();
  const places: string[] = [];
  for (let nth = 1; places.at(-1) !== "after/0"; nth += 1) {
    const { claim, nodeJson, contextJson } = await connected.hear("assignment", nth);
    if (claim === undefined) throw new Error("an assignment without a claim");
    const whole = { node_json: jsonIn(nodeJson), context_json: jsonIn(contextJson) };
    expect(errorsOf(whole), `${claim.nodeId}: ${JSON.stringify(whole)}`).toEqual([]);
    collect(seen, "node_json", whole.node_json);
    collect(seen, "context_json", whole.context_json);
    collect(seen, "node", whole.node_json["node"]);
    for (const binding of arrayIn(whole.node_json["bindings"])) collect(seen, "binding", binding);
    places.push(`${claim.nodeId}/${claim.iteration}`);
    const stop = claim.nodeId === "again" && claim.iteration === 2;
    const value = { outputJson: Buffer.from(OUTPUT), stop };
    connected.say(completed(claim, OUTPUT, { result: { case: "completed", value } }));
  }
  expect((await client.runs.get(run.runId)).run.runId).toBe(run.runId);
  expect(places.toSorted()).toEqual(
    ["after/0", "again/1", "again/2", "each/1", "full/0", "left/0", "plain/0"].toSorted(),
  );
  // A key that no assignment has is a key that the engine does not write.
  for (const [name, keys] of seen) {
    const written = Object.keys(schema.$defs[name]?.properties ?? {});
    expect(written.filter((key) => !keys.has(key) && !ELSEWHERE.has(key))).toEqual([]);
  }
});
