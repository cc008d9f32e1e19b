// Each rule finds the breach for which it is made.
import { expect, test } from "vitest";
import {
  defaultExports,
  emptyNames,
  longFile,
  longFunctions,
  manyParameters,
  manyPositions,
  silentSuppressions,
  textFaults,
  timers,
  titleFaults,
  unfencedItems,
} from "./rules.ts";
import type { Source } from "./sources.ts";

const source = (text: string, path = "x.test.ts"): Source => ({ path, text });

test("a long file and a long function are found", () => {
  expect(longFile(source("a\n".repeat(301)))).toHaveLength(1);
  expect(longFile(source("a\n".repeat(300)))).toEqual([]);
  const body = "a();\n".repeat(70);
  expect(longFunctions(source(`function f() {\n${body}}`))).toHaveLength(1);
  expect(longFunctions(source(`describe("x", () => {\n${body}});`))).toEqual([]);
});

test("too many positional parameters of functions and SQL are found", () => {
  const names = (count: number): string =>
    Array.from({ length: count }, (_, at) => `p${at}: number`).join(", ");
  expect(manyParameters(source(`function f(${names(9)}) {}`))).toHaveLength(1);
  expect(manyParameters(source(`interface A { f(${names(9)}): void }`))).toHaveLength(1);
  expect(manyParameters(source(`type F = (${names(9)}) => void`))).toHaveLength(1);
  expect(manyParameters(source(`const f = (${names(8)}) => {};`))).toEqual([]);
  const sql = (last: number): Source => source(`insert into a values ($1, $${last})`);
  expect(manyPositions(sql(13))).toHaveLength(1);
  expect(manyPositions(sql(12))).toEqual([]);
});

test("a suppression of the linter without a reason is found", () => {
  const line = (rest: string): Source => source(`// oxlint-disable-next-line a/b${rest}`);
  expect(silentSuppressions(line(""))).toHaveLength(1);
  expect(silentSuppressions(line(" -- the reason"))).toEqual([]);
});

test("titles that repeat, hedge or hide are found", () => {
  const call = (name: string, title: string): string => `${name}("${title}", () => {});`;
  expect(titleFaults(source(call("test", "a") + call("it", "a")))).toHaveLength(1);
  expect(titleFaults(source(call("test", "it sho\\u0075ld work")))).toHaveLength(1);
  expect(titleFaults(source(call("test.skip", "a")))).toHaveLength(1);
  const chapters = 'describe("x", () => { test("a"); }); describe("y", () => { test("a"); });';
  expect(titleFaults(source(chapters))).toEqual([]);
});

test("timers are found however they are named", () => {
  expect(timers(source("await new Promise((go) => setTimeout(go, 1));"))).toHaveLength(1);
  expect(timers(source('import { setTimeout as nap } from "node:timers/promises";'))).not.toEqual(
    [],
  );
  expect(timers(source('const text = "setTimeout";'))).toEqual([]);
});

test("default exports and empty names are found", () => {
  expect(defaultExports(source("export default 1;"))).toHaveLength(1);
  expect(emptyNames(source("", "services/x/utils.ts"))).toHaveLength(1);
  expect(emptyNames(source("", "clients/ts/src/index.ts"))).toEqual([]);
});

test("unfinished work, machine paths and registry hosts are found", () => {
  // Joined here, so that this file does not break the rules itself.
  const words = (...parts: string[]): Source => source(parts.join(""));
  expect(textFaults(words("// TO", "DO later"))).toHaveLength(1);
  expect(textFaults(words("// TO", "DO(#12) later"))).toEqual([]);
  expect(textFaults(words("see /ro", "ot/file"))).toHaveLength(1);
  expect(textFaults(words("see https://example.com/home/page"))).toEqual([]);
  expect(textFaults(words("https://regis", "try.example.com/x"))).toHaveLength(1);
});

test("an item about a claim that is built elsewhere than by the fenced writer is found", () => {
  const text = 'outbox.control({ item: { case: "release", value: { claim } } });';
  const at = (path: string) => unfencedItems({ path, text });
  expect(at("services/executor/src/work/drain.ts")).toHaveLength(1);
  expect(at("services/executor/src/work/fenced-writer.ts")).toEqual([]);
  expect(at("services/scheduler/src/sessions/take.ts")).toEqual([]);
});
