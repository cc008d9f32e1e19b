// The memory of a gateway: what it holds after a collection of all garbage (memory-probe.mjs), and the most that it ever had resident.

import { readFileSync } from "node:fs";
import type { Member } from "../support/member.ts";
import { until } from "../support/until.ts";

/** A megabyte is a million bytes. */
const MB = 1_000_000;
const PROBE = new URL("memory-probe.mjs", import.meta.url).href;

/** The environment of a process whose memory is measured. */
export const MEMORY_PROBE = { NODE_OPTIONS: `--import=${PROBE}` };

/** After a collection, in MB. */
interface HeldMemory {
  readonly rssMb: number;
  /** Objects of V8, and buffers outside of its heap. */
  readonly heldMb: number;
}

const READING = /^\{"msg":"memory".*\}$/gm;

/** What the process holds after a collection. */
export async function heldMemory(member: Pick<Member, "kill" | "logs">): Promise<HeldMemory> {
  const readings = (): readonly string[] => member.logs().match(READING) ?? [];
  const before = readings().length;
  await member.kill("SIGUSR2");
  const line = await until(() => readings()[before], { what: "a reading of the memory" });
  const { rss, heapUsed, external } = JSON.parse(line) as Readonly<
    Record<"rss" | "heapUsed" | "external", number>
  >;
  return { rssMb: rss / MB, heldMb: (heapUsed + external) / MB };
}

/** The most resident memory of a process in MB, read twice a second. */
export function peakMemory(pid: () => number): { readonly peakMb: () => number; stop(): void } {
  let peak = 0;
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${pid()}/status`, "utf8");
      const kib = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
      peak = Math.max(peak, (kib * 1_024) / MB);
    } catch {
      // The process is between its kill and its start.
    }
  }, 500);
  return { peakMb: () => peak, stop: () => clearInterval(timer) };
}
