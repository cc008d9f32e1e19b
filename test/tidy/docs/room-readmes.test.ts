// A README of a service names every folder of the service, once, and no other.
import { expect, test } from "vitest";
import { trackedPaths, trackedSources } from "../sources.ts";

const SERVICES = ["core", "platform", "scheduler", "executor", "gateway"];

test.each(SERVICES)("the README of %s lists its rooms", (service) => {
  const [readme] = trackedSources((path) => path === `services/${service}/README.md`);
  const listed = [...(readme?.text ?? "").matchAll(/^\| `([\w-]+)\/?` /gm)].map(
    ([, room = ""]) => room,
  );
  const source = `services/${service}/src/`;
  const rooms = trackedPaths((path) => path.startsWith(source))
    .map((path) => path.slice(source.length).split("/"))
    .flatMap(([room = "", file]) => (file === undefined ? [] : [room]));
  expect(listed.toSorted()).toEqual([...new Set(rooms)].toSorted());
});

test("the map of the code has at most 12 KB, and the README of a room at most a page", () => {
  const pages = trackedSources((path) => /^(ARCHITECTURE|.+\/README)\.md$/.test(path));
  // The indexes of documents and decisions grow with what they list.
  const rooms = pages.filter(({ path }) => !/^(docs|services\/decisions)\//.test(path));
  const long = rooms.filter(({ path, text }) => {
    const bytes = Buffer.byteLength(text);
    return bytes > (path === "ARCHITECTURE.md" ? 12 * 1024 : 4 * 1024);
  });
  expect(long.map(({ path }) => path)).toEqual([]);
  expect(rooms.length).toBeGreaterThan(10);
});
