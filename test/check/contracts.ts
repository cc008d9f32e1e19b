// The steps that guard the wire: no breaking change, and generated code that matches the contracts.
import { GENERATORS, generateAside } from "@pawl/deploy/gen.ts";
import { mustNotSkip } from "../support/toolchain.ts";
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

/** Generates every language into a folder of its own and compares: the tree itself is never touched. */
export const generatedStep: Step = {
  name: "generated code",
  async run(): Promise<Verdict> {
    const skipped: string[] = [];
    for (const generator of GENERATORS) {
      const { language, folder } = generator;
      const fault = await generateAside(generator, async (outcome, fresh) => {
        if (outcome.kind === "failed") return outcome.output;
        if (outcome.kind === "skipped") {
          skipped.push(`${language} skipped: ${outcome.why}`);
          return mustNotSkip() ? `CI skips nothing: ${outcome.why}` : "";
        }
        const compared = ["-r", "-x", "__pycache__", fresh, folder];
        const { code, output } = await runProgram("diff", compared);
        return code === 0 ? "" : `${output}\nrun \`npm run gen\` and commit the result`;
      });
      if (fault !== "") return { kind: "failed", output: `${language}:\n${fault}` };
    }
    return { kind: "passed", note: skipped.join("; ") };
  },
};
