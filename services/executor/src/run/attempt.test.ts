import { create } from "@bufbuild/protobuf";
import { AssignmentSchema, GateKind } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import { z } from "zod";
import { glueHandlers } from "../handlers/glue.ts";
import { defineHandler, type Handler, type TaskContext } from "../handlers/handler.ts";
import { registryOf } from "../handlers/registry.ts";
import { attemptRunner } from "./attempt.ts";
import { causeOf, type WireResult } from "./outcome.ts";
import { memoryLedger } from "../work/memory-ledger.fixture.ts";

/** Gives its config back as its output. */
const echo = defineHandler({
  type: "echo",
  run: (input, { config }) => ({ config, input }),
});

interface Run {
  readonly type?: string;
  readonly config?: unknown;
  readonly context?: unknown;
  readonly bindings?: readonly unknown[];
  readonly node?: Record<string, unknown>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Gets the findings of the checks. */
  readonly gates?: unknown[];
}

function setup(...handlers: readonly Handler[]) {
  const run = attemptRunner(registryOf([...glueHandlers, echo, ...handlers]));
  return async (options: Run): Promise<WireResult> => {
    const type = options.type ?? "echo";
    const node = {
      id: "n",
      type,
      config: options.config ?? {},
      onParentFailure: "propagate",
      merge: null,
    };
    const text = (value: unknown) => Buffer.from(JSON.stringify(value));
    const assignment = create(AssignmentSchema, {
      claim: { runId: "r", nodeId: "n", iteration: 2, epoch: 9n },
      attempt: 3,
      nodeType: type,
      nodeJson: text({ node: { ...node, ...options.node }, bindings: options.bindings ?? [] }),
      contextJson: text(options.context ?? { input: { n: 5, s: "x" }, nodes: {}, vars: {} }),
      timeoutMs: BigInt(options.timeoutMs ?? 10_000),
      effectKey: "r/n/2",
      workflowId: "w",
    });
    const { result, durationMs, gates } = await run(assignment, {
      signal: options.signal ?? new AbortController().signal,
      emit: async () => undefined,
      emitMedia: async () => undefined,
      effects: memoryLedger(),
      extend: async () => undefined,
      log: () => undefined,
    });
    expect(Number(durationMs)).toBeGreaterThanOrEqual(0);
    for (const { kind, phase, detailsJson } of gates ?? [])
      options.gates?.push({ kind, phase, details: JSON.parse(String(detailsJson)) });
    return result;
  };
}

const outputOf = (result: WireResult): unknown =>
  result.case === "completed"
    ? JSON.parse(Buffer.from(result.value.outputJson ?? []).toString())
    : result;

const binding = (source: string, param: string) => ({
  source,
  sourceLabel: source,
  sourceHandle: null,
  sourceOutputKey: "output",
  targetParamLabel: param,
  mergeStrategy: null,
});

test("a lone template keeps its type, mixed text is a string, and plain config stays (S3.31)", async () => {
  const run = setup();
  const config = { lone: "{{ ctx.input.n }}", mixed: "n={{ctx.input.n}}", plain: [1, { a: true }] };
  expect(outputOf(await run({ config }))).toMatchObject({
    config: { lone: 5, mixed: "n=5", plain: [1, { a: true }] },
  });
});

test("inputs come from the parents' outputs and are visible to templates", async () => {
  const run = setup();
  const result = await run({
    config: { got: "{{ input.items }}" },
    bindings: [binding("a", "items"), binding("b", "other")],
    context: { input: null, nodes: { a: [1, 2], b: "B" }, vars: {} },
  });
  expect(outputOf(result)).toEqual({
    config: { got: [1, 2] },
    input: { items: [1, 2], other: "B" },
  });
});

