import { expect, test } from "vitest";
import { queuesPath, readRoute, runPath, runsPath, webhooksPath, workflowPath } from "./route.ts";

const reread = (path: string): ReturnType<typeof readRoute> => {
  const url = new URL(path, "http://localhost");
  return readRoute(url.pathname, url.search);
};

test("filters live in the address and come back from it", () => {
  const filter = { status: "failed", workflowId: "a.b-c", query: "a & b", pageToken: "x/y+z=" };
  expect(reread(runsPath(filter))).toEqual({ page: "runs", ...filter });
  expect(runsPath({})).toBe("/");
  const deliveries = { endpointId: "ops", state: "dead", pageToken: "x/y+z=" };
  expect(reread(webhooksPath(deliveries))).toEqual({ page: "webhooks", ...deliveries });
  expect(webhooksPath({})).toBe("/webhooks");
  const queues = { nodeType: "acme.charge@1", range: "7d" };
  expect(reread(queuesPath(queues))).toEqual({ page: "queues", ...queues });
  expect(queuesPath({})).toBe("/queues");
});

test("every page has an address of its own", () => {
  expect(reread(runPath("r1"))).toEqual({ page: "run", runId: "r1", nodeKey: "" });
  expect(reread(runPath("r1", "loop#2"))).toEqual({ page: "run", runId: "r1", nodeKey: "loop#2" });
  expect(reread("/workflows")).toEqual({ page: "workflows" });
  expect(reread("/approvals")).toEqual({ page: "approvals" });
  expect(reread("/approvals/x")).toEqual({ page: "lost", path: "/approvals/x" });
  expect(reread(workflowPath("a b"))).toEqual({ page: "workflow", workflowId: "a b" });
  expect(reread("/runs/a/b")).toEqual({ page: "lost", path: "/runs/a/b" });
  expect(readRoute("/runs/%", "")).toMatchObject({ page: "run", runId: "%" });
});
