import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DeadLetterState,
  type ListDeadLettersRequest,
  type RedriveDeadLettersRequest,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const ID = "019a8b3e-2222-7000-8000-000000000002";
const RUN = "019a8b3e-1111-7000-8000-000000000001";
const NEW_RUN = "019a8b3e-3333-7000-8000-000000000003";
const OPEN = {
  deadLetterId: ID,
  runId: RUN,
  workflowId: "orders",
  nodeId: "charge",
  iteration: 3,
  nodeType: "http",
  deliveries: 3,
  reason: "lease_expired",
  errorMessage: "the node lost 3 deliveries",
  state: DeadLetterState.OPEN,
  dieTime: timestampFromDate(new Date("2026-01-01T00:00:00Z")),
};
const cells = (text: string): string[] => text.split(/\s{2,}|\n/);

test("dead letters are listed with their run, node, reason of death and error; redriven ones with the new run (S0.57)", async () => {
  const asked: ListDeadLettersRequest[] = [];
  const { gateway, printed, pawl } = await setup({
    queues: {
      listDeadLetters(request) {
        asked.push(request);
        if (!request.states.includes(DeadLetterState.REDRIVEN))
          return { deadLetters: asked.length > 3 ? [] : [OPEN], nextPageToken: "next" };
        const state = DeadLetterState.REDRIVEN;
        return { deadLetters: [{ ...OPEN, state, redriveRunId: NEW_RUN }] };
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("dead-letter", "list", "--workflow", "orders", "--node-type", "http")).toBe(0);
  expect(asked[0]).toMatchObject({
    states: [DeadLetterState.OPEN],
    filter: { workflowId: "orders", nodeType: "http" },
  });
  expect(cells(printed.out)).toEqual(
    expect.arrayContaining([
      "DEAD LETTER",
      ID,
      "open",
      RUN,
      "charge[3]",
      "http",
      "2026-01-01T00:00:00.000Z",
      "the node lost 3 deliveries",
    ]),
  );
  expect(printed.out).toContain("More: pawl dead-letter list --page-token next");
  printed.out = "";
  expect(await pawl("dead-letter", "list", "--state", "redriven")).toBe(0);
  expect(cells(printed.out)).toEqual(expect.arrayContaining(["redriven", NEW_RUN]));
  printed.out = "";
  expect(await pawl("dead-letter", "list", "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({
    deadLetters: [{ deadLetterId: ID, state: "open", reason: "lease_expired", deliveries: 3 }],
    nextPageToken: "next",
  });
  expect(await pawl("dead-letter", "list", "--before", "2026-01-01T00:00:00Z")).toBe(0);
  expect(printed.out).toContain("No dead letters.");
  expect(await pawl("dead-letter", "list", "--before", "tomorrow-ish")).toBe(2);
  expect(await pawl("dead-letter", "list", "--state", "lost")).toBe(2);
  expect(asked).toHaveLength(4);
});

test("a preview says how many letters would be redriven and how many would be left, in both formats", async () => {
  const left = [{ reason: "run_live", count: 2 }];
  const { gateway, printed, pawl } = await setup({
    queues: { previewRedrive: () => ({ redriven: 3, runs: 2, left, firstIds: [ID] }) },
  });
  await using _ = gateway;
  expect(await pawl("dead-letter", "preview")).toBe(0);
  expect(printed.out).toContain(`3 would be redriven, as 2 new runs\n  ${ID}\n2 left: their runs`);
  printed.out = "";
  expect(await pawl("dead-letter", "preview", "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toEqual({ redriven: 3, runs: 2, left, firstIds: [ID] });
});

/** Redrives two a call. */
const slowly = (letterCount: number) => {
  const asked: RedriveDeadLettersRequest[] = [];
  const redriven: { deadLetterId: string; runId: string }[] = [];
  const redriveDeadLetters = (request: RedriveDeadLettersRequest) => {
    asked.push(request);
    for (let n = 0; n < 2 && redriven.length < letterCount; n++)
      redriven.push({ deadLetterId: `d${redriven.length}`, runId: `r${redriven.length}` });
    const left = [{ reason: "test_run", count: 1 }];
    return { redriven, remaining: letterCount - redriven.length, left };
  };
  return { asked, queues: { redriveDeadLetters } };
};

test("a redrive continues until nothing is left, and says how far it is and how it is resumed (S0.56)", async () => {
  const { asked, queues } = slowly(5);
  const { gateway, printed, pawl } = await setup({ queues });
  await using _ = gateway;
  expect(
    await pawl("dead-letter", "redrive", "--workflow", "orders", "--max-per-second", "5"),
  ).toBe(0);
  expect(asked).toHaveLength(3);
  expect(new Set(asked.map(({ requestId }) => requestId)).size).toBe(1);
  expect(asked[0]).toMatchObject({ filter: { workflowId: "orders" }, maxPerSecond: 5 });
  expect(printed.out.split("\n")).toEqual([
    ...[0, 1, 2, 3, 4].map((n) => `d${n} continues as run r${n}`),
    "5 redriven",
    "1 left: they are of test runs, whose graphs were not saved",
    "",
  ]);
  expect(printed.error).toBe(
    [2, 4]
      .map(
        (count) =>
          `${count} redriven, ${5 - count} to go; if this stops, continue with --request-id ${asked[0]?.requestId}\n`,
      )
      .join(""),
  );
});

test("a redrive in JSON prints one object for all calls; a redrive without a filter is refused before anything is sent", async () => {
  const { asked, queues } = slowly(3);
  const { gateway, printed, pawl } = await setup({ queues });
  await using _ = gateway;
  expect(await pawl("dead-letter", "redrive")).toBe(2);
  expect(printed.error).toContain("give --all for all that are open");
  expect(asked).toHaveLength(0);
  printed.out = "";
  expect(await pawl("dead-letter", "redrive", "--all", "--request-id", "mine", "-o", "json")).toBe(
    0,
  );
  expect(JSON.parse(printed.out)).toEqual({
    requestId: "mine",
    redriven: [0, 1, 2].map((n) => ({ deadLetterId: `d${n}`, runId: `r${n}` })),
    left: [{ reason: "test_run", count: 1 }],
    remaining: 0,
  });
});

test("a discard says how many it closed, and must name them", async () => {
  const { gateway, printed, pawl } = await setup({
    queues: { discardDeadLetters: () => ({ deadLetterIds: [ID] }) },
  });
  await using _ = gateway;
  expect(await pawl("dead-letter", "discard")).toBe(2);
  expect(await pawl("dead-letter", "discard", ID)).toBe(0);
  expect(await pawl("dead-letter", "discard", "--node-type", "http", "-o", "json")).toBe(0);
  expect(printed.out).toBe(`1 discarded\n{"deadLetterIds":["${ID}"]}\n`);
});
