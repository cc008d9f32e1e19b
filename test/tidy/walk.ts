// `npm run house -- --walk [<checkout>]`: the files whose code runs for one run of one node, from the call of a client to the end event that
// it gets. Real processes and a real database; everything that runs on a timer is set to run rarely.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startPostgres } from "@pawl/deploy/postgres.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { until } from "../support/until.ts";
import { ROOT } from "./sources.ts";
import { watchFiles } from "./walk-coverage.ts";

const SELDOM = {
  PAWL_LEASE_MS: "180000",
  PAWL_RENEW_MS: "60000",
  PAWL_SWEEP_MS: "600000",
  PAWL_POLL_MS: "60000",
  PAWL_LOG_LEVEL: "warn",
};

/** Nodes with their executors: the scheduler completes the first itself, an executor runs the second. */
const NODES = {
  noop: {},
  text_stream: { text: "a" },
};

/** Rooms without a step of the walk: values, names, faults, drivers and measures that every step uses. */
const HELPERS =
  /^services\/(core\/src\/(name|fault|data|policy)|platform\/src\/(config|contract|db|telemetry|lifecycle))\//;
const OURS = /^(services|clients)\/.*\.tsx?$/;

/** The part of the client that the walk uses; another checkout has its own. */
interface Client {
  readonly workflows: {
    create(definition: object, options: { readonly workflowId: string }): Promise<unknown>;
  };
  readonly runs: { execute(workflowId: string): AsyncIterable<unknown> };
}

/** Prints the walk of a run of each node. */
export async function printWalks(root = ROOT): Promise<void> {
  const folder = temporaryFolder("walk");
  const postgres = await startPostgres({ dataDir: join(folder, "postgres"), durable: false });
  const preload = pathToFileURL(join(ROOT, "test/tidy/walk-coverage.ts")).href;
  const cluster = await startCluster({
    root,
    databaseUrl: postgres.url,
    env: { ...SELDOM, WALK_FOLDER: folder, NODE_OPTIONS: `--import=${preload}` },
  });
  try {
    const takeOwn = watchFiles();
    const client = await clientOf(root, cluster.url);
    for (const [type, config] of Object.entries(NODES)) {
      await save(client, type, config);
      // The first run opens connections and compiles; the second is the walk.
      await drain(client.runs.execute(type));
      await take(cluster, folder, takeOwn);
      await drain(client.runs.execute(type));
      print(type, await take(cluster, folder, takeOwn), root);
    }
  } finally {
    await cluster.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function clientOf(root: string, baseUrl: string): Promise<Client> {
  // The client of that checkout; its shape is checked by the calls.
  const module = (await import(pathToFileURL(join(root, "clients/ts/src/index.ts")).href)) as {
    createPawlClient(options: { readonly baseUrl: string }): Client;
  };
  return module.createPawlClient({ baseUrl });
}

const save = (client: Client, type: string, config: object): Promise<unknown> =>
  client.workflows.create(
    {
      nodes: [
        { id: "start", type: "start" },
        { id: "node", type, config },
      ],
      edges: [{ source: "start", target: "node" }],
    },
    { workflowId: type },
  );

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

/** The URLs of the files that ran since the last look, in all processes. */
async function take(
  { schedulers, executors, gateways }: Cluster,
  folder: string,
  takeOwn: () => readonly string[],
): Promise<readonly string[]> {
  const urls = [...takeOwn()];
  for (const member of [...schedulers, ...executors, ...gateways]) {
    const file = join(folder, String(member.pid));
    rmSync(file, { force: true });
    await member.kill("SIGUSR2");
    await until(() => existsSync(file), { what: `the files of ${member.name}` });
    urls.push(...readFileSync(file, "utf8").split("\n"));
  }
  return urls;
}

function print(type: string, urls: readonly string[], root: string): void {
  const base = pathToFileURL(join(root, "/")).href;
  const paths = urls.flatMap((url) => (url.startsWith(base) ? [url.slice(base.length)] : []));
  const files = [...new Set(paths)].filter((path) => OURS.test(path)).toSorted();
  const steps = files.filter((path) => !HELPERS.test(path));
  const rooms = new Set(steps.map((path) => path.slice(0, path.lastIndexOf("/"))));
  console.log(
    `one ${type} node: ${files.length} files, ${steps.length} with a step, ${rooms.size} rooms`,
  );
  for (const path of files) console.log(`  ${HELPERS.test(path) ? "helper" : "step  "} ${path}`);
}
