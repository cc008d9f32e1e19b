// The code base checks itself: the rules of test/tidy/rules.ts on every tracked file.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import {
  defaultExports,
  emptyNames,
  longFile,
  longFunctions,
  LONG_FILES,
  manyParameters,
  manyPositions,
  silentSuppressions,
  textFaults,
  timers,
  titleFaults,
  unfencedItems,
  unseeded,
} from "./rules.ts";
import { isForeign, isTest, isTypeScript, ROOT, type Source, trackedSources } from "./sources.ts";

const texts = trackedSources((path) => !isForeign(path));
const code = texts.filter(({ path }) => isTypeScript(path) || path.endsWith(".mjs"));
const typed = texts.filter(({ path }) => isTypeScript(path));
const tests = typed.filter(({ path }) => isTest(path));

/** Not tests of behaviour: the poller itself, loads whose duration is the point, faults that last a while, and deadlines of the kit. */
const mayUseTimers = (path: string): boolean =>
  path === "test/support/until.ts" ||
  /^test\/(bench|chaos|handler-faults|handler-kit)\/.*(?<!\.test)\.ts$/.test(path);

const isConfig = (path: string): boolean => /(^|\/)[a-z]+\.config\.ts$/.test(path);

/** The rules that read syntax, and the files that each holds for. */
const SYNTAX_RULES = new Map<(source: Source) => string[], (path: string) => boolean>([
  [longFunctions, () => true],
  [manyParameters, () => true],
  [timers, (path) => isTest(path) && !mayUseTimers(path)],
  [titleFaults, isTest],
  [defaultExports, (path) => !isConfig(path)],
]);
const breaches = new Map([...SYNTAX_RULES.keys()].map((rule) => [rule, [] as string[]]));

// File by file, so that each is parsed once.
beforeAll(() => {
  for (const source of typed)
    for (const [rule, holds] of SYNTAX_RULES)
      if (holds(source.path)) breaches.get(rule)?.push(...rule(source));
});

const ROOMS_WITH_README = [
  "",
  "proto/",
  "services/core/",
  "services/platform/",
  "services/scheduler/",
  "services/executor/",
  "services/gateway/",
  "clients/ts/",
  "clients/cli/",
  "clients/web/",
  "clients/handler/",
  "clients/python/",
  "clients/go/",
  "deploy/",
  "test/",
];

test("there is code to check", () => {
  expect(code.length).toBeGreaterThan(20);
});

test("no file is longer than 300 lines", () => {
  expect(code.flatMap(longFile)).toEqual([]);
});

test("no function is longer than 70 lines", () => {
  expect(breaches.get(longFunctions)).toEqual([]);
});

test("the style page lists every file that may be longer, with its reason", () => {
  const page = readFileSync(join(ROOT, "docs/contributing/style.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([^`]+\.ts)`\s+\| (\S.{20,}) \|$/gm)].map(
    ([, path = ""]) => path,
  );
  expect(rows.toSorted()).toEqual([...LONG_FILES].toSorted());
  // A file that became short is no exception any more.
  const long = code.filter(({ text }) => text.trimEnd().split("\n").length > 300);
  expect(long.map(({ path }) => path).toSorted()).toEqual([...LONG_FILES].toSorted());
});

test("no file in Python is longer than 600 lines, and no file in Go longer than 400", () => {
  const isOwn = (path: string) => /^clients\/(python|go)\//.test(path) && !/\/_?gen\//.test(path);
  const long = texts.filter(({ path, text }) => {
    const lines = text.trimEnd().split("\n").length;
    return (
      isOwn(path) &&
      ((path.endsWith(".py") && lines > 600) || (path.endsWith(".go") && lines > 400))
    );
  });
  expect(long.map(({ path }) => path)).toEqual([]);
});

test("no function has more than eight positional parameters", () => {
  expect(breaches.get(manyParameters)).toEqual([]);
});

test("no SQL takes more than a dozen values by position", () => {
  const sql = texts.filter(({ path }) => /\.(ts|tsx|mjs|sql|py|go)$/.test(path));
  expect(sql.flatMap(manyPositions)).toEqual([]);
});

test("every suppression of the linter has its reason", () => {
  const comments = typed.filter(({ path }) => !path.startsWith("test/tidy/"));
  expect(comments.flatMap(silentSuppressions)).toEqual([]);
});

test("tests wait on something and never sleep", () => {
  expect(breaches.get(timers)).toEqual([]);
});

test("random values in a test are the same every time", () => {
  expect(tests.flatMap(unseeded)).toEqual([]);
});

test("test titles are unique in their file, state behaviour and hide nothing", () => {
  expect(breaches.get(titleFaults)).toEqual([]);
});

test("exports have names", () => {
  expect(breaches.get(defaultExports)).toEqual([]);
});

test("an executor says nothing about a task but through its fenced writer (S0.45)", () => {
  const built = typed.filter(({ path }) => !isTest(path)).flatMap(unfencedItems);
  expect(built).toEqual([]);
});

test("file names say what is inside", () => {
  expect(typed.flatMap(emptyNames)).toEqual([]);
});

test("nothing is left unfinished, and nothing names a machine or a registry", () => {
  expect(texts.flatMap(textFaults)).toEqual([]);
});

test("every room has a README that opens with its purpose", () => {
  const silent = ROOMS_WITH_README.filter((room) => {
    const file = join(ROOT, room, "README.md");
    if (!existsSync(file)) return true;
    const [heading = "", purpose = ""] = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "");
    return !heading.startsWith("# ") || !/^\w.{20,}/.test(purpose);
  });
  expect(silent.map((room) => `${room}README.md`)).toEqual([]);
});