test("the input of a node is rendered, and the parameters of its edges are added to it", async () => {
  const result = await setup()({
    node: { input: { who: "{{ctx.input.who}}", of: "{{input.cents}}", tags: ["a"] } },
    bindings: [binding("a", "cents")],
    context: { input: { who: "ada" }, nodes: { a: 5 }, vars: {} },
  });
  expect(outputOf(result)).toMatchObject({
    input: { who: "ada", of: 5, tags: ["a"], cents: 5 },
  });
});

test("an input may be any JSON, and a path in it without a value fails for good", async () => {
  const run = setup();
  expect(outputOf(await run({ node: { input: "{{ctx.input.n}}" } }))).toMatchObject({ input: 5 });
  expect(outputOf(await run({ node: { input: null } }))).toMatchObject({ input: null });
  const result = await run({ node: { input: { x: "{{ctx.nodes.gone}}" } } });
  expect(result).toMatchObject({ value: { cause: "missing_variable", permanent: true } });
});

test("without an input a root gets the run's input, and any other node its parameters", async () => {
  const run = setup();
  expect(outputOf(await run({}))).toMatchObject({ input: { n: 5, s: "x" } });
  const bindings = [{ ...binding("a", "p"), targetParamLabel: null }];
  expect(outputOf(await run({ bindings }))).toMatchObject({ input: {} });
});

test("the input contract holds the input that the handler gets", async () => {
  const contracts = { input: { required: ["who"] }, output: null };
  const given = (input: unknown) => setup()({ node: { contracts, input } });
  expect(causeOf(await given({ who: 1 }))).toBe("completed");
  expect(causeOf(await given({}))).toBe("input_contract_violation");
});

test("a missing variable fails for good, by its path (T7)", async () => {
  const result = await setup()({ config: { x: "{{ ctx.nodes.gone.body }}" } });
  expect(result).toMatchObject({ value: { cause: "missing_variable", permanent: true } });
});

test("with substitute_default a missing variable is an empty text (S1.25)", async () => {
  const node = { onParentFailure: "substitute_default" };
  const result = await setup()({ config: { x: "{{ ctx.nodes.gone }}" }, node });
  expect(outputOf(result)).toMatchObject({ config: { x: "" } });
});

test("templates that grow too much are output_too_large (T5)", async () => {
  const config = { x: "{{ctx.input.a}}".repeat(500) };
  const context = { input: { a: "x".repeat(10_000) }, nodes: {}, vars: {} };
  const result = await setup()({ config, context });
  expect(result).toMatchObject({ value: { cause: "output_too_large", permanent: true } });
});

test.each([
  "{{ctx.__proto__.x}}",
  "{{ctx.constructor.constructor('return process')()}}",
  "{{ 1 + 1 }}",
])("the template %s is config_invalid, never evaluated (T1, T2)", async (x) => {
  const result = await setup()({ config: { x } });
  expect(result).toMatchObject({ value: { cause: "config_invalid", permanent: true } });
});

test("conditions and scripts are not rendered", async () => {
  const when = "ctx.input.s != '{{'";
  const result = await setup()({ type: "condition", config: { branches: [{ id: "yes", when }] } });
  expect(result).toMatchObject({ case: "completed", value: { handle: "yes" } });
});

test("an unknown type and a wrong config fail for good", async () => {
  const run = setup();
  expect(causeOf(await run({ type: "nothing" }))).toBe("unknown_node_type");
  const result = await run({ type: "condition", config: { branches: [] } });
  expect(result).toMatchObject({ value: { cause: "config_invalid", permanent: true } });
});

test("a handler that takes too long is aborted and times out, which may be retried (S1.17, S1.32)", async () => {
  const aborted: unknown[] = [];
  const slow = defineHandler({
    type: "slow",
    run: (_input, ctx) =>
      new Promise((_resolve, reject) => {
        ctx.signal.addEventListener("abort", () => {
          aborted.push(ctx.signal.reason);
          reject(new Error("gave up"));
        });
      }),
  });
  const result = await setup(slow)({ type: "slow", timeoutMs: 20 });
  expect(result).toMatchObject({ value: { cause: "timeout", permanent: false } });
  expect(aborted).toMatchObject([{ name: "TimeoutError" }]);
});

