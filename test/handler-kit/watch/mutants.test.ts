// The kit notices: a client that breaks one behaviour of a watch fails the case that names it. They run at the same time: 20 s.
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { Mailbox } from "../mailbox.ts";
import { runWatchCases } from "./catalogue.ts";
import { WATCH_FAULTS } from "./mutants.ts";

const PROGRAM = fileURLToPath(new URL("../programs/typescript-watch.ts", import.meta.url));

beforeAll(() => {
  // What a mutant withholds never comes: there is no reason to wait long for it.
  Mailbox.patienceMs = 3_000;
});

test.concurrent.each(WATCH_FAULTS.map((fault) => [fault.name, fault] as const))(
  "a client fails if %s",
  async (_name, { caught, missed, rule, mutant }) => {
    const [verdict, ...others] = await runWatchCases({
      command: [process.execPath, PROGRAM],
      choice: { names: [caught], groups: [] },
      mutant,
    });
    expect(others).toEqual([]);
    expect(verdict).toMatchObject({ name: caught, rule });
    expect(verdict?.failure?.expected).toMatch(missed);
  },
);
