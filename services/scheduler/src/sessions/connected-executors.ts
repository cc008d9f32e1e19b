// The executors that are connected to this scheduler, and which of them has room for a node type.

import type { ExecutorId } from "@pawl/core/name/ids";
import type { Claim } from "../inputs/input.ts";
import type { Session } from "./session.ts";

export class ConnectedExecutors {
  readonly #sessions = new Map<ExecutorId, Session>();
  #isDraining = false;

  /** Whether this scheduler is stopping: no executor may join any more. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** No executor gets anything more, and none may join. */
  drain(): void {
    this.#isDraining = true;
    for (const session of this.#sessions.values()) session.draining = true;
  }

  /** Adds a session. A newer connection of the same executor replaces the older one. */
  join(session: Session): void {
    this.#sessions.set(session.executorId, session);
  }

  /** Removes a session unless a newer connection has replaced it. */
  leave(session: Session): void {
    if (this.#sessions.get(session.executorId) === session)
      this.#sessions.delete(session.executorId);
  }

  /** The session of an executor that is connected here. */
  find(executorId: ExecutorId): Session | undefined {
    return this.#sessions.get(executorId);
  }

  get sessions(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  /** The executor with the most room for this type, or undefined if none has any. */
  pick(nodeType: string): Session | undefined {
    let best: Session | undefined;
    for (const session of this.#sessions.values()) {
      if (!session.nodeTypes.has(nodeType)) continue;
      if (session.credit > (best?.credit ?? 0)) best = session;
    }
    return best;
  }

  /** The room of all executors for this type. */
  credit(nodeType: string): number {
    let sum = 0;
    for (const session of this.#sessions.values())
      if (session.nodeTypes.has(nodeType)) sum += session.credit;
    return sum;
  }

  /** The session that holds exactly this claim. */
  holderOf(claim: Claim): Session | undefined {
    for (const session of this.#sessions.values())
      if (session.claimOn(claim.runId, claim.nodeId, claim.iteration)?.epoch === claim.epoch)
        return session;
    return undefined;
  }
}
