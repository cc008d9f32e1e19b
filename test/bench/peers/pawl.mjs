// Pawl in a comparison with other engines, as its user has it: `npm start` on the given PostgreSQL, `client.run` of the published client, and
// the steps as the user's own code. A bench of several engines copies this file into its own folder and names the checkout in BENCH_PAWL.

import { spawn } from "node:child_process";
import { mkdir, open, rm } from "node:fs/promises";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const ROOT = process.env.BENCH_PAWL;
const GATEWAY = 7460;
const SCHEDULER = 7461;
const HANDLERS = 7464;
/** Where the steps run: in-process, typescript or python. */
const PLACE = process.env.BENCH_STEPS ?? "in-process";
const STEPS = { single: 1, chain10: 10, fan50: 52 };
const READY_MS = 90_000;
/** `npm start` registers its examples, runs one, and starts the example handlers of three languages. */
const SETTLE_MS = 12_000;
const STOP_MS = 3_500;

/** Services refuse variables of ours that they do not know. */
const { PAWL_ADAPTER: _adapter, ...ENVIRONMENT } = process.env;

const load = (path) => import(pathToFileURL(`${ROOT}/${path}`).href);

/** Starts the trio; resolves when the gateway is ready. */
async function startTrio({ url, dataDir }) {
  const folder = `${dataDir}pawl`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const log = await open(`${folder}/start.log`, "w");
  const child = spawn("npm", ["start", "--silent"], {
    cwd: ROOT,
    stdio: ["ignore", log.fd, log.fd],
    detached: true,
    env: {
      ...ENVIRONMENT,
      DATABASE_URL: url,
      PAWL_DATA_DIR: folder,
      PAWL_GATEWAY_PORT: String(GATEWAY),
      PAWL_SCHEDULER_PORT: String(SCHEDULER),
      PAWL_HANDLER_PORT: String(HANDLERS),
      PAWL_METRICS_PORT: "0",
      PAWL_LOG_LEVEL: "warn",
    },
  });
  await log.close();
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${GATEWAY}/readyz`).catch(() => undefined);
    if (answer?.ok) break;
    if (Date.now() > deadline) throw new Error("pawl did not become ready");
    await sleep(200);
  }
  await sleep(SETTLE_MS);
  return child;
}

/** The processes of the trio, for the figures of CPU time. */
const servicePids = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return /services\/(scheduler|executor|gateway)\/src\/main/.test(command);
      } catch {
        return false;
      }
    })
    .map(Number);

export default {
  storage: "postgres",
  packages: [],
  config: `npm start on the same Postgres; a user's own step by @pawl/handler, ${PLACE}; client.run`,
  async start(ctx) {
    const child = await startTrio(ctx);
    const { createPawlClient } = await load("clients/ts/src/index.ts");
    const { startSteps } = await load("test/bench/peers/steps.ts");
    const { chainOf, fanOf } = await load("test/bench/shapes.ts");
    const { STEP } = await load("test/bench/steps.ts");
    const shapes = { single: chainOf(1), chain10: chainOf(10), fan50: fanOf(50) };
    const client = createPawlClient({ baseUrl: `http://127.0.0.1:${GATEWAY}` });
    const stopSteps = await startSteps(PLACE, {
      scheduler: `127.0.0.1:${SCHEDULER}`,
      host: `127.0.0.1:${HANDLERS}`,
      type: STEP,
      step: () => ctx.step(0),
    });
    for (const [id, shape] of Object.entries(shapes))
      await client.workflows.create({ id, title: id, ...shape });
    return {
      mode: "closed",
      pids: servicePids(),
      async run(kind) {
        await client.run(kind, {});
        // Another process cannot count its steps here.
        if (PLACE !== "in-process") ctx.counter.steps += STEPS[kind];
      },
      async stop() {
        await stopSteps();
        client.close();
        process.kill(child.pid, "SIGTERM");
        await sleep(STOP_MS);
      },
    };
  },
};
