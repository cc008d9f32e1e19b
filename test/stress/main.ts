// npm run stress [-- --seed 1] [--runs 20]
//
// Two schedulers, two executors and two peers that repeat and reorder their results, on a PostgreSQL of its own. Exits with 1
// when any run, node or log is not as it must be.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "@pawl/deploy/postgres.ts";
import { temporaryFolder } from "../support/folder.ts";
import { SHAPES } from "./shapes.ts";
import { stress, type Row } from "./stress.ts";
import { startStressCluster } from "./stress-cluster.ts";

const FAULTS_SHOWN = 40;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    runs: { type: "string", default: "20" },
  },
});
const seed = Number(values.seed);
const runs = Number(values.runs);
if (!Number.isInteger(seed) || !Number.isInteger(runs) || runs < 1 || runs > 1_000) {
  console.error("--seed is a whole number, --runs one from 1 to 1000");
  process.exit(2);
}

const COLUMNS = [
  { title: "shape", of: (row: Row) => row.name },
  { title: "runs", of: (row: Row) => String(row.runs) },
  { title: "expected", of: (row: Row) => row.expected },
  { title: "got", of: (row: Row) => row.got },
  { title: "nodes", of: (row: Row) => String(row.nodes) },
  { title: "duplicates refused", of: (row: Row) => String(row.refused) },
  { title: "ms", of: (row: Row) => String(row.ms) },
] as const;

function print(rows: readonly Row[]): void {
  const widths = COLUMNS.map(({ title, of }) =>
    Math.max(title.length, ...rows.map((row) => of(row).length)),
  );
  const line = (cells: readonly string[]): void =>
    console.log(
      cells
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  line(COLUMNS.map(({ title }) => title));
  line(widths.map((width) => "-".repeat(width)));
  for (const row of rows) line(COLUMNS.map(({ of }) => of(row)));
}

const folder = temporaryFolder("stress");
const postgres = await startPostgres({ dataDir: join(folder, "postgres") });
try {
  console.log(`seed ${seed}, ${runs} runs of each shape`);
  const cluster = await startStressCluster(seed, postgres.url);
  try {
    const { rows, faults } = await stress(cluster, { shapes: SHAPES, runs, seed });
    print(rows);
    for (const fault of faults.slice(0, FAULTS_SHOWN)) console.error(fault);
    console.log(
      faults.length === 0
        ? "\nevery run ended as it must, and every log holds"
        : `\n${faults.length} differences; say it again with --seed ${seed}`,
    );
    process.exitCode = faults.length === 0 ? 0 : 1;
  } catch (error) {
    console.error(cluster.logs());
    throw error;
  } finally {
    await cluster.stop();
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
