import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { ArchiveService } from "@pawl/proto/pawl/v1/archive_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";

const ID = "019a8b3e-1111-7000-8000-000000000001";

test("archived runs are listed, read, exported and restored", async () => {
  const asked: Record<string, unknown> = {};
  const transport = createRouterTransport(({ service }) => {
    service(ArchiveService, {
      listArchivedRuns(request) {
        asked["list"] = request;
        return { archivedRuns: [{ run: { runId: ID } }], nextPageToken: "t" };
      },
      getArchivedRun: ({ runId }) => ({ archivedRun: { run: { runId }, lines: 9n } }),
      async *readArchivedRun() {
        yield { data: new TextEncoder().encode('{"record":') };
        yield { data: new TextEncoder().encode('"run"}\n') };
        throw new ConnectError("cut", Code.Unavailable);
      },
      async *exportRun({ runId }) {
        yield { data: new TextEncoder().encode(runId) };
      },
      restoreRun(request) {
        asked["restore"] = request;
        return { run: { runId: request.runId }, restoredRunIds: [request.runId] };
      },
    });
  });
  const { archive } = createPawlClient({ transport });
  const page = await archive.list({ month: "2026-06", filter: "status = failed", pageSize: 2 });
  expect([page.archivedRuns[0]?.run?.runId, page.nextPageToken]).toEqual([ID, "t"]);
  expect(asked["list"]).toMatchObject({ month: "2026-06", filter: "status = failed", pageSize: 2 });
  expect((await archive.get(ID)).lines).toBe(9n);
  const read: string[] = [];
  const reading = (async () => {
    for await (const piece of archive.read(ID)) read.push(new TextDecoder().decode(piece));
  })();
  await expect(reading).rejects.toMatchObject({ name: "PawlError" });
  expect(read.join("")).toBe('{"record":"run"}\n');
  for await (const piece of archive.exportRun(ID)) expect(new TextDecoder().decode(piece)).toBe(ID);
  expect((await archive.restore(ID, { requestId: "one" })).restoredRunIds).toEqual([ID]);
  expect(asked["restore"]).toMatchObject({ runId: ID, requestId: "one" });
});
