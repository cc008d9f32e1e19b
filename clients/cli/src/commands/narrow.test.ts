// The tables of a terminal of 80 columns. A user can type every shown id back.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import { FailureClass, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { displayWidth } from "../render/spans.ts";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-00008918bc96";
const OTHER = "019a8b3e-2222-7000-8000-0000aaaabc96";
const NEWEST = "019a9fff-3333-7000-8000-0000bbbbbbbb";
const ERROR = "parse: js_error: Cannot read properties of undefined".padEnd(1_900, "!");
const FAILED = {
  runId: RUN,
  workflowId: "research-and-summarise",
  workflowVersion: 1,
  status: RunStatus.FAILED,
  errorMessage: ERROR,
  failureClass: FailureClass.RETRIABLE,
  createTime: timestampFromMs(-200_000),
  endTime: timestampFromMs(-198_800),
};

const LISTED = { runs: { listRuns: () => ({ runs: [FAILED] }) } };

test("a list of runs fits 80 columns with its errors", async () => {
  const { gateway, printed, pawl } = await setup(LISTED, { columns: 80 });
  await using _ = gateway;
  expect(await pawl("run", "list")).toBe(0);
  const [head = "", line = ""] = printed.out.split("\n");
  expect(head).toMatch(/^RUN +WORKFLOW +STATUS +AGO +TOOK +ERROR$/);
  expect(line).toMatch(
    /^8918bc96 {2}research-and-summ\S*… {2}✖ failed {2}3m20s {2}1\.2s {2}\[retriable\] parse: /,
  );
  expect(displayWidth(line)).toBeLessThanOrEqual(80);
});

test("a list of runs is cut in a pipe too, with whole ids", async () => {
  const { gateway, printed, pawl } = await setup(LISTED);
  await using _ = gateway;
  expect(await pawl("run", "list")).toBe(0);
  expect(printed.out).toContain(RUN);
  expect(printed.out.length).toBeLessThan(400);
});

test("one run is shown with its whole error, wrapped to the terminal", async () => {
  const { gateway, printed, pawl } = await setup(
    { runs: { getRun: () => ({ run: { ...FAILED, errorMessage: "so it goes ".repeat(30) } }) } },
    { columns: 80 },
  );
  await using _ = gateway;
  expect(await pawl("run", "get", RUN)).toBe(0);
  expect(printed.out.match(/so\s+it\s+goes/g)).toHaveLength(30);
  for (const line of printed.out.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(80);
});

test("a list of approvals shows the question first at 80 columns, and a short id last", async () => {
  const approval = {
    approvalId: "019a8b3e-3333-7000-8000-00000badcafe",
    runId: RUN,
    workflowId: "refund-with-approval",
    nodeId: "ask",
    message: "Refund 480 EUR to Ada Lovelace?",
    state: ApprovalState.OPEN,
    deadlineTime: timestampFromMs(3_600_000),
  };
  const answered: string[] = [];
  const { gateway, printed, pawl } = await setup(
    {
      approvals: {
        listApprovals: () => ({ approvals: [approval] }),
        approveApproval({ approvalId }) {
          answered.push(approvalId);
          return { approval: { ...approval, state: ApprovalState.APPROVED } };
        },
      },
    },
    { columns: 80 },
  );
  await using _ = gateway;
  expect(await pawl("approval", "list")).toBe(0);
  const [, line = ""] = printed.out.split("\n");
  expect(line).toMatch(/^Refund 480 EUR to Ada.* open {3}in 1h00m .*0badcafe$/);
  expect(displayWidth(line)).toBeLessThanOrEqual(80);
  expect(await pawl("approval", "approve", "0badcafe")).toBe(0);
  expect(answered).toEqual([approval.approvalId]);
});

test("a piece of a run id is enough where it fits one run, however many are newer", async () => {
  const asked: string[] = [];
  const finds = (runId: string, query: string): boolean =>
    runId.startsWith(query) || runId.slice(-8) === query;
  const { gateway, printed, pawl } = await setup({
    runs: {
      // The newest of all runs never end; a search finds runs by their workflow too.
      listRuns({ query: asTyped, pageToken }) {
        const query = asTyped.toLowerCase();
        if (query === "") return { runs: [{ runId: NEWEST }], nextPageToken: `${pageToken}+` };
        const runs = [FAILED, { runId: OTHER }].filter(({ runId }) => finds(runId, query));
        return { runs: [{ runId: NEWEST, workflowId: query }, ...runs] };
      },
      getRun({ runId }) {
        asked.push(runId);
        return { run: FAILED };
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("run", "get", "8918bc96")).toBe(0);
  expect(await pawl("run", "get", "aaaabc96")).toBe(0);
  expect(await pawl("run", "get", "019A8B3E-1111")).toBe(0);
  expect(await pawl("run", "get", "8000-0000aaaabc96")).toBe(0);
  expect(asked).toEqual([RUN, OTHER, RUN, OTHER]);
  expect(await pawl("run", "get", "019a8b3e")).toBe(2);
  expect(printed.error).toContain("019a8b3e fits 2 runs");
  expect(printed.error).toContain(OTHER);
  expect(await pawl("run", "get", "bc96")).toBe(2);
  expect(printed.error).toContain("bc96. Of its end give the last 8 digits.");
  expect(await pawl("run", "get", "ffffffff")).toBe(2);
  expect(printed.error).toContain("no run has an id that begins or ends with ffffffff");
  // What cannot be a piece of an id is the server's to refuse.
  expect(await pawl("run", "get", "nonsense")).toBe(0);
  expect(asked.at(-1)).toBe("nonsense");
});

test("an unknown status is answered with the known words; timed_out and timeout mean the same", async () => {
  const asked: RunStatus[][] = [];
  const { gateway, printed, pawl } = await setup({
    runs: { listRuns: ({ statuses }) => (asked.push(statuses), {}) },
    approvals: { listApprovals: () => ({}) },
  });
  await using _ = gateway;
  expect(await pawl("run", "list", "--status", "bogus")).toBe(2);
  expect(printed.error).toMatch(/--status bogus: use one of .*running.*completed.*timeout/);
  expect(await pawl("run", "list", "--status", "timed_out", "timeout")).toBe(0);
  expect(asked).toEqual([[RunStatus.TIMEOUT, RunStatus.TIMEOUT]]);
  expect(await pawl("approval", "list", "--state", "bogus")).toBe(2);
  expect(printed.error).toMatch(/--state bogus: use one of open, /);
  expect(await pawl("approval", "list", "--state", "timeout")).toBe(0);
});

test("help has examples as this command is called, and names the shared flags once", async () => {
  const { gateway, printed, pawl } = await setup({});
  await using _ = gateway;
  expect(await pawl("run", "start", "--help")).toBe(0);
  expect(printed.out).toContain("pawl run start order-review --sample --wait");
  expect(printed.out.match(/--address/g)).toHaveLength(1);
  expect(printed.out).toContain("Start a run of a saved workflow");
});
