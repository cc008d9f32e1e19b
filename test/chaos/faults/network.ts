// F8: every kind of bad network on every link, one at a time.
import { setTimeout as pause } from "node:timers/promises";
import { DATABASE_LINK } from "../chaos-cluster.ts";
import { between, oneOf, type Fault, type Size } from "../fault.ts";
import type { Toxic } from "../proxy.ts";
import type { Random } from "../../stress/random.ts";

const LINKS = ["client-gateway", "gateway-scheduler", "scheduler-executor", DATABASE_LINK];

const TOXICS: readonly {
  readonly name: string;
  readonly toxic: (random: Random) => Toxic;
}[] = [
  { name: "cut", toxic: () => ({ kind: "cut" }) },
  { name: "half-open", toxic: () => ({ kind: "silence", up: true, down: true }) },
  {
    name: "delay",
    toxic: (random) => ({ kind: "delay", delayMs: between(5, 500, random), jitterMs: 100 }),
  },
  { name: "1 B/s", toxic: () => ({ kind: "rate", bytesPerSecond: 1 }) },
  { name: "64 KB/s", toxic: () => ({ kind: "rate", bytesPerSecond: 64 * 1024 }) },
  { name: "partial frame", toxic: () => ({ kind: "partial", isReset: false }) },
  { name: "reset mid-message", toxic: () => ({ kind: "partial", isReset: true }) },
  {
    name: "asymmetric",
    toxic: (random) => {
      const up = random() < 0.5;
      return { kind: "silence", up, down: !up };
    },
  },
];

const LASTS_MS: Readonly<Record<Size, readonly [number, number]>> = {
  short: [500, 1_000],
  smoke: [800, 2_200],
  full: [2_000, 18_000],
};

export const badNetwork: Fault = {
  id: "F8",
  title: "cut, half-open, slow, torn and one-way links",
  hits: { short: 4, smoke: 8, full: 24 },
  gapMs: [100, 400],
  strike: async ({ cluster, random, size }, nth) => {
    const { name, toxic } = TOXICS[nth % TOXICS.length] ?? oneOf(TOXICS, random);
    // Shifted each time round, so that every toxic comes to every link.
    const linkName = LINKS[(nth + Math.floor(nth / TOXICS.length)) % LINKS.length];
    const link = oneOf(
      cluster.links.filter((each) => each.name === linkName),
      random,
    );
    const spoiledBefore = link.spoiled();
    const [least, most] = LASTS_MS[size];
    const at = Date.now();
    link.poison(toxic(random));
    await pause(between(least, most, random));
    // Bytes that were held back are either sent after all, or their connection breaks.
    link.heal(random() < 0.5);
    const overAt = Date.now();
    const isObserved = link.spoiled() > spoiledBefore;
    return { target: link.name, detail: `${name} for ${overAt - at} ms`, isObserved, at, overAt };
  },
};
