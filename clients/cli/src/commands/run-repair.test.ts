import { RepairAction } from "@pawl/proto/pawl/v1/repair_pb";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import type { RepairRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-000000000001";
const NEW = "019a8b3e-2222-7000-8000-000000000002";
const run = { runId: NEW, status: RunStatus.RUNNING };
const node = { change: "none", changedFields: [], effects: [] };
const plan = {
  runId: RUN,
  digest: "d1",
  reusedFacts: 2,
  inputTokens: 7n,
  reservedTokens: 20n,
  reservedCostMicros: 500_000n,
  nodes: [
    { ...node, nodeId: "fetch", action: RepairAction.REUSE, eventId: 4n, reason: "completed" },
    {
      ...node,
      nodeId: "charge",
      action: RepairAction.RUN,
      reason: "its definition changed",
      change: "changed",
      changedFields: ["config"],
      effects: [{ effectClass: "at_most_once", committed: 1, begun: 0, kept: false }],
    },
  ],
  warnings: ["node charge: its at_most_once effects may happen a second time"],
};

async function scripted(columns?: number) {
  const asked: RepairRunRequest[] = [];
  const files = { "fixed.yaml": "id: a" };
  const made = await setup(
    {
      runs: {
        repairRun(request) {
          asked.push(request);
          return request.dryRun ? { plan } : { plan, run };
        },
        retryRun: () => ({ plan, run }),
      },
    },
    columns === undefined ? { files } : { columns, files },
  );
  return { ...made, asked };
}

test("a repair prints its plan within 80 columns and starts nothing without --yes (X28)", async () => {
  const { gateway, printed, pawl, asked } = await scripted(80);
  await using _ = gateway;
  expect(await pawl("run", "repair", RUN, "--from", "charge", "--definition", "fixed.yaml")).toBe(
    0,
  );
  expect(asked).toMatchObject([
    { runId: RUN, fromNodes: ["charge"], definition: { text: "id: a" }, dryRun: true },
  ]);
  for (const line of printed.out.trimEnd().split("\n"))
    if (!line.startsWith("warning")) expect(line.length).toBeLessThanOrEqual(80);
  expect(printed.out).toMatch(/fetch\s+reuse\s+4/);
  expect(printed.out).toMatch(/charge\s+run\s+changed/);
  expect(printed.out).toContain("1 at_most_once");
  expect(printed.out).toContain("what runs again took 7 tokens before");
  expect(printed.out).toContain("nodes that did not run before reserve 20 tokens and $0.50");
  expect(printed.error).toContain("Nothing was started. Add --yes, or --plan d1.");
});

test("with --yes the repair runs the plan that it printed; with --plan it runs that plan or none (X28)", async () => {
  const { gateway, printed, pawl, asked } = await scripted();
  await using _ = gateway;
  const set = ["--set-output", 'charge={"ok":true}', "--handle", "charge=paid", "--by", "Ada"];
  expect(await pawl("run", "repair", RUN, ...set, "--yes")).toBe(0);
  expect(printed.out).toContain(NEW);
  expect(asked[1]).toMatchObject({ planDigest: "d1", dryRun: false, by: "Ada" });
  const [output] = asked[1]?.outputs ?? [];
  expect([output?.nodeId, output?.handle, new TextDecoder().decode(output?.outputJson)]).toEqual([
    "charge",
    "paid",
    '{"ok":true}',
  ]);
  expect(await pawl("run", "repair", RUN, "--plan", "old")).toBe(0);
  expect(asked[3]).toMatchObject({ planDigest: "old", dryRun: false });
  expect(await pawl("run", "repair", RUN, "--set-output", "charge")).toBe(2);
  expect(await pawl("run", "repair", RUN, "--set-output", "charge={")).toBe(2);
});

test("a retry starts at once; a dry run prints the plan as JSON (X28)", async () => {
  const { gateway, printed, pawl, asked } = await scripted();
  await using _ = gateway;
  expect([await pawl("run", "retry", RUN), printed.error]).toEqual([0, ""]);
  expect(printed.out).toContain(NEW);
  printed.out = "";
  expect(await pawl("run", "retry", RUN, "--dry-run", "-o", "json")).toBe(0);
  expect(asked[0]?.dryRun).toBe(true);
  expect(JSON.parse(printed.out)).toMatchObject({
    digest: "d1",
    nodes: [{ nodeId: "fetch", action: "reuse", eventId: 4 }, { action: "run" }],
  });
});
