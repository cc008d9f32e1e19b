// A short form of `npm run chaos`: one strike of each of the most costly faults, under load.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFailed, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { chaos } from "./chaos.ts";
import { faultCatalogue } from "./faults/catalogue.ts";
import { faultsOf, resultLine } from "./report.ts";

const FAULTS = ["F2", "F3", "F5", "F9"];

test(
  "nothing is lost, doubled, stale or stuck while services are killed, an executor is frozen past its lease, the database crashes and outcomes are repeated (S0.2, S0.35, S0.36, S0.40, S0.42, S0.43, S0.44, S3.37, S3.55)",
  { timeout: 300_000 },
  async () => {
    const folder = temporaryFolder("chaos-test");
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { outcomes, logs } = await chaos({
      faults: faultCatalogue().filter(({ id }) => FAULTS.includes(id)),
      size: "short",
      seed: 1,
      runs: 12,
      faultLog: join(folder, "fault.jsonl"),
      onProgress: () => undefined,
      onOutcome: () => undefined,
    });
    onTestFailed(() => console.error(`${resultLine(outcomes)}\n${logs}`));
    expect(outcomes.map(({ fault }) => fault.id)).toEqual(FAULTS);
    expect(outcomes.flatMap(faultsOf)).toEqual([]);
  },
);
