// Every link of every document leads to a file that is tracked, and to a heading that is there.
import { posix } from "node:path";
import { expect, test } from "vitest";
import { trackedPaths, trackedSources } from "../sources.ts";
import { isClean } from "../clean-words.ts";
import { anchorsOf, inlineCodeOf, linksOf } from "./markdown.ts";

const documents = trackedSources((path) => path.endsWith(".md"));
const anchors = new Map(documents.map(({ path, text }) => [path, anchorsOf(text)]));
const paths = new Set(trackedPaths());
const folders = new Set(
  [...paths].flatMap((path) =>
    path.split("/").map((_, end, parts) => parts.slice(0, end).join("/")),
  ),
);

/** The fault of a link, or nothing. */
function faultOf(path: string, link: string): string | undefined {
  if (/^(https?|mailto):/.test(link)) return undefined;
  const [target = "", anchor] = link.split("#");
  const resolved =
    target === "" ? path : posix.join(posix.dirname(path), target).replace(/\/$/, "");
  const isFolder = folders.has(resolved);
  if (!paths.has(resolved) && !isFolder) return `${path}: ${link}: no such file`;
  if (anchor === undefined) return undefined;
  const page = isFolder ? `${resolved}/README.md` : resolved;
  // A line of a source file, as GitHub shows it.
  if (!page.endsWith(".md")) return /^L\d+(-L\d+)?$/.test(anchor) ? undefined : `${path}: ${link}`;
  return anchors.get(page)?.has(anchor) === true ? undefined : `${path}: ${link}: no such heading`;
}

test("every link of a document leads to a file and a heading that exist", () => {
  const faults = documents.flatMap(({ path, text }) =>
    linksOf(text).flatMap((link) => faultOf(path, link) ?? []),
  );
  expect(faults).toEqual([]);
});

test("links and headings are seen", () => {
  expect(documents.flatMap(({ text }) => linksOf(text)).length).toBeGreaterThan(100);
  expect(linksOf("[a](b.md#c) `[no](code)` ![p](q.png)\n\n```md\n[no](fence)\n```")).toEqual([
    "b.md#c",
    "q.png",
  ]);
  expect([...anchorsOf("# A `b.c` — d\n## A\n## A\n```\n# no\n```")]).toEqual([
    "a-bc--d",
    "a",
    "a-1",
  ]);
  expect(faultOf("README.md", "docs/none.md")).toBeDefined();
  expect(faultOf("README.md", "CONTRIBUTING.md#no-such-heading")).toBeDefined();
  expect(faultOf("docs/README.md", "../CONTRIBUTING.md#commands")).toBeUndefined();
});

test("every path that a clean document names exists", () => {
  const named = documents
    .filter(({ path }) => isClean(path))
    .flatMap(({ path, text }) =>
      inlineCodeOf(text)
        .filter(({ text: code }) =>
          /^(services|clients|deploy|test|proto|docs)\/[\w./-]+$/.test(code),
        )
        .map(({ text: code, line }) => ({ at: `${path}:${line}`, code: code.replace(/\/$/, "") })),
    );
  const missing = named.filter(({ code }) => !paths.has(code) && !folders.has(code));
  expect(missing).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});

test("every page of docs is reached from its index", () => {
  const reached = new Set(["docs/README.md"]);
  for (const path of reached) {
    const page = documents.find((document) => document.path === path);
    for (const link of linksOf(page?.text ?? "")) {
      const [target = ""] = link.split("#");
      const resolved = posix.join(posix.dirname(path), target);
      if (resolved.startsWith("docs/") && anchors.has(resolved)) reached.add(resolved);
    }
  }
  const pages = documents.map(({ path }) => path).filter((path) => path.startsWith("docs/"));
  expect(pages.filter((path) => !reached.has(path))).toEqual([]);
});
