// Free ports stay free until their process listens on them, even when other processes look for ports.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { freePort, isPortFree } from "./ports.ts";

const MODULE = new URL("ports.ts", import.meta.url).href;

/** Ports found by another process while this one lives. */
function foundElsewhere(count: number): number[] {
  const code = `
    const { freePort } = await import(${JSON.stringify(MODULE)});
    const ports = [];
    for (let n = 0; n < ${count}; n++) ports.push(await freePort());
    console.log(JSON.stringify(ports));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    encoding: "utf8",
  });
  // What the line above printed.
  return JSON.parse(stdout) as number[];
}

test("no port is found twice, here or by another process, also when many ask at once and a block is used up", async () => {
  const ports = await Promise.all(Array.from({ length: 150 }, () => freePort()));
  const others = foundElsewhere(150);
  expect(new Set([...ports, ...others]).size).toBe(300);
  // The kernel gives out higher ports only.
  expect(Math.max(...ports, ...others)).toBeLessThan(32_768);
  for (const port of ports.slice(0, 5)) expect(await isPortFree(port)).toBe(true);
});