test("a handler that ignores its signal is left behind when time is up (S1.17)", async () => {
  const deaf = defineHandler({
    type: "deaf",
    run: () => new Promise(() => undefined),
  });
  expect(causeOf(await setup(deaf)({ type: "deaf", timeoutMs: 20 }))).toBe("timeout");
});

test("an abort from outside ends the attempt as cancelled (S1.31, S1.38)", async () => {
  const controller = new AbortController();
  const waiting = defineHandler({
    type: "waiting",
    run: () => {
      controller.abort();
      return new Promise(() => undefined);
    },
  });
  const result = await setup(waiting)({ type: "waiting", signal: controller.signal });
  expect(causeOf(result)).toBe("cancelled");
});

test("a throw is a provider error, whatever was thrown, at once or later (S1.29)", async () => {
  const thrower = defineHandler({
    type: "thrower",
    config: z.strictObject({ later: z.boolean() }),
    run: (_input, { config: { later } }) => {
      // oxlint-disable-next-line only-throw-error -- what a handler throws is not in our hands
      if (!later) throw undefined;
      return Promise.reject(new Error("no"));
    },
  });
  const run = setup(thrower);
  for (const later of [true, false]) {
    const result = await run({ type: "thrower", config: { later } });
    expect(causeOf(result)).toBe("provider_error");
  }
});

test("a handler knows its run, attempt and effect key, and can render (S3.23)", async () => {
  const seen: TaskContext[] = [];
  const curious = defineHandler({
    type: "curious",
    run: (_input, ctx) => {
      seen.push(ctx);
      return ctx.render("{{ctx.input.n}}");
    },
  });
  const result = await setup(curious)({ type: "curious" });
  expect(outputOf(result)).toEqual({ ok: true, value: 5 });
  expect(seen).toMatchObject([
    { runId: "r", nodeId: "n", workflowId: "w", iteration: 2, attempt: 3, effectKey: "r/n/2" },
  ]);
});

test("an input that breaks its contract fails for good, before the handler, and the message names the place (S1.15)", async () => {
  const calls: unknown[] = [];
  const watched = defineHandler({
    type: "watched",
    run: () => {
      calls.push(1);
      return 1;
    },
  });
  const gates: unknown[] = [];
  const input = { properties: { items: { type: "array", maxItems: 1 } } };
  const result = await setup(watched)({
    type: "watched",
    gates,
    node: { contracts: { input, output: null } },
    bindings: [binding("a", "items")],
    context: { input: null, nodes: { a: [1, 2] }, vars: {} },
  });
  expect(result).toMatchObject({ value: { cause: "input_contract_violation", permanent: true } });
  expect(gates).toEqual([
    {
      kind: GateKind.CONTRACT_VIOLATED,
      phase: "input",
      details: [{ path: "input.items", message: "must NOT have more than 1 items" }],
    },
  ]);
  expect(calls).toEqual([]);
});

test("a node without edges to it is held to the run's input (S1.10, S1.15)", async () => {
  const node = { contracts: { input: { required: ["name"] }, output: null } };
  expect(causeOf(await setup()({ node }))).toBe("input_contract_violation");
  const context = { input: { name: "x" }, nodes: {}, vars: {} };
  expect(causeOf(await setup()({ node, context }))).toBe("completed");
});

test("an output that breaks its contract is a failure the policy may retry (S1.19)", async () => {
  const gates: unknown[] = [];
  const node = { contracts: { input: null, output: { required: ["answer"] } } };
  const result = await setup()({ node, gates });
  expect(result).toMatchObject({
    value: {
      cause: "output_contract_violation",
      permanent: false,
      message: "output_contract_violation: output must have required property 'answer'",
    },
  });
  expect(gates).toMatchObject([{ kind: GateKind.CONTRACT_VIOLATED, phase: "output" }]);
});
