import { Code } from "@connectrpc/connect";
import { scriptedFailure } from "@pawl/client/scripted-gateway";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-000000000001";

test("runs are listed by a filter and a kept filter, started with metadata, and given other metadata (S4.23)", async () => {
  const asked: Record<string, unknown> = {};
  const { gateway, printed, pawl } = await setup({
    runs: {
      listRuns(request) {
        asked["list"] = request;
        return {};
      },
      startRun(request) {
        asked["start"] = JSON.parse(Buffer.from(request.metadataJson).toString());
        return { run: { runId: RUN } };
      },
      updateRunMetadata(request) {
        asked["update"] = JSON.parse(Buffer.from(request.metadataJson).toString());
        return { run: { runId: RUN, metadataJson: Buffer.from('{"team":"shipping"}') } };
      },
    },
  });
  await using _ = gateway;
  const filter = 'metadata.team = "billing"';
  expect(await pawl("run", "list", "--filter", filter, "--saved", "late")).toBe(0);
  expect(asked["list"]).toMatchObject({ filter, savedFilter: "late" });
  const pairs = ["--metadata", "team=billing", "--metadata", 'customer={"id":7}'];
  expect(await pawl("run", "start", "w", "--input", "{}", ...pairs)).toBe(0);
  expect(asked["start"]).toEqual({ team: "billing", customer: { id: 7 } });
  expect(await pawl("run", "start", "w", "--input", "{}", "--metadata", "team")).toBe(2);
  expect(printed.error).toContain("write metadata as key=value");
  expect(await pawl("run", "metadata", RUN, '{"customer":null}')).toBe(0);
  expect(asked["update"]).toEqual({ customer: null });
  expect(printed.out).toContain('{"team":"shipping"}');
});

test("filters are kept, listed and deleted by name; a fault is shown with its place", async () => {
  const { gateway, printed, pawl } = await setup({
    runs: {
      saveRunFilter({ name, filter }) {
        if (filter === "oops")
          throw scriptedFailure(
            Code.InvalidArgument,
            "FILTER_INVALID",
            "filter: line 1, column 5: expected",
          );
        return { runFilter: { name, filter } };
      },
      listRunFilters: () => ({ runFilters: [{ name: "late", filter: "duration > 1h" }] }),
      deleteRunFilter: () => ({}),
    },
  });
  await using _ = gateway;
  expect(await pawl("filter", "save", "late", "duration > 1h")).toBe(0);
  expect(printed.out).toContain("pawl run list --saved late");
  expect(await pawl("filter", "save", "late", "oops")).toBe(3);
  expect(printed.error).toContain("line 1, column 5");
  expect(await pawl("filter", "list")).toBe(0);
  expect(printed.out).toContain("duration > 1h");
  expect(await pawl("filter", "delete", "late")).toBe(0);
  expect(printed.out).toContain("late is deleted");
});
