// Handlers of a Go process in a real executor. The assertions are in clients/go/pawl/handlers_flow_test.go.
import { join } from "node:path";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { expect, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import { goOrSkip } from "../support/go.ts";
import { ROOT } from "../tidy/sources.ts";

test("handlers of a Go process stream, make effects once, are cancelled and survive a panic", async (context) => {
  const go = goOrSkip(context);
  const port = String(await freePort());
  await using cluster = await startCluster({ envOf: { executor: { PAWL_HANDLER_PORT: port } } });
  const args = ["test", "-count=1", "-v", "-run", "^TestHandlersFlow$", "./pawl"];
  const output = await go(join(ROOT, "clients", "go"), args, {
    PAWL_TEST_GATEWAY: new URL(cluster.url).host,
    PAWL_TEST_HANDLER_HOST: `${LOOPBACK}:${port}`,
  });
  expect(output).toContain("--- PASS: TestHandlersFlow");
}, 180_000);
