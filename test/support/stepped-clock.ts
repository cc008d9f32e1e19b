// The wall clock of a service under test. A test sets it wrong and right again while the service runs.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./folder.ts";
import type { Member } from "./member.ts";
import { until } from "./until.ts";

const PRELOAD = fileURLToPath(new URL("stepped-clock.mjs", import.meta.url));

/** The wall clock of the processes that are started with `env`. */
export type SteppedClock = {
  readonly env: Readonly<Record<string, string>>;
  /** Sets their clocks so much off, and waits until each of them has it. */
  step(offMs: number, ...members: readonly Member[]): Promise<void>;
};

export function steppedClock(offMs = 0): SteppedClock {
  const file = join(temporaryFolder("clock"), "off-ms");
  writeFileSync(file, String(offMs));
  const seen = (member: Member): number => member.logs().split("clock stepped").length;
  return {
    env: { NODE_OPTIONS: `--import=${PRELOAD}`, STEPPED_CLOCK_FILE: file },
    async step(off, ...members) {
      writeFileSync(file, String(off));
      for (const member of members) {
        const before = seen(member);
        await member.kill("SIGUSR2");
        await until(() => seen(member) > before, { what: `the clock of ${member.name} to step` });
      }
    },
  };
}
