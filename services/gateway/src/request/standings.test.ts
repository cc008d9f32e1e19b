import { startGrpcServer } from "@pawl/platform/rpc/grpc-server";
import { serve } from "@pawl/platform/rpc/implementation";
import { StandingService } from "@pawl/proto/pawl/command/v1/command_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { connectStandings } from "./standings.ts";

/** A scheduler that answers with its name, or does not know the question. */
async function startScheduler(name?: string): Promise<string> {
  const standing = serve(StandingService, {
    getStanding: async ({ runId }) => ({ storeFailure: `${name} ${runId}` }),
  });
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: name === undefined ? [] : [standing],
    onInternal: () => {},
  });
  onTestFinished(() => server.stop(0));
  return `127.0.0.1:${server.port}`;
}

test("every scheduler of a list is asked, and those that cannot answer are left out", async () => {
  const [first, second, old] = [
    await startScheduler("first"),
    await startScheduler("second"),
    await startScheduler(),
  ];
  // No server listens at port 1.
  const standings = connectStandings([first, second, old, "127.0.0.1:1"].join(","));
  onTestFinished(() => standings.close());
  const told = (await standings.ask("r")).map(({ storeFailure }) => storeFailure);
  expect(told.toSorted()).toEqual(["first r", "second r"]);
});
