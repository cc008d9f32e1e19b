// F9: peers that send every outcome more than once, in another order, with the opposite result, and again long after it is settled.
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { until } from "../../support/until.ts";
import { startPeer, type Peer } from "../../stress/peer.ts";
import { seededRandom } from "../../stress/random.ts";
import { SHAPES } from "../../stress/shapes.ts";
import type { Fault } from "../fault.ts";

/** Makes the fault; its peers live from `begin` to `end`. */
export function repeatedOutcomes(): Fault {
  let peers: readonly Peer[] = [];
  let refusedBefore = 0;
  const refused = (): number => peers.reduce((sum, peer) => sum + peer.refusedCount(), 0);
  return {
    id: "F9",
    title: "outcomes repeated, reordered, denied and late",
    hits: { short: 4, smoke: 10, full: 400 },
    gapMs: [200, 400],
    isFencing: true,
    shapes: { prefix: "repeat", all: SHAPES },
    begin: async ({ cluster, random }) => {
      const [one, other] = await Promise.all(
        cluster.schedulers.map(({ port }, index) =>
          startPeer(`${LOOPBACK}:${port}`, seededRandom(Math.floor(random() * 2 ** 31)), (task) =>
            peers[1 - index]?.echo(task),
          ),
        ),
      );
      peers = one === undefined || other === undefined ? [] : [one, other];
      refusedBefore = 0;
    },
    // The peers are a nuisance all the time: a strike waits until another repeat was refused.
    strike: async () => {
      const at = Date.now();
      const count = await until(() => (refused() > refusedBefore ? refused() : undefined), {
        what: "a repeat to be refused",
        timeoutMs: 60_000,
      });
      const detail = `${count - refusedBefore} repeats refused`;
      refusedBefore = count;
      return { target: "outcomes", detail, isObserved: true, at, overAt: at };
    },
    end: async () => {
      await until(() => peers.every((peer) => peer.unanswered() === 0), {
        what: "an answer to every repeat",
      });
      const count = refused();
      await Promise.all(peers.map((peer) => peer.leave()));
      return count;
    },
  };
}
