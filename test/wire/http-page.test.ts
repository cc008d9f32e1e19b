// Types the commands of docs/reference/http.md as printed, against a gateway with the workflow that the page names.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { graph, script } from "../flow/graph.ts";
import { ROOT } from "../tidy/sources.ts";
import { fencesOf } from "../tidy/docs/markdown.ts";
import { useStage } from "./stage.ts";

const run = promisify(execFile);
const PRINTED = "http://127.0.0.1:7400";
const page = readFileSync(`${ROOT}docs/reference/http.md`, "utf8");
const commands = fencesOf(page).filter(({ language }) => language === "sh");

const stage = useStage(undefined, async ({ door }) => {
  const greet = graph(["start > greet > end"], {
    greet: script("return { text: ctx.input.name };"),
  });
  const text = JSON.stringify(greet);
  await door("grpc-js").workflows.createWorkflow({ workflowId: "hello", definition: { text } });
});

/** The output of a command of the page, with what a reader fills in. */
async function typed(command: string, filled: Readonly<Record<string, string>>): Promise<string> {
  let line = command.replaceAll(PRINTED, stage().url);
  for (const [name, value] of Object.entries(filled)) line = line.replaceAll(`<${name}>`, value);
  const { stdout } = await run("bash", ["-c", line], { cwd: ROOT, timeout: 30_000 });
  return stdout;
}

test("the page of HTTP and gRPC works as printed: plain HTTP, gRPC by reflection, and both event streams (S1.54)", async () => {
  const [start = "", wait = "", grpc = "", events = "", thread = "", ...others] = commands.map(
    ({ text }) => text,
  );
  expect(others).toEqual([]);
  type Started = { readonly run: { readonly runId: string } };
  const { runId } = (JSON.parse(await typed(start, {})) as Started).run;
  const ended: unknown = JSON.parse(await typed(wait, { "run id": runId }));
  expect(ended).toMatchObject({ hasEnded: true });
  expect(JSON.stringify(ended)).toContain(`"text":"Ada"`);
  expect(JSON.parse(await typed(grpc, {}))).toMatchObject({ run: { workflowId: "hello" } });
  expect(await typed(events, { "run id": runId })).toMatch(/^event: run\.completed$/m);

  const { runs } = stage().door("grpc-js");
  const threadId = "http-page";
  const turn = await runs.startRun({ workflowId: "hello", threadId, createThread: true });
  // The printed stream stays open. The parameter of the page ends it.
  const ending = thread.trim().replace("/events", "/events?untilIdle=true");
  const seen = await typed(ending, { thread: threadId });
  expect(seen).toContain(`"runId":"${turn.run?.runId}"`);
});
