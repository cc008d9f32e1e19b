import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type EnqueueCommandRequest,
  type ListCommandsRequest,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import { CommandState, CommandType } from "@pawl/proto/pawl/v1/queued_command_pb";
import { Decision } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const ID = "019a8b3e-2222-8000-8000-000000000002";
const RUN = "019a8b3e-1111-7000-8000-000000000001";
const DEAD = {
  commandId: ID,
  state: CommandState.DEAD_LETTER,
  type: CommandType.START,
  workflowId: "nightly-report",
  runId: ID,
  attempts: 3,
  maxAttempts: 3,
  errorMessage: "There is no workflow nightly-report.",
  createTime: timestampFromDate(new Date("2026-01-01T00:00:00Z")),
};
const utf8 = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

test("a start is enqueued with its input to the letter, its delay, priority, attempts and request id (S0.4)", async () => {
  const asked: EnqueueCommandRequest[] = [];
  const { gateway, printed, pawl } = await setup({
    queues: {
      enqueueCommand(request) {
        asked.push(request);
        return { command: { ...DEAD, state: CommandState.WAITING } };
      },
    },
  });
  await using _ = gateway;
  const flags = ["--input", '{"day": 1.0}', "--delay", "2h", "--priority=-5"];
  const more = ["--max-attempts", "7", "--request-id", "r1", "--run-id", RUN];
  expect(await pawl("command", "start", "nightly-report", ...flags, ...more)).toBe(0);
  expect(asked[0]).toMatchObject({
    ...{ type: CommandType.START, workflowId: "nightly-report", runId: RUN },
    ...{ priority: -5, maxAttempts: 7, requestId: "r1", delay: { seconds: 7_200n } },
  });
  expect(utf8(asked[0]?.inputJson)).toBe('{"day": 1.0}');
  expect(printed.out).toContain(`${ID} waiting\n`);
  expect(printed.out).toContain(`pawl command get ${ID}`);
  expect(await pawl("command", "start", "w", "--delay", "soon")).toBe(2);
  expect(await pawl("command", "start", "w", "--input", "{")).toBe(2);
  expect(asked).toHaveLength(1);
});

test("an answer is enqueued as a resume; another word than approve or reject is refused before anything is sent", async () => {
  const asked: EnqueueCommandRequest[] = [];
  const { gateway, pawl } = await setup({
    queues: {
      enqueueCommand(request) {
        asked.push(request);
        return { command: DEAD };
      },
    },
  });
  await using _ = gateway;
  const flags = ["--workflow", "orders", "--by", "ada", "--response", '{"amount": 5.0}'];
  expect(await pawl("command", "resume", RUN, "ask", "approve", ...flags)).toBe(0);
  expect(asked[0]).toMatchObject({
    ...{ type: CommandType.RESUME, workflowId: "orders", runId: RUN },
    answer: { nodeId: "ask", decision: Decision.APPROVE, decidedBy: "ada" },
  });
  expect(utf8(asked[0]?.answer?.responseJson)).toBe('{"amount": 5.0}');
  expect(await pawl("command", "resume", RUN, "ask", "maybe", "--workflow", "orders")).toBe(2);
  expect(asked).toHaveLength(1);
});

test("commands are listed by state, shown with their error, and fit into 80 columns (S0.12)", async () => {
  const asked: ListCommandsRequest[] = [];
  const { gateway, printed, pawl } = await setup(
    {
      queues: {
        getCommand: () => ({ command: { ...DEAD, startedRunId: RUN } }),
        listCommands(request) {
          asked.push(request);
          return { commands: [DEAD], nextPageToken: "next" };
        },
      },
    },
    { columns: 80 },
  );
  await using _ = gateway;
  expect(await pawl("command", "list", "--state", "dead_letter", "waiting")).toBe(0);
  expect(asked[0]?.states).toEqual([CommandState.DEAD_LETTER, CommandState.WAITING]);
  expect(printed.out).toContain("dead_letter");
  expect(printed.out).toContain("More: pawl command list --page-token next");
  for (const line of printed.out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  printed.out = "";
  expect(await pawl("command", "get", ID)).toBe(0);
  expect(printed.out).toContain("failures    3 of 3\n");
  expect(printed.out).toContain("There is no workflow nightly-report.");
  expect(printed.out).toContain(RUN);
  printed.out = "";
  expect(await pawl("command", "get", ID, "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({ state: "dead_letter", type: "start" });
  expect(await pawl("command", "list", "--state", "lost")).toBe(2);
});

test("given up commands are redriven or discarded by id or all at once, and never by mistake (S0.56)", async () => {
  const asked: string[] = [];
  const pages = [
    { commands: [DEAD, { ...DEAD, commandId: RUN }], nextPageToken: "two" },
    { commands: [{ ...DEAD, commandId: "third" }] },
  ];
  const change =
    (state: CommandState) =>
    ({ commandId }: { readonly commandId: string }) => {
      asked.push(commandId);
      return { command: { ...DEAD, commandId, state } };
    };
  const { gateway, printed, pawl } = await setup({
    queues: {
      listCommands: ({ pageToken }) => pages[pageToken === "two" ? 1 : 0] ?? {},
      redriveCommand: change(CommandState.WAITING),
      discardCommand: change(CommandState.DISCARDED),
      cancelCommand: change(CommandState.CANCELLED),
    },
  });
  await using _ = gateway;
  expect(await pawl("command", "redrive")).toBe(2);
  expect(printed.error).toContain("give --all");
  expect(asked).toEqual([]);
  expect(await pawl("command", "redrive", "--all")).toBe(0);
  expect(asked.splice(0)).toEqual([ID, RUN, "third"]);
  expect(printed.out).toBe(`${ID} waiting\n${RUN} waiting\nthird waiting\n3 redriven\n`);
  printed.out = "";
  expect(await pawl("command", "discard", ID, "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({ commands: [{ state: "discarded" }] });
  printed.out = "";
  expect(await pawl("command", "cancel", ID)).toBe(0);
  expect(printed.out).toBe(`${ID} cancelled\n`);
});
