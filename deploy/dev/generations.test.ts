import { expect, test } from "vitest";
import { Generations, type Report } from "./generations.ts";
import type { HandlerProcess } from "./handler-process.ts";

/** Processes that the test starts, connects and ends by hand. */
function setup() {
  const reports: Report[] = [];
  const waiting: { test: () => boolean; resolve: () => void }[] = [];
  const look = (): void => {
    for (const one of waiting.filter(({ test: isDue }) => isDue())) {
      waiting.splice(waiting.indexOf(one), 1);
      one.resolve();
    }
  };
  interface Scripted {
    readonly end: (how: string) => void;
    isDrained: boolean;
    isStopped: boolean;
    isKilled: boolean;
  }
  const processes = new Map<number, Scripted>();
  const connections = new Map<number, () => void>();
  const refusals = new Set<number>();
  const stuck = new Map<string, (functions: number) => void>();
  const generations = new Generations({
    report: (report) => {
      reports.push(report);
      look();
    },
    connected: (version, signal) =>
      new Promise((resolve, reject) => {
        connections.set(version, resolve);
        signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
      }),
    leaving: async () => undefined,
    refused: async (version) => refusals.has(version),
    stuck: (version, isAlone, signal) =>
      new Promise((resolve, reject) => {
        stuck.set(`${version}${isAlone ? " alone" : ""}`, resolve);
        look();
        signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
      }),
    start: (version): HandlerProcess => {
      const { promise: exited, resolve: end } = Promise.withResolvers<string>();
      const process = { end, isDrained: false, isStopped: false, isKilled: false };
      processes.set(version, process);
      return {
        pid: version,
        exited,
        drain: async () => {
          process.isDrained = true;
          look();
          await exited;
        },
        kill: () => {
          process.isKilled = true;
          end("SIGKILL");
        },
        stop: async () => {
          process.isStopped = true;
          look();
          await exited;
        },
      };
    },
  });
  const until = (check: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      waiting.push({ test: check, resolve });
      look();
    });
  const reported = (kind: Report["kind"], version: number): Promise<void> =>
    until(() => reports.some((report) => report.kind === kind && report.version === version));
  return { generations, processes, connections, refusals, stuck, reported, reports, until };
}

test("a new version serves before the old one is asked to finish, and the old one keeps its work until it exits", async () => {
  const { generations, processes, connections, reported, reports, until } = setup();
  generations.reload();
  await reported("starting", 1);
  connections.get(1)?.();
  await reported("serving", 1);
  generations.reload();
  await reported("starting", 2);
  expect(processes.get(1)?.isDrained).toBe(false);
  connections.get(2)?.();
  await reported("serving", 2);
  await until(() => processes.get(1)?.isDrained === true);
  expect(reports.map(({ kind }) => kind)).not.toContain("drained");
  processes.get(1)?.end("exit code 0");
  await reported("drained", 1);
  processes.get(2)?.end("exit code 0");
  await generations.stop();
});

test("old versions finish without a limit, and the limit of a stop holds for them too", async () => {
  const { generations, processes, connections, reported, reports, until } = setup();
  for (const version of [1, 2, 3, 4]) {
    generations.reload();
    await reported("starting", version);
    connections.get(version)?.();
    await reported("serving", version);
  }
  const draining = reports.flatMap((report) => (report.kind === "serving" ? report.draining : []));
  expect(draining).toEqual([0, 1, 2, 3]);
  expect([...processes.values()].some(({ isStopped }) => isStopped)).toBe(false);
  processes.get(1)?.end("exit code 0");
  await reported("drained", 1);
  const stopped = generations.stop();
  await until(() => [2, 3, 4].every((version) => processes.get(version)?.isStopped === true));
  expect(reports.at(-1)).toMatchObject({ kind: "stopping", draining: 2 });
  for (const process of processes.values()) process.end("exit code 0");
  await stopped;
});

test("a version whose functions ignore their cancel is replaced by the same code, and killed when nothing else is left", async () => {
  const { generations, processes, connections, stuck, reported, reports, until } = setup();
  generations.reload();
  await reported("starting", 1);
  connections.get(1)?.();
  await reported("serving", 1);
  stuck.get("1")?.(2);
  await reported("stuck", 1);
  await reported("starting", 2);
  connections.get(2)?.();
  await until(() => stuck.has("1 alone"));
  expect(processes.get(1)).toMatchObject({ isDrained: true, isKilled: false });
  stuck.get("1 alone")?.(2);
  await reported("drained", 1);
  expect(processes.get(1)?.isKilled).toBe(true);
  expect(reports.at(-1)).toMatchObject({ kind: "drained", killed: 2 });
  processes.get(2)?.end("exit code 0");
  await generations.stop();
});

test("a version that does not start leaves the old one in place", async () => {
  const { generations, processes, connections, reported } = setup();
  generations.reload();
  await reported("starting", 1);
  connections.get(1)?.();
  await reported("serving", 1);
  generations.reload();
  await reported("starting", 2);
  processes.get(2)?.end("exit code 1");
  await reported("failed", 2);
  expect(processes.get(1)?.isStopped).toBe(false);
  processes.get(1)?.end("SIGTERM");
  await generations.stop();
});

test("a change during a start ends the version that starts, and one version of the newest files follows", async () => {
  const { generations, processes, connections, reported, until } = setup();
  generations.reload();
  await reported("starting", 1);
  for (let count = 0; count < 5; count += 1) generations.reload();
  await until(() => processes.get(1)?.isStopped === true);
  processes.get(1)?.end("SIGTERM");
  await reported("starting", 2);
  connections.get(2)?.();
  await reported("serving", 2);
  expect(processes.size).toBe(2);
  processes.get(2)?.end("SIGTERM");
  await generations.stop();
});

test("a version that gets no type because of the schemas of the old one starts again once the old one has finished", async () => {
  const { generations, processes, connections, refusals, reported, until } = setup();
  generations.reload();
  await reported("starting", 1);
  connections.get(1)?.();
  await reported("serving", 1);
  refusals.add(2);
  generations.reload();
  await reported("starting", 2);
  connections.get(2)?.();
  await until(() => processes.get(1)?.isDrained === true);
  processes.get(1)?.end("exit code 0");
  await reported("refused", 2);
  await reported("starting", 3);
  connections.get(3)?.();
  await until(() => processes.get(2)?.isDrained === true);
  for (const process of processes.values()) process.end("SIGTERM");
  await generations.stop();
});

test("a version that ends by itself starts again", async () => {
  const { generations, processes, connections, reported } = setup();
  generations.reload();
  await reported("starting", 1);
  connections.get(1)?.();
  await reported("serving", 1);
  processes.get(1)?.end("exit code 137");
  await reported("ended", 1);
  await reported("starting", 2);
  processes.get(2)?.end("SIGTERM");
  await reported("failed", 2);
  await generations.stop();
});

test("a stop during a start ends the process that starts", async () => {
  const { generations, processes, reported, until } = setup();
  generations.reload();
  await reported("starting", 1);
  const stopped = generations.stop();
  await until(() => processes.get(1)?.isStopped === true);
  processes.get(1)?.end("SIGTERM");
  await stopped;
});
