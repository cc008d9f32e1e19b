// Every export has an importer.
import { expect, test } from "vitest";
import { needlessExports } from "./exports.ts";
import { isForeign, isTypeScript, trackedSources } from "./sources.ts";

/** Packages for users: their types appear in the declarations of programs that import them. */
const isPublished = (path: string): boolean => /^clients\/(ts|handler)\/src\//.test(path);
/** The tests' runner, the bundler and the kit's programs load these by their file's name. */
const isLoaded = (path: string): boolean =>
  /\.config\.ts$|^test\/support\/global-setup\.ts$|^test\/handler-kit\//.test(path);

test("no file exports a name that no other file imports", () => {
  const all = trackedSources((path) => isTypeScript(path) && !isForeign(path));
  expect(needlessExports(all, (path) => !isPublished(path) && !isLoaded(path))).toEqual([]);
});

test("an export without an importer is found, in every form", () => {
  const files = [
    {
      path: "a.ts",
      text: `export const used = 1; export const { left, right: other } = used; export type T = 1;
        export interface I {} export function f() {} class C {} export { C, C as D };`,
    },
    {
      path: "b.ts",
      text: 'import { used, type T } from "./a.ts"; export { f as g } from "./a.ts";',
    },
    { path: "c.ts", text: "export const whole = 1;" },
    { path: "d.ts", text: 'import * as c from "./c.ts"; import { g } from "./b.ts";' },
  ];
  expect(needlessExports(files, () => true)).toEqual([
    "a.ts: left",
    "a.ts: other",
    "a.ts: I",
    "a.ts: C",
    "a.ts: D",
  ]);
});
