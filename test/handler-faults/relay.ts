// The way from a handler process to its host: a TCP relay that can be cut in two ways. A closed way ends open connections and refuses new
// ones, so both sides know at once. A dark way passes nothing on and ends nothing, as a network whose packets are lost: neither side hears
// of it, not even that the other side closed its end. What was sent meanwhile arrives when the way is healed.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { LOOPBACK } from "@pawl/deploy/ports.ts";

export type Relay = {
  readonly port: number;
  cut(): void;
  darken(): void;
  heal(): void;
  stop(): Promise<void>;
};

/** One connection of the process, with the relay's own connection to the host. */
class Way {
  readonly #near: Socket;
  readonly #far: Socket;

  constructor(near: Socket, targetPort: number, isDark: () => boolean, onEnd: () => void) {
    this.#near = near;
    this.#far = connect(targetPort, LOOPBACK);
    for (const end of [this.#near, this.#far]) {
      end.setNoDelay(true);
      end.on("error", () => undefined);
      end.on("close", () => {
        if (isDark()) return;
        this.end();
        onEnd();
      });
    }
  }

  pass(): void {
    if (this.#near.destroyed || this.#far.destroyed) return this.end();
    this.#near.pipe(this.#far);
    this.#far.pipe(this.#near);
  }

  hold(): void {
    for (const end of [this.#near, this.#far]) end.unpipe().pause();
  }

  end(): void {
    this.#near.destroy();
    this.#far.destroy();
  }
}

/** Listens on a free port and passes everything on to `targetPort`. */
export async function startRelay(targetPort: number): Promise<Relay> {
  let state: "open" | "cut" | "dark" = "open";
  const ways = new Set<Way>();
  const listener = createServer((near) => {
    if (state === "cut") return void near.destroy();
    const onEnd = (): void => void ways.delete(way);
    const way: Way = new Way(near, targetPort, () => state === "dark", onEnd);
    ways.add(way);
    if (state === "open") way.pass();
  });
  listener.listen(0, LOOPBACK);
  await once(listener, "listening");
  const cut = (): void => {
    state = "cut";
    for (const way of ways) way.end();
  };
  return {
    // A server listening on TCP always has such an address.
    port: (listener.address() as AddressInfo).port,
    cut,
    darken: () => {
      state = "dark";
      for (const way of ways) way.hold();
    },
    heal: () => {
      const wasDark = state === "dark";
      state = "open";
      if (wasDark) for (const way of ways) way.pass();
    },
    stop: async () => {
      cut();
      listener.close();
      await once(listener, "close");
    },
  };
}
