// A toy bank over real HTTP. An account that reads keys books a charge once and answers repeats with the same receipt. An account that does
// not read keys books every charge, which shows that a test of single effects can fail. Money moves when a call arrives. The bank may keep
// back the answer to a first call until its caller is frozen.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { LOOPBACK } from "@pawl/deploy/ports.ts";

export type Bank = {
  /** Where to charge an account for one order. */
  url(account: string, order: string): string;
  /** Charges booked on an account, by order. */
  booked(account: string): ReadonlyMap<string, number>;
  /** How many calls wait for their answer. */
  readonly heldCount: number;
  /** Answers every call that waits. */
  answerHeld(): void;
  stop(): Promise<void>;
};

/** Opens a bank; accounts whose name begins with `naive` do not look at keys. First calls wait for `answerHeld`. */
export async function openBank(): Promise<Bank> {
  const accounts = new Map<string, Map<string, number>>();
  const booked = (account: string): Map<string, number> => {
    const known = accounts.get(account) ?? new Map<string, number>();
    accounts.set(account, known);
    return known;
  };
  const keys = new Set<string>();
  const called = new Set<string>();
  let held: (() => void)[] = [];
  const server = createServer((request, response) => {
    const [, account = "", order = ""] = (request.url ?? "").split("/");
    const key = String(request.headers["idempotency-key"]);
    request.resume();
    if (account.startsWith("naive") || !keys.has(key)) {
      const charges = booked(account);
      charges.set(order, (charges.get(order) ?? 0) + 1);
    }
    keys.add(key);
    const answer = (): void => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ order }));
    };
    const isFirst = !called.has(`${account}/${order}`);
    called.add(`${account}/${order}`);
    if (isFirst) held.push(answer);
    else answer();
  });
  server.listen(0, LOOPBACK);
  await once(server, "listening");
  // A server listening on TCP always has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: (account, order) => `http://${LOOPBACK}:${port}/${account}/${order}`,
    booked,
    get heldCount() {
      return held.length;
    },
    answerHeld: () => {
      for (const answer of held) answer();
      held = [];
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
