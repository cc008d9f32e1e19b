// Claims that executors hear of while they are being committed. Only tasks that act on nothing outside and end at once come this way
// (ADR 33): their outcomes are back by the time the commit is, or before it is even sent, and then go into the same one.
//
// What makes it safe: nobody but the executor hears of an offer before it is committed, its outcome is used in no transaction but one
// that holds the claim or comes behind it, and an offer that was not committed is withdrawn by name, so that a late outcome of it is
// never taken for one of the claim that replaces it, which may have the same epoch. An offer ends with its connection.

import { probe } from "@pawl/platform/lifecycle/probe";
import { claimItem } from "../work/wire.ts";
import type { Session } from "../work/session.ts";
import { assign, claimOf } from "./assignment.ts";
import type { Draft } from "./draft.ts";
import type { Claim, Offer } from "./input.ts";

/** Names offers; unique while this process lives, and no offer outlives a connection to it. */
let lastId = 0;

interface Made {
  readonly session: Session;
  readonly claim: Claim & { readonly offer: Offer };
}

export class Offers {
  readonly #made: Made[] = [];

  /** Tells executors what the draft would have them begin. */
  make(draft: Draft): void {
    for (const opened of draft.takeOffers()) {
      const { session } = opened;
      const offer: Offer = { id: (lastId += 1), state: "open" };
      const claim = { ...claimOf(opened), offer };
      session.unreserve(opened.bytes);
      assign(opened, claim);
      this.#made.push({ session, claim });
      probe("tick.offer-sent");
    }
  }

  /** Whether an outcome is still to come. A session lets go of a claim when it arrives. */
  get areAwaited(): boolean {
    return this.#made.some(({ session, claim }) => session.recognise(claim) !== undefined);
  }

  /** They are committed: claims like any other. */
  stand(): void {
    for (const { claim } of this.#made) claim.offer.state = "committed";
  }

  /** They are not, or nobody knows. Whoever has one forgets it. */
  withdraw(): void {
    for (const { session, claim } of this.#made) {
      if (claim.offer.state !== "open") continue;
      claim.offer.state = "withdrawn";
      session.letGo(claim);
      session.send(claimItem("claimLost", claim));
    }
  }
}
