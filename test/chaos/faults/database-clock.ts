// F37: the clock of the database steps by a minute, ahead or back, and is corrected a while later. PostgreSQL has no clock but that of its
// machine; libfaketime gives its processes one, and reads the offset from a file. On a host without that library the fault is left out, and
// `npm run chaos` says so. Leases and renewals of seconds must survive the step. Deadlines of minutes do not, since they are points of time
// by this very clock (ADR 40).
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../support/until.ts";
import type { Fault, Scene } from "../fault.ts";

const LIBRARIES = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map(
  (machine) => `/usr/lib/${machine}/faketime/libfaketime.so.1`,
);
const STEP_S = 60;
/** Longer than a lease and several sweeps. */
const WRONG_MS = 4_000;
const HALF_MS = (STEP_S * 1_000) / 2;

const library = (): string | undefined => LIBRARIES.find((path) => existsSync(path));

/** Whether a process of this host can be given another clock. */
export const hasFakeTime = (): boolean => library() !== undefined;

/** Every claim of a living executor must stay its own. */
export function steppedDatabaseClock(): Fault {
  // Outside of any folder of ours: the server may run under an account of its own.
  const file = join(tmpdir(), `pawl-faketime-${process.pid}`);
  const set = (seconds: number): void =>
    writeFileSync(file, `${seconds < 0 ? "" : "+"}${seconds}s\n`, { mode: 0o644 });
  return {
    id: "F37",
    title: `clock of the database set by ${STEP_S} s`,
    hits: { short: 2, smoke: 2, full: 20 },
    gapMs: [1_000, 2_000],
    begin: async ({ cluster }) => {
      set(0);
      await cluster.postgres.crash("SIGINT");
      await cluster.postgres.restart([], {
        LD_PRELOAD: library() ?? "",
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
      });
    },
    strike: async (scene, nth) => {
      const seconds = nth % 2 === 0 ? STEP_S : -STEP_S;
      const at = Date.now();
      set(seconds);
      const isObserved = Math.abs(await offMs(scene)) > HALF_MS;
      await until(() => Date.now() - at > WRONG_MS, { what: "the clock to be wrong for a while" });
      set(0);
      return {
        target: "postgres",
        detail: `${seconds} s`,
        isObserved,
        at,
        overAt: Date.now(),
      };
    },
    end: async ({ cluster }) => {
      await cluster.postgres.crash("SIGINT");
      await cluster.postgres.restart();
      rmSync(file, { force: true });
      return 0;
    },
    rules: ({ recovered }) => {
      const lapsed = recovered["lease_expired"] ?? 0;
      return lapsed === 0 ? [] : [`${lapsed} claims of living executors were taken back`];
    },
  };
}

/** How far the database's clock is off ours. */
async function offMs({ db }: Scene): Promise<number> {
  const { rows } = await (
    await db()
  ).query<{ ms: number }>("select extract(epoch from clock_timestamp())::float8 * 1000 as ms");
  return (rows[0]?.ms ?? 0) - Date.now();
}
