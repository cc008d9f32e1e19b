// Generates code from the contracts with `buf generate`, for every language: `npm run gen [-- <language> …]`. The generated code is committed,
// so users and tests need no generator. A language whose toolchain is missing is skipped, and the skip is printed. `npm run check` uses the
// same table.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateGo } from "./gen-go.ts";
import { generatePython } from "./gen-python.ts";
import type { Generated } from "./generated.ts";
import { runToEnd } from "./python.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** A language and how its code is made. */
type Generator = {
  readonly language: string;
  /** The folder of the generated code, from the root. It has nothing else. */
  readonly folder: string;
  /** Writes the folder below `root`, which is empty. */
  make(root: string): Promise<Generated>;
};

const outcomeOf = ({
  code,
  output,
}: {
  readonly code: number;
  readonly output: string;
}): Generated => (code === 0 ? { kind: "made" } : { kind: "failed", output });

/** One row for each language. A new language adds its row here; its drift check follows. */
export const GENERATORS: readonly Generator[] = [
  {
    language: "typescript",
    folder: "proto/gen",
    make: async (root) =>
      outcomeOf(
        await runToEnd("buf", ["generate", "--template", "proto/buf.gen.yaml", "-o", root]),
      ),
  },
  { language: "python", folder: "clients/python/src/pawl_sdk/_gen", make: generatePython },
  { language: "go", folder: "clients/go/gen", make: generateGo },
];

/** Generates into an empty folder of its own, and removes the folder afterwards. */
export async function generateAside<Answer>(
  generator: Generator,
  use: (outcome: Generated, folder: string) => Promise<Answer>,
): Promise<Answer> {
  const root = mkdtempSync(join(tmpdir(), "pawl-generated-"));
  try {
    return await use(await generator.make(root), join(root, generator.folder));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function main(wanted: readonly string[]): Promise<void> {
  for (const generator of GENERATORS) {
    const { language, folder } = generator;
    if (wanted.length > 0 && !wanted.includes(language)) continue;
    await generateAside(generator, async (outcome, fresh) => {
      if (outcome.kind === "made") {
        const target = join(ROOT, folder);
        rmSync(target, { recursive: true, force: true });
        mkdirSync(dirname(target), { recursive: true });
        cpSync(fresh, target, { recursive: true });
        console.log(`${language}: wrote ${folder}`);
      } else if (outcome.kind === "skipped") {
        console.log(`${language}: skipped, ${outcome.why}`);
      } else {
        console.error(`${language}: failed\n${outcome.output}`);
        process.exitCode = 1;
      }
    });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
