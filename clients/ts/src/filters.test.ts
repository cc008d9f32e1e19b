import { createRouterTransport } from "@connectrpc/connect";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";
import { jsonBytes } from "./json.ts";

test("metadata are sent as JSON, and filters are kept by name", async () => {
  const asked: Record<string, unknown> = {};
  const note =
    <Answer>(name: string, answer: Answer) =>
    (request: unknown): Answer => {
      asked[name] = request;
      return answer;
    };
  const transport = createRouterTransport(({ service }) => {
    service(RunService, {
      startRun: note("start", { run: { runId: "r" } }),
      updateRunMetadata: note("update", { run: { runId: "r" } }),
      saveRunFilter: note("save", { runFilter: { name: "late", filter: "duration > 1h" } }),
      listRunFilters: note("list", { runFilters: [{ name: "late" }], nextPageToken: "t" }),
      deleteRunFilter: note("delete", {}),
      listRuns: note("runs", {}),
    });
  });
  const { runs } = createPawlClient({ transport });
  await runs.start("w", { metadata: { team: "billing" } });
  await runs.updateMetadata("r", { old: null });
  expect((await runs.saveFilter("late", "duration > 1h")).filter).toBe("duration > 1h");
  const page = await runs.filters({ pageSize: 5 });
  expect([page.runFilters.map(({ name }) => name), page.nextPageToken]).toEqual([["late"], "t"]);
  await runs.deleteFilter("late");
  await runs.list({ filter: "status = failed", savedFilter: "late" });
  expect(asked).toMatchObject({
    start: { metadataJson: jsonBytes({ team: "billing" }) },
    update: { metadataJson: jsonBytes({ old: null }) },
    save: { name: "late", filter: "duration > 1h" },
    list: { pageSize: 5 },
    delete: { name: "late" },
    runs: { filter: "status = failed", savedFilter: "late" },
  });
});
