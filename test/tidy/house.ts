// Counts the shape of the code: files and lines of each room, the longest files, files that name an event, rooms that import each other.
// `npm run house` prints it for docs/contributing/house.md.
import { facts } from "./docs/events.ts";
import { targetOf } from "./rooms.ts";
import { isForeign, isTest, isTypeScript, type Source } from "./sources.ts";
import { importsOf, parse } from "./syntax.ts";
import { BANNED, commentsOf } from "./words.ts";

/** Rooms in the order of the documents. */
const ROOMS = [
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
/**
 * What is new since the re-cut began at b37724a: handlers as processes of their own, the catalogue of their types, the languages, and
 * starts over a standing stream. A file that existed and grew for them counts to the engine.
 */
export const NEW_PRODUCT: readonly string[] = [
  "clients/cli/src/commands/handler",
  "clients/cli/src/commands/node-type.ts",
  "clients/cli/src/commands/saved-workflows.ts",
  "clients/go/",
  "clients/handler/",
  "clients/python/",
  "clients/ts/src/connection.ts",
  "clients/ts/src/failover.ts",
  "clients/ts/src/fetch-connection.ts",
  "clients/ts/src/node/",
  "clients/ts/src/node-types.ts",
  "clients/ts/src/submit.ts",
  "deploy/dev",
  "deploy/examples/handlers/",
  "deploy/gen-go.ts",
  "deploy/gen-python.ts",
  "deploy/generated.ts",
  "deploy/go-toolchain.ts",
  "deploy/go.ts",
  "deploy/init",
  "deploy/module-zip.ts",
  "deploy/oldest-node.ts",
  "deploy/pack-go.ts",
  "deploy/pack-handler.ts",
  "deploy/pack-python.ts",
  "deploy/polyglot/",
  "deploy/python.ts",
  "deploy/replay",
  "deploy/toolchain.ts",
  "services/core/src/data/handler-input.ts",
  "services/core/src/definition/authored-value.ts",
  "services/core/src/definition/input-rules.ts",
  "services/core/src/definition/item-types.ts",
  "services/core/src/definition/known-types.ts",
  "services/core/src/definition/missing-output.ts",
  "services/core/src/definition/template-paths.ts",
  "services/core/src/definition/type-rules.ts",
  "services/core/src/definition/value-types.ts",
  "services/core/src/explain/process.ts",
  "services/core/src/handler/",
  "services/core/src/name/type-name.ts",
  "services/core/src/schema/",
  "services/executor/src/host/",
  "services/executor/src/start-executor.ts",
  "services/executor/src/this-process.ts",
  "services/gateway/src/read/invocation.ts",
  "services/gateway/src/rpc/answer-box.ts",
  "services/gateway/src/rpc/node-type-service.ts",
  "services/gateway/src/rpc/submit-runs.ts",
  "services/gateway/src/watch/await-end.ts",
  "services/platform/src/db/migrations/0020_keep_node_types.sql",
  "services/platform/src/store/node-types/",
  "services/scheduler/src/inputs/run-input.ts",
  "services/scheduler/src/sessions/admit-types.ts",
];
const STORE = "services/platform/src/store/";
const LONGEST = 10;
/** The event that the review counted. */
const EXAMPLE_EVENT = "node.skipped";

/** One line of the report. */
interface Figure {
  readonly name: string;
  readonly value: string;
}

/** TypeScript, SQL, Python and Go. */
export const isCode = (path: string): boolean => /\.(ts|tsx|mts|mjs|sql|py|go)$/.test(path);
/** Also the tests of the other languages. */
const isAnyTest = (path: string): boolean => isTest(path) || /(^|\/)tests\/|_test\.go$/.test(path);
const isNew = ({ path }: Source): boolean => NEW_PRODUCT.some((start) => path.startsWith(start));
const linesOf = ({ text }: Source): number => text.trimEnd().split("\n").length;
const total = (sources: readonly Source[]): number =>
  sources.reduce((sum, source) => sum + linesOf(source), 0);
const count = (value: number): string => value.toLocaleString("en");

/** Every figure of a tree of sources. */
export function measureHouse(all: readonly Source[]): readonly Figure[] {
  const own = all.filter(({ path }) => isCode(path) && !isForeign(path));
  const source = own.filter(({ path }) => !isAnyTest(path));
  const tests = own.filter(({ path }) => isAnyTest(path));
  const added = source.filter(isNew);
  const rooms = ROOMS.map((room) => {
    const inside = (files: readonly Source[]): readonly Source[] =>
      files.filter(({ path }) => path.startsWith(room));
    const parts = [sizeOf(inside(source)), `tests ${sizeOf(inside(tests))}`];
    return { name: room, value: [...parts, `new ${sizeOf(inside(added))}`].join("; ") };
  });
  const store = source.filter(({ path }) => path.startsWith(STORE));
  return [
    { name: "all", value: `${sizeOf(source)}; tests ${sizeOf(tests)}` },
    { name: "new product", value: sizeOf(added) },
    { name: "all without new product", value: sizeOf(source.filter((each) => !isNew(each))) },
    ...rooms,
    { name: "store", value: sizeOf(store) },
    ...longest(source),
    ...readersOfEvents(source),
    ...cyclesOf(source),
    { name: "banned words in comments", value: count(bannedIn(source)) },
  ];
}

const sizeOf = (sources: readonly Source[]): string =>
  `${count(sources.length)} files, ${count(total(sources))} lines`;

function longest(sources: readonly Source[]): readonly Figure[] {
  const sorted = sources.toSorted((one, other) => linesOf(other) - linesOf(one));
  const names = sorted.slice(0, LONGEST).map((source) => `${source.path} ${linesOf(source)}`);
  const near = sources.filter((source) => linesOf(source) > 250).length;
  return [
    { name: "longest files", value: names.join(", ") },
    { name: "files above 250 lines", value: count(near) },
  ];
}

/** How many hand-written files outside of tests name an event type. */
function readersOfEvents(sources: readonly Source[]): readonly Figure[] {
  const readers = (type: string): number =>
    sources.filter(({ text }) => text.includes(`"${type}"`) || text.includes(`'${type}'`)).length;
  const counts = facts()
    .map(({ type }) => ({ type, files: readers(type) }))
    .toSorted((one, other) => other.files - one.files);
  const [most = { type: "", files: 0 }] = counts;
  return [
    { name: `files that name ${EXAMPLE_EVENT}`, value: count(readers(EXAMPLE_EVENT)) },
    { name: "files that name the most named event", value: `${most.files} (${most.type})` },
  ];
}

/** Rooms of one service that import each other, types included. */
function cyclesOf(sources: readonly Source[]): readonly Figure[] {
  const edges = new Set<string>();
  for (const source of sources.filter(({ path }) => isTypeScript(path))) {
    const from = roomOf(source.path);
    for (const specifier of importsOf(parse(source))) {
      const to = roomOf(targetOf(source.path, specifier));
      if (from !== undefined && to !== undefined && from !== to) edges.add(`${from} ${to}`);
    }
  }
  const pairs = [...edges]
    .map((edge) => edge.split(" "))
    .filter(([from = "", to = ""]) => from < to && edges.has(`${to} ${from}`))
    // Rooms of one service only: services never import each other.
    .filter(([from = "", to = ""]) => from.split("/")[0] === to.split("/")[0])
    .map(([from = "", to = ""]) => `${from} and ${to.split("/")[1]}`);
  return [{ name: "pairs of rooms that import each other", value: listed(pairs) }];
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? "0" : `${names.length}: ${names.toSorted().join(", ")}`;

/** `scheduler/tick` for a file in a folder of a service; files beside the folders compose them and count as no room. */
function roomOf(path: string): string | undefined {
  const [, service, room] = /^services\/(\w+)\/src\/([\w-]+)\//.exec(path) ?? [];
  return service === undefined || room === undefined ? undefined : `${service}/${room}`;
}

function bannedIn(sources: readonly Source[]): number {
  const words = new RegExp(`\\b(${BANNED.join("|")})\\b`, "gi");
  const read = sources.filter(({ path }) => !/\.(py|go)$/.test(path));
  const comments = read.flatMap((source) => commentsOf(source));
  return comments.reduce((sum, { text }) => sum + [...text.matchAll(words)].length, 0);
}
