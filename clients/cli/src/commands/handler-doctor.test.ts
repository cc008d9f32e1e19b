// pawl handler doctor against a scripted gateway and a scripted handler port. It costs a second.
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { HandlerService, SessionState } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const PROCESS = {
  ...{ name: "pricing", language: "python 3.12", sdk: "pawl-sdk 0.1.0", build: "7f3a" },
  ...{ types: ["acme.price"], state: SessionState.OPEN, slots: 4, busy: 1, roundTripUs: 1_500n },
};

/** A handler port with these sessions; it wants the token `secret`. */
async function handlerPort(...sessions: readonly object[]): Promise<string> {
  const open = new Set<ServerHttp2Session>();
  const server: Http2Server = createServer(
    connectNodeAdapter({
      routes: (router) =>
        router.service(HandlerService, {
          listSessions: (_, { requestHeader }) => {
            if (requestHeader.get("authorization") !== "Bearer secret")
              throw new ConnectError("no", Code.PermissionDenied);
            return { hostId: "host", sessions: [...sessions] };
          },
        }),
    }),
  );
  server.on("session", (each) => open.add(each));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const each of open) each.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const gatewayOf = (type: string) => ({
  nodeTypes: {
    listNodeTypes: () => ({ nodeTypes: [{ type: "start", builtIn: true }] }),
    listExecutors: () => ({ executors: [{ nodeTypes: ["acme.price"] }] }),
  },
  workflows: {
    listWorkflows: () => ({ workflows: [{ workflowId: "orders" }] }),
    validateWorkflow: () => ({}),
    getWorkflow: () => ({
      workflow: {
        workflowId: "orders",
        definitionJson: Buffer.from(
          JSON.stringify({ nodes: [{ type: "start", config: { body: { type } } }] }),
        ),
      },
    }),
  },
});

test("a healthy port, its processes and workflows whose types are served are ok within 80 columns", async () => {
  const { gateway, printed, pawl } = await setup(gatewayOf("acme.price"), { columns: 80 });
  await using _ = gateway;
  const address = await handlerPort(PROCESS);
  const code = await pawl(
    ...["handler", "doctor", "--handler-address", address, "--token", "secret"],
  );
  expect(printed.out).toMatch(/^ok +the handler port answers/);
  expect(printed.out.replaceAll(/\s+/g, " ")).toContain(
    "ok process pricing: python 3.12, pawl-sdk 0.1.0, build 7f3a; 1/4 slots busy",
  );
  expect(printed.out).toContain("executors serve every node type of 1 workflow, and");
  expect(printed.out.split("\n").every((line) => line.length <= 80)).toBe(true);
  expect(code).toBe(0);
});

test("a refused type, a stalled process and a type that no executor serves are named with what to do", async () => {
  const { gateway, printed, pawl } = await setup(gatewayOf("acme.gone"));
  await using _ = gateway;
  const refused = [{ type: "acme.tax", reason: "TYPE_CONFLICT", message: "Give it a version." }];
  const address = await handlerPort({ ...PROCESS, refused, state: SessionState.STALLED });
  const args = ["handler", "doctor", "--handler-address", address, "--token", "secret"];
  expect(await pawl(...args, "-o", "json")).toBe(1);
  const { findings } = JSON.parse(printed.out) as { findings: { level: string; what: string }[] };
  expect(findings).toMatchObject([
    { level: "ok" },
    { level: "warning", next: expect.stringContaining("stalled") as string },
    { level: "error", what: expect.stringContaining("TYPE_CONFLICT") as string },
    { level: "error", what: "no executor serves acme.gone, which orders uses" },
  ]);
});

test("a wrong token and a port that does not answer are errors", async () => {
  const { gateway, printed, pawl } = await setup(gatewayOf("acme.price"));
  await using _ = gateway;
  const address = await handlerPort(PROCESS);
  expect(await pawl("handler", "doctor", "--handler-address", address, "--token", "x")).toBe(1);
  expect(printed.out).toContain("refuses the token. Set PAWL_HANDLER_TOKEN");
  expect(await pawl("handler", "doctor", "--handler-address", "127.0.0.1:1")).toBe(1);
  expect(printed.out).toContain("the handler port 127.0.0.1:1 does not answer");
});

test("functions that ignore their cancel are counted, and a cancel of a moment ago is no finding", async () => {
  const { gateway, printed, pawl } = await setup(gatewayOf("acme.price"));
  await using _ = gateway;
  const stuck = { ...PROCESS, ignoring: 2, ignoringMs: 40_000n };
  const fresh = { ...PROCESS, name: "fresh", ignoring: 1, ignoringMs: 100n };
  const address = await handlerPort(stuck, fresh);
  await pawl("handler", "doctor", "--handler-address", address, "--token", "secret");
  const text = printed.out.replaceAll(/\s+/g, " ");
  expect(text).toContain("process pricing: 2 functions ignore their cancel, the first for 40");
  expect(text).not.toContain("process fresh: 1");
});

test("each address of a list is checked, and one process at any of them is enough", async () => {
  const { gateway, printed, pawl } = await setup(gatewayOf("acme.price"));
  await using _ = gateway;
  const idle = await handlerPort();
  const used = await handlerPort(PROCESS);
  const flags = ["handler", "doctor", "--token", "secret", "--handler-address"];
  expect(await pawl(...flags, `${idle}, ${used}`)).toBe(0);
  expect(printed.out).toContain(`answers at ${idle}`);
  expect(printed.out).toContain(`answers at ${used}`);
  expect(printed.out).not.toContain("no handler process");
  expect(await pawl(...flags, `${idle},127.0.0.1:1,a b`)).toBe(1);
  expect(printed.out).toContain("the handler port 127.0.0.1:1 does not answer");
  expect(printed.out).toContain('"a b" is not an address');
  expect(printed.out).toContain("no handler process is connected");
  expect(await pawl(...flags, ",")).toBe(1);
  expect(printed.out).toContain('"," is not an address');
});

test("the definitions of many workflows are read eight at a time", async () => {
  const served = gatewayOf("acme.price");
  const ids = Array.from({ length: 40 }, (_, index) => `w${index}`);
  let [open, most] = [0, 0];
  // The first eight calls wait for one another, so all of them are open at once.
  const eight = Promise.withResolvers<void>();
  const { gateway, printed, pawl } = await setup({
    ...served,
    workflows: {
      ...served.workflows,
      listWorkflows: () => ({ workflows: ids.map((workflowId) => ({ workflowId })) }),
      getWorkflow: async () => {
        most = Math.max(most, ++open);
        if (open === 8) eight.resolve();
        await eight.promise;
        open -= 1;
        return served.workflows.getWorkflow();
      },
      validateWorkflow: () => ({
        violations: [
          { path: "nodes[0].config.x", reason: "TYPE_MISMATCH", message: "no", line: 4 },
        ],
      }),
    },
  });
  await using _ = gateway;
  const address = await handlerPort(PROCESS);
  const args = ["handler", "doctor", "--handler-address", address, "--token", "secret"];
  expect(await pawl(...args, "-o", "json")).toBe(1);
  const { findings } = JSON.parse(printed.out) as { findings: { what: string }[] };
  const broken = findings.filter(({ what }) => what.includes("TYPE_MISMATCH"));
  expect(broken.map(({ what }) => what.split(":")[0])).toEqual(ids);
  expect(most).toBe(8);
});
