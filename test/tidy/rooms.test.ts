// The import rule, checked on every tracked file.
import { expect, test } from "vitest";
import { IMPURE } from "./room-table.ts";
import { objection, targetOf } from "./rooms.ts";
import { isTest, isTypeScript, trackedPaths, trackedSources } from "./sources.ts";
import { importsOf, namesOf, parse } from "./syntax.ts";

const sources = trackedSources(isTypeScript);
const trees = sources.map((source) => ({ ...source, tree: parse(source) }));
const products = trees.filter(({ path }) => !isTest(path));

test("every tracked TypeScript file is read", () => {
  expect(trees.length).toBe(trackedPaths(isTypeScript).length);
  expect(trees.length).toBeGreaterThan(20);
});

test("every file imports only what its room may", () => {
  const objections = products.flatMap(({ path, tree }) =>
    importsOf(tree).flatMap((specifier) => {
      const reason = objection(path, specifier);
      return reason === undefined ? [] : [`${path} imports ${specifier}: ${reason}`];
    }),
  );
  expect(objections).toEqual([]);
});

test("the core names no clock, timer, randomness, process or network", () => {
  const impurities = products
    .filter(({ path }) => path.startsWith("services/core/"))
    .flatMap(({ path, tree }) => {
      const names = namesOf(tree);
      return IMPURE.filter((name) => names.has(name)).map((name) => `${path} uses ${name}`);
    });
  expect(impurities).toEqual([]);
});

test("the environment is read only in main.ts, deploy and tests", () => {
  const readers = products
    .filter(({ path }) => !/\/main\.tsx?$/.test(path) && !path.startsWith("deploy/"))
    .filter(({ tree }) => namesOf(tree).has("process.env"))
    .map(({ path }) => path);
  expect(readers).toEqual([]);
});

test("every kind of import is seen", () => {
  const text = `import "a"; import type { B } from "b"; export * from "c"; export { d } from "d";
    const e = await import("e"); type F = import("f").F; const g = await import(e.name);`;
  expect(importsOf(parse({ path: "x.ts", text }))).toEqual([
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "*computed*",
  ]);
});

test("a forbidden import is objected to", () => {
  const core = "services/core/src/log/fold.ts";
  expect(objection(core, "node:fs")).toBeDefined();
  expect(objection(core, "../plan/plan.ts")).toBe(
    "services/core/src/ imports only downwards, and plan is not below log",
  );
  expect(objection(core, "../name/ids.ts")).toBeUndefined();
  // Rooms of one level do not import each other, because two such imports could form a cycle.
  expect(objection("services/core/src/plan/plan.ts", "../handler/define.ts")).toBe(
    "services/core/src/ imports only downwards, and handler is not below plan",
  );
  expect(objection("services/core/src/plan/plan.ts", "./ready.ts")).toBeUndefined();
  expect(objection("services/gateway/src/main.ts", "pg")).toBeDefined();
  expect(objection("services/gateway/src/main.ts", "@pawl/scheduler/start")).toBeDefined();
  expect(
    objection("services/executor/src/run/x.ts", "@pawl/platform/store/runs/reads"),
  ).toBeDefined();
  expect(objection("services/platform/src/queue/queue.ts", "pg-boss")).toBeDefined();
  expect(objection("services/platform/src/queue/boss.ts", "pg-boss")).toBeUndefined();
  expect(objection("somewhere/else.ts", "zod")).toBeDefined();
});

test("each layer is a room of its own, and only the store's room reaches the database (S3.6)", () => {
  const service = "services/gateway/src/rpc/x.ts";
  const orchestrator = "services/scheduler/src/tick/x.ts";
  const worker = "services/executor/src/run/x.ts";
  const stateManager = "services/platform/src/store/x.ts";
  for (const layer of [service, orchestrator, worker]) {
    expect(objection(layer, "pg"), layer).toBeDefined();
    expect(objection(layer, "pg-boss"), layer).toBeDefined();
  }
  expect(objection(stateManager, "pg")).toBeUndefined();
  expect(objection(stateManager, "pg-boss")).toBeDefined();
  expect(objection(service, "@pawl/platform/store/tick/journal")).toBeDefined();
  expect(objection(orchestrator, "@pawl/platform/store/tick/journal")).toBeUndefined();
  expect(objection(worker, "@pawl/platform/store/runs/runs")).toBeDefined();
  for (const other of ["@pawl/scheduler/compose", "@pawl/gateway/compose"])
    expect(objection(worker, other), other).toBeDefined();
});

test("a gateway imports the reads of the queue and of the store, its types, and nothing that writes", () => {
  const gateway = "services/gateway/src/read/x.ts";
  expect(objection(gateway, "@pawl/platform/queue/command-reads")).toBeUndefined();
  for (const other of ["command-changes", "node-queue", "boss"])
    expect(objection(gateway, `@pawl/platform/queue/${other}`), other).toBeDefined();
  for (const read of ["runs/reads", "runs/runs", "dead-letters/reads", "dead-letters/dead-letters"])
    expect(objection(gateway, `@pawl/platform/store/${read}`), read).toBeUndefined();
  for (const other of ["runs/writes", "runs/memory", "tick/journal", "tick/transaction", "page"])
    expect(objection(gateway, `@pawl/platform/store/${other}`), other).toBeDefined();
});

test("the store is built on the queue, and the queue on no part of the store", () => {
  const store = "services/platform/src/store/tick/x.ts";
  expect(objection(store, "../../queue/reads.ts")).toBeUndefined();
  for (const below of ["queue/x.ts", "queue/boss-x.ts", "wake/x.ts", "db/x.ts"])
    expect(objection(`services/platform/src/${below}`, "../store/runs/runs.ts")).toBeDefined();
});

test("an import of one of our packages is judged by the file that it resolves to", () => {
  expect(targetOf("deploy/local.ts", "@pawl/platform/db/migrate")).toBe(
    "services/platform/src/db/migrate",
  );
  expect(targetOf("deploy/local.ts", "./ports.ts")).toBe("deploy/ports.ts");
  expect(targetOf("deploy/local.ts", "pg-boss")).toBe("npm:pg-boss");
});

test("labels are not mistaken for the names they resemble", () => {
  const text = "const a = { process: 1 }; a.process; interface T { fetch(): void } a?.Date;";
  const names = namesOf(parse({ path: "x.ts", text }));
  expect(IMPURE.filter((name) => names.has(name))).toEqual([]);
  expect(namesOf(parse({ path: "x.ts", text: "new Date()" })).has("Date")).toBe(true);
});
