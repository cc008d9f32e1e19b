// The steps that guard the wire: no breaking change, and generated code equal to what the contracts give.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "./step.ts";
import type { Step, Verdict } from "./step.ts";

/** Compares the contracts with the newest tag, or with the commit before this one. */
export const breakingStep: Step = {
  name: "buf breaking",
  async run() {
    const base = await earlierContracts();
    if (base.ref === undefined) return { kind: "skipped", note: base.why };
    const against = `.git#ref=${base.ref}`;
    const { code, output } = await runProgram("buf", ["breaking", "--against", against]);
    if (code === 0) return { kind: "passed", note: `against ${base.name}` };
    return { kind: "failed", output };
  },
};

type Base =
  | { readonly ref: string; readonly name: string }
  | { readonly ref: undefined; readonly why: string };

async function earlierContracts(): Promise<Base> {
  const none = (why: string): Base => ({ ref: undefined, why });
  const git = async (...args: string[]): Promise<string | undefined> => {
    const { code, stdout } = await runProgram("git", args);
    return code === 0 ? stdout.trim() : undefined;
  };
  if ((await git("rev-parse", "--is-shallow-repository")) !== "false") {
    return none("the clone is shallow: there is no earlier commit to compare with");
  }
  const tag = await git("describe", "--tags", "--abbrev=0");
  const name = tag ?? "HEAD~1";
  const ref = await git("rev-parse", "--verify", "--quiet", `${name}^{commit}`);
  if (ref === undefined) return none("there is no earlier commit");
  if ((await git("cat-file", "-t", `${ref}:proto/pawl`)) !== "tree") {
    return none(`${name} has no contracts yet`);
  }
  return { ref, name };
}

/** Generates into a folder of its own and compares: the tree itself is never touched. */
export const generatedStep: Step = {
  name: "generated code",
  async run(): Promise<Verdict> {
    const folder = mkdtempSync(join(tmpdir(), "pawl-generated-"));
    try {
      const template = "proto/buf.gen.yaml";
      const made = await runProgram("buf", ["generate", "--template", template, "-o", folder]);
      if (made.code !== 0) return { kind: "failed", output: made.output };
      const fresh = join(folder, "proto", "gen");
      const { code, output } = await runProgram("diff", ["-r", fresh, "proto/gen"]);
      if (code === 0) return { kind: "passed" };
      return { kind: "failed", output: `${output}\nrun \`npm run gen\` and commit the result` };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
