// A fault: an action on a cluster under load that can be repeated, and that reports whether it really struck.
import type { Client } from "pg";
import type { Random } from "../stress/random.ts";
import type { Shape } from "../stress/shape.ts";
import type { ChaosCluster } from "./chaos-cluster.ts";

/** How much of everything. */
export type Size = "short" | "smoke" | "full";

/** One strike as it happened. */
export type Hit = {
  /** The process that it struck. */
  readonly target: string;
  readonly detail: string;
  /** Whether it was seen to strike. */
  readonly isObserved: boolean;
  /** From when on, in milliseconds since the epoch. */
  readonly at: number;
  /** When the fault was over. */
  readonly overAt: number;
};

/** A hit as the experiment notes it. */
export type Struck = Hit & {
  /** When its preparation began: a process that is to fail at a point is restarted for it. */
  readonly intendedAt: number;
};

/** Where faults happen. */
export type Scene = {
  readonly cluster: ChaosCluster;
  /** A connection of the harness itself; after a crash of the server, another one. */
  readonly db: () => Promise<Client>;
  readonly random: Random;
  readonly size: Size;
};

/** One experiment's own counts, over the log of its runs. */
export type Counts = {
  /** Claims given. */
  readonly claims: number;
  /** Claims taken back, by reason. */
  readonly recovered: Readonly<Record<string, number>>;
  /** Attempts beyond the first. */
  readonly retries: number;
  readonly rawDuplicates: number;
  readonly refused: number;
};

/** A kind of fault. */
export type Fault = {
  readonly id: string;
  readonly title: string;
  readonly hits: Readonly<Record<Size, number>>;
  /** How long between two of them, at least and at most. */
  readonly gapMs: readonly [number, number];
  /** The time between two offered runs. A fault that stops all processes at once sets more, so that fewer runs pile up. */
  readonly everyMs?: number;
  /** The most runs, for faults with heavy runs; other faults use the number from the command line. */
  readonly runsMost?: Readonly<Record<Size, number>>;
  /** Whether it must lead to refusals to prove anything. */
  readonly isFencing?: boolean;
  /** Whether each of its hits is of another kind, so that none may miss. */
  readonly needsEveryHit?: boolean;
  /** Its own runs, instead of those with effects. */
  readonly shapes?: { readonly prefix: string; readonly all: readonly Shape[] };
  readonly begin?: (scene: Scene) => Promise<void>;
  readonly strike: (scene: Scene, nth: number) => Promise<Hit | readonly Hit[]>;
  /** Puts everything back; gives refusals that only it has seen. */
  readonly end?: (scene: Scene) => Promise<number>;
  /** What else must hold. */
  readonly rules?: (counts: Counts) => string[];
};

/** One of them. */
export function oneOf<T>(things: readonly T[], random: Random): T {
  const thing = things[Math.floor(random() * things.length)];
  if (thing === undefined) throw new Error("nothing to choose from");
  return thing;
}

/** A number between the two. */
export const between = (least: number, most: number, random: Random): number =>
  least + random() * (most - least);
