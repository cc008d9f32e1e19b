import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createConsole } from "./console.ts";

async function setup(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), "pawl-console-"));
  mkdirSync(join(folder, "assets"));
  for (const [name, body] of Object.entries(files)) writeFileSync(join(folder, name), body);
  const handler = createConsole(folder);
  const server = createServer((request, response) => {
    if (!handler(request, response)) response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  });
  // A server listening on TCP always has such an address.
  const { port } = server.address() as AddressInfo;
  return (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);
}

test("files are served by name, and the page for every address that it routes", async () => {
  const get = await setup({ "index.html": "<page>", "assets/app-1.js": "code" });
  const script = await get("/assets/app-1.js");
  expect(await script.text()).toBe("code");
  expect(script.headers.get("content-type")).toMatch(/javascript/);
  expect(script.headers.get("cache-control")).toContain("immutable");
  for (const path of [
    "/",
    "/runs",
    "/runs/0198c0de",
    "/workflows/orders",
    "/approvals",
    "/index.html?x=1",
  ]) {
    const page = await get(path);
    expect([page.status, await page.text()]).toEqual([200, "<page>"]);
    expect(page.headers.get("cache-control")).toBe("no-cache");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
  }
});

test("a browser that opens an unknown address gets the page with 404; every other caller does not", async () => {
  const get = await setup({ "index.html": "<page>" });
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  for (const path of ["/nowhere", "/assets/gone.js", "/..%2f..%2fetc%2fpasswd"]) {
    const page = await get(path, { headers: { accept } });
    expect([page.status, await page.text()]).toEqual([404, "<page>"]);
    expect(page.headers.get("cache-control")).toBe("no-cache");
    const other = await get(path, { headers: { accept: "application/json" } });
    expect([other.status, await other.text()]).toEqual([404, ""]);
  }
  const posted = await get("/nowhere", { method: "POST", headers: { accept } });
  expect(await posted.text()).toBe("");
});

test("nothing outside the folder is served", async () => {
  const get = await setup({ "index.html": "<page>" });
  for (const path of ["/..%2f..%2fetc%2fpasswd", "/assets/../../x", "/assets", "/nothing.js"]) {
    expect((await get(path)).status).toBe(404);
  }
});

test("without a build the page explains how to make one", async () => {
  const get = await setup({});
  const page = await get("/");
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("build")]);
});
