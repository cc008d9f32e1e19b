// An error about a resource names it: clients find the id in google.rpc.ResourceInfo.
import { isReason, reasonRow, resourceKey } from "@pawl/core/fault/reason";
import { expect, test } from "vitest";
import { isTest, isTypeScript, type Source, trackedSources } from "./sources.ts";
import { parse, type Syntax, walk } from "./syntax.ts";

/** The id of a handler session is a secret. */
const SECRET = "SESSION_IN_USE";
/** google.rpc shows the resource of these codes. */
const SHOWN: ReadonlySet<string> = new Set(["NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION"]);

/** The errors of a file whose metadata is written beside them, and lacks the id of the resource of their reason. */
function unnamed(source: Source): string[] {
  const found: string[] = [];
  walk(parse(source), (node) => {
    const { callee, arguments: given } = node as Syntax & {
      readonly callee?: { readonly name?: string };
      readonly arguments?: readonly Syntax[];
    };
    if (node.type !== "NewExpression" || callee?.name !== "EngineError") return;
    const reason = given?.[0]?.["value"];
    if (typeof reason !== "string" || !isReason(reason) || reason === SECRET) return;
    const { code, resource } = reasonRow(reason);
    if (resource === undefined || !SHOWN.has(code)) return;
    const options = given?.[2];
    const text = options === undefined ? "" : source.text.slice(options.start, options.end);
    // Metadata that comes from elsewhere is not judged.
    if (/metadata\s*[,}]|\.\.\./.test(text) || text.includes(resourceKey(resource))) return;
    found.push(`${source.path}: ${reason} lacks ${resourceKey(resource)}`);
  });
  return found;
}

test("an error without the id of its resource is found", () => {
  const of = (metadata: string) =>
    unnamed({ path: "a.ts", text: `throw new EngineError("RUN_NOT_FOUND", "no", ${metadata});` });
  expect(of("{ metadata: { workflow_id: id } }")).toEqual(["a.ts: RUN_NOT_FOUND lacks run_id"]);
  expect(of("{ metadata: { run_id: id } }")).toEqual([]);
});

test("every error about a resource carries its id in its metadata", () => {
  const sources = trackedSources((path) => isTypeScript(path) && path.startsWith("services/"));
  expect(sources.filter(({ path }) => !isTest(path)).flatMap(unnamed)).toEqual([]);
});
