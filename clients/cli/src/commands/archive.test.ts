import { stat } from "node:fs/promises";
import { Code } from "@connectrpc/connect";
import { scriptedFailure } from "@pawl/client/scripted-gateway";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const ID = "019a8b3e-1111-7000-8000-000000000001";
const CHILD = "019a8b3e-1111-7000-8000-000000000002";

test("archived runs are listed, shown and printed as lines, and a run is exported", async () => {
  const run = { runId: ID, workflowId: "greet", status: RunStatus.FAILED };
  const { gateway, printed, pawl } = await setup({
    archive: {
      listArchivedRuns: ({ month }) => ({ archivedRuns: [{ run }], nextPageToken: month }),
      getArchivedRun: () => ({
        archivedRun: { run, lines: 7n, sha256: "ab", counts: [{ record: "event", count: 5 }] },
      }),
      async *readArchivedRun() {
        yield { data: new TextEncoder().encode("é").subarray(0, 1) };
        yield { data: new TextEncoder().encode("é\n").subarray(1) };
      },
      async *exportRun({ runId }) {
        yield { data: new TextEncoder().encode(`{"run_id":"${runId}"}\n`) };
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("archive", "list", "--month", "2026-06")).toBe(0);
  expect(printed.out).toMatch(/greet\s+failed/);
  expect(printed.out).toContain("pawl archive list --month 2026-06 --page-token 2026-06");
  expect(await pawl("archive", "get", ID)).toBe(0);
  expect(printed.out).toMatch(/records event\s+5/);
  expect(await pawl("archive", "get", ID, "--ndjson")).toBe(0);
  expect(printed.out).toMatch(/é\n$/);
  expect(await pawl("run", "export", ID)).toBe(0);
  expect(printed.out).toContain(`{"run_id":"${ID}"}`);
});

test("a file is printed no faster than its reader takes it", async () => {
  const steps: string[] = [];
  const drain = async () => {
    steps.push(`full after ${printed.out}`);
    await stat(".");
    steps.push(`room after ${printed.out}`);
  };
  const { gateway, printed, pawl } = await setup(
    {
      archive: {
        async *readArchivedRun() {
          for (const text of ["a", "b"]) yield { data: new TextEncoder().encode(text) };
        },
      },
    },
    { drain },
  );
  await using _ = gateway;
  expect(await pawl("archive", "get", ID, "--ndjson")).toBe(0);
  expect(steps).toEqual(["full after a", "room after a", "full after ab", "room after ab"]);
});

test("a run that is refused does not end the restore of the others; exit code 1 reports it", async () => {
  const { gateway, printed, pawl } = await setup({
    archive: {
      listArchivedRuns: () => ({ archivedRuns: [ID, CHILD].map((runId) => ({ run: { runId } })) }),
      restoreRun: ({ runId }) => {
        if (runId === CHILD) return { restoredRunIds: [CHILD] };
        throw scriptedFailure(Code.AlreadyExists, "ARCHIVE_CONFLICT", "another log");
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("archive", "restore", "--month", "2026-06")).toBe(1);
  expect(printed.error).toContain(`${ID}: ARCHIVE_CONFLICT: another log`);
  expect(printed.out).toContain(`${CHILD}: restored`);
});

test("one run is restored, or all of a selection over its pages; a missing child run is exit code 1", async () => {
  const asked: string[] = [];
  const { gateway, printed, pawl } = await setup({
    archive: {
      listArchivedRuns: ({ pageToken }) => ({
        archivedRuns: [{ run: { runId: pageToken === "" ? ID : CHILD } }],
        nextPageToken: pageToken === "" ? "next" : "",
      }),
      restoreRun: ({ runId }) => {
        asked.push(runId);
        return {
          restoredRunIds: runId === ID ? [ID] : [],
          missingRunIds: asked.length > 2 ? ["lost"] : [],
        };
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("archive", "restore", "--month", "2026-06")).toBe(0);
  expect(asked).toEqual([ID, CHILD]);
  expect(printed.out).toContain(`${ID}: restored`);
  expect(printed.out).toContain(`${CHILD}: the database has it already`);
  expect(await pawl("archive", "restore", ID)).toBe(1);
  expect(printed.out).toContain("lost: a child run that the archive does not have");
  expect(await pawl("archive", "restore")).toBe(2);
  expect(await pawl("archive", "restore", ID, "--filter", "status = failed")).toBe(2);
});
