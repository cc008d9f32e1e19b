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
  "deploy/",
  "test/",
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

const isCode = (path: string): boolean => /\.(ts|tsx|mts|mjs|sql)$/.test(path);
const linesOf = ({ text }: Source): number => text.trimEnd().split("\n").length;
const total = (sources: readonly Source[]): number =>
  sources.reduce((sum, source) => sum + linesOf(source), 0);
const count = (value: number): string => value.toLocaleString("en");

/** Every figure of a tree of sources. */
export function measureHouse(all: readonly Source[]): readonly Figure[] {
  const own = all.filter(({ path }) => isCode(path) && !isForeign(path));
  const source = own.filter(({ path }) => !isTest(path));
  const tests = own.filter(({ path }) => isTest(path));
  const rooms = ROOMS.map((room) => {
    const inside = (files: readonly Source[]): readonly Source[] =>
      files.filter(({ path }) => path.startsWith(room));
    return { name: room, value: `${sizeOf(inside(source))}; tests ${sizeOf(inside(tests))}` };
  });
  const store = source.filter(({ path }) => path.startsWith(STORE));
  return [
    { name: "all", value: `${sizeOf(source)}; tests ${sizeOf(tests)}` },
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
  const comments = sources.flatMap((source) => commentsOf(source));
  return comments.reduce((sum, { text }) => sum + [...text.matchAll(words)].length, 0);
}
