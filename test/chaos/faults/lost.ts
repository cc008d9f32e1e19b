// F30 and F31: answers of the database are lost. It has committed and its answer does not come back, or it has sent a notification that no
// service receives.
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../../support/until.ts";
import { DATABASE_LINK } from "../chaos-cluster.ts";
import { between, type Fault, type Hit, type Scene, type Size } from "../fault.ts";
import type { Toxic } from "../proxy.ts";

const DEAF_MS: Readonly<Record<Size, number>> = { short: 2_000, smoke: 4_000, full: 20_000 };
const ANSWER_WITHIN_MS = 5_000;

/** F30: PostgreSQL commits a transaction, and the connection breaks before the sender gets the answer. */
export const lostAnswers: Fault = {
  id: "F30",
  title: "commits whose answer is lost with the connection",
  hits: { short: 2, smoke: 6, full: 60 },
  gapMs: [150, 500],
  strike: async (scene) =>
    await spoiled(scene, { kind: "lost answer" }, async (hasStruck) => {
      await until(hasStruck, { what: "an answer to be lost", timeoutMs: ANSWER_WITHIN_MS });
    }),
};

/** F31: LISTEN is in effect, NOTIFY is sent, and no notification arrives. */
export const lostNotifications: Fault = {
  id: "F31",
  title: "notifications lost while their connections stand",
  hits: { short: 1, smoke: 1, full: 5 },
  gapMs: [200, 500],
  strike: async (scene) =>
    await spoiled(scene, { kind: "lost notifications" }, async () => {
      await pause(DEAF_MS[scene.size] * between(1, 1.5, scene.random));
    }),
};

/** Does something to the link that leads to the database, for as long as `last` takes. */
async function spoiled(
  { cluster }: Scene,
  toxic: Toxic,
  last: (hasStruck: () => boolean) => Promise<void>,
): Promise<Hit> {
  const link = cluster.links.find(({ name }) => name === DATABASE_LINK);
  if (link === undefined) throw new Error("no link leads to the database");
  const before = link.spoiled();
  const hasStruck = (): boolean => link.spoiled() > before;
  const at = Date.now();
  link.poison(toxic);
  await last(hasStruck).catch(() => undefined);
  link.heal(false);
  const detail = `${toxic.kind}: ${link.spoiled() - before}`;
  return { target: link.name, detail, isObserved: hasStruck(), at, overAt: Date.now() };
}
