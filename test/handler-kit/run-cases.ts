// Runs cases one after the other against one program, and judges each.

import { BrokenRule } from "./broken-rule.ts";
import type { Case, Group } from "./case.ts";
import { GROUPS } from "./catalogue.ts";
import type { Mutant } from "./host-stream.ts";
import { Kit } from "./kit.ts";

/** Which cases to run: parts of names, exact groups; none means all. */
export interface Choice {
  readonly names: readonly string[];
  readonly groups: readonly string[];
}

export interface Verdict {
  readonly group: string;
  readonly name: string;
  readonly rule: string;
  readonly ms: number;
  /** A figure that the case measured, for people. */
  readonly measured?: string;
  readonly failure?: {
    readonly rule: string;
    readonly expected: string;
    readonly came: string;
    readonly stderr: string;
  };
}

/** The kit's side of the cases: it starts programs, and a mutant may stand between. */
export interface Bench<M> {
  mutant: M;
  readonly program: { readonly stderr: string };
  readonly hasEnded: boolean;
  start(): Promise<void>;
  /** Ends the program; the next case starts another. */
  restart(): Promise<void>;
  /** Ends what a case has left open. */
  hangUp(): void;
  stop(): Promise<void>;
}

/** The chosen cases with their groups. */
const chosen = <B>(
  all: readonly Group<B>[],
  { names, groups }: Choice,
): { group: string; one: Case<B> }[] =>
  all
    .filter(({ name }) => groups.length === 0 || groups.includes(name))
    .flatMap((group) =>
      group.cases
        .filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)))
        .map((one) => ({ group: group.name, one })),
    );

export interface RunOptions<M = Mutant> {
  readonly command: readonly string[];
  /** Variables of the program besides the kit's own. */
  readonly env?: Readonly<Record<string, string>>;
  readonly choice: Choice;
  readonly onVerdict?: (verdict: Verdict) => void;
  /** Makes the program break a rule; a new one for each case. */
  readonly mutant?: () => M;
}

/** Runs the cases for handler processes. */
export const runCases = (options: RunOptions): Promise<readonly Verdict[]> =>
  runGroups<Mutant, Kit>(new Kit(options.command, options.env), GROUPS, options);

/** Runs the chosen cases of `groups` on a bench that is not started yet. */
export async function runGroups<M extends object, B extends Bench<M>>(
  kit: B,
  groups: readonly Group<B>[],
  options: RunOptions<M>,
): Promise<readonly Verdict[]> {
  await kit.start();
  const verdicts: Verdict[] = [];
  try {
    for (const { group, one } of chosen(groups, options.choice)) {
      if (options.mutant !== undefined) kit.mutant = options.mutant();
      const verdict = await judge(kit, group, one);
      verdicts.push(verdict);
      options.onVerdict?.(verdict);
    }
  } finally {
    await kit.stop();
  }
  return verdicts;
}

async function judge<B extends Bench<unknown>>(
  kit: B,
  group: string,
  one: Case<B>,
): Promise<Verdict> {
  const { name, rule } = one;
  const startedAt = performance.now();
  const facts = (): Omit<Verdict, "failure"> => ({
    group,
    name,
    rule,
    ms: Math.round(performance.now() - startedAt),
  });
  if (one.program === "own" || kit.hasEnded) await kit.restart();
  try {
    const measured = await one.run(kit);
    kit.hangUp();
    if (one.program === "own") await kit.restart();
    return typeof measured === "string" ? { ...facts(), measured } : facts();
  } catch (error) {
    const { stderr } = kit.program;
    await kit.restart();
    kit.hangUp();
    if (!(error instanceof BrokenRule)) throw error;
    const failure = {
      rule: error.rule ?? rule,
      expected: error.expected,
      came: error.came,
      stderr,
    };
    return { ...facts(), failure };
  }
}
