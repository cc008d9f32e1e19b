import { createRouterTransport } from "@connectrpc/connect";
import { NodeTypeService } from "@pawl/proto/pawl/v1/node_type_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";

test("node types come by page, and one by one with their schemas; executors come in one list", async () => {
  const asked: string[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(NodeTypeService, {
      listNodeTypes: ({ pageSize, pageToken }) => {
        asked.push(`${pageSize} ${pageToken}`);
        return { nodeTypes: [{ type: "acme.price" }], nextPageToken: "next" };
      },
      getNodeType: ({ type }) => ({ nodeType: { type, inputSchema: "true" } }),
      listExecutors: () => ({ executors: [{ processName: "pricing" }] }),
    });
  });
  const { nodeTypes, executors } = createPawlClient({ transport });
  const page = await nodeTypes.list({ pageSize: 7, pageToken: "here" });
  expect([page.nodeTypes[0]?.type, page.nextPageToken, asked]).toEqual([
    "acme.price",
    "next",
    ["7 here"],
  ]);
  expect(await nodeTypes.get("acme.price")).toMatchObject({ inputSchema: "true" });
  expect(await executors.list()).toMatchObject([{ processName: "pricing" }]);
});
