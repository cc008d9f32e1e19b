import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { jsonTextBytes } from "@pawl/client";
import { RunStatus, WaitingReason } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { displayWidth } from "../render/spans.ts";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-00008918bc96";
const at = (eventId: number) => ({
  runId: RUN,
  status: RunStatus.WAITING,
  state: {
    ...{ workflowId: "talk", runId: RUN, goal: "sell the house by the lake ".repeat(9).trim() },
    ...{ status: eventId < 5 ? RunStatus.SCHEDULED : RunStatus.WAITING, maxIterations: 50 },
    ...{ currentNode: "ask", currentNodes: ["ask"], retries: { say: 2 }, eventId: BigInt(eventId) },
    ...{ waitingFor: WaitingReason.HUMAN_APPROVAL, waitingSince: timestampFromMs(1_000) },
    ...{ maxExecutionTimeMs: 3_600_000n, createdAt: timestampFromMs(0) },
    visitedNodes: ["start", "say", "ask"],
    supervisorHistory: [
      {
        ...{ nodeId: "lead", route: "research", next: "scholar", reason: "no notes" },
        ...{ eventId: 5n, at: timestampFromMs(0) },
      },
    ],
    memoryJson: jsonTextBytes(eventId < 5 ? "{}" : '{"price": 1.50}'),
  },
});
const RUNS = {
  runs: { getRun: (asked: { atEventId: bigint }) => ({ run: at(Number(asked.atEventId) || 9) }) },
};

test("run state shows every field that has a value, within 80 columns (S2.1, S2.35)", async () => {
  const { gateway, printed, pawl } = await setup(RUNS, { columns: 80 });
  await using _ = gateway;
  expect(await pawl("run", "state", RUN)).toBe(0);
  const lines = printed.out.trimEnd().split("\n");
  for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(80);
  expect(lines).toContain("event_id               9");
  expect(lines).toContain("status                 ◇ waiting");
  expect(lines).toContain("waiting_for            human_approval");
  expect(lines).toContain("waiting_since          1970-01-01T00:00:01.000Z");
  expect(lines).toContain("memory.price           1.50");
  expect(lines).toContain("retries.say            2");
  expect(lines).toContain("visited_nodes          start, say, ask");
  expect(lines).toContain("supervisor_history     lead → scholar (research): no notes, event 5");
  expect(printed.out).not.toContain("last_error");
  expect(printed.out.match(/sell\s+the\s+house/g)).toHaveLength(9);
});

test("run state as JSON has the names of the seed, and the spelling of the memory (S2.1)", async () => {
  const { gateway, printed, pawl } = await setup(RUNS);
  await using _ = gateway;
  expect(await pawl("run", "state", RUN, "--at", "4", "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({
    ...{ workflow_id: "talk", status: "scheduled", event_id: 4, memory: {}, max_iterations: 50 },
    ...{ max_execution_time_ms: 3_600_000, waiting_for: "human_approval" },
  });
});

test("run diff shows what changed between two events, and in the memory (S2.35)", async () => {
  const { gateway, printed, pawl } = await setup(RUNS, { columns: 80 });
  await using _ = gateway;
  expect(await pawl("run", "diff", RUN, "--from", "2", "--to", "7")).toBe(0);
  expect(printed.out.trimEnd().split("\n")).toEqual([
    "FIELD         AT 2       AT 7",
    "status        scheduled  waiting",
    "memory.price             1.50",
  ]);
});

test.each([
  ["state", "--at", "0"],
  ["state", "--at", "-3"],
  ["state", "--at", "soon"],
  ["diff", "--from", "1.5"],
])("run %s %s %s is refused before any call (S2.35)", async (verb, flag, value) => {
  const { gateway, printed, pawl } = await setup({});
  await using _ = gateway;
  expect(await pawl("run", verb, RUN, flag, value)).not.toBe(0);
  expect(printed.error).toMatch(/must be (at least 1|a whole number)/);
});
