// The way from a handler process to its host: a TCP relay that can be cut. While it is cut, open connections are closed and new ones refused.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { LOOPBACK } from "@pawl/deploy/ports.ts";

export type Relay = {
  readonly port: number;
  cut(): void;
  heal(): void;
  stop(): Promise<void>;
};

/** Listens on a free port and passes everything on to `targetPort`. */
export async function startRelay(targetPort: number): Promise<Relay> {
  let isCut = false;
  const ends = new Set<Socket>();
  const pass = (from: Socket, to: Socket): void => {
    ends.add(from);
    from.setNoDelay(true);
    from.on("error", () => undefined);
    from.on("close", () => {
      ends.delete(from);
      to.destroy();
    });
    from.pipe(to);
  };
  const listener = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(targetPort, LOOPBACK);
    pass(near, far);
    pass(far, near);
  });
  listener.listen(0, LOOPBACK);
  await once(listener, "listening");
  const cut = (): void => {
    isCut = true;
    for (const end of ends) end.destroy();
  };
  return {
    // A server listening on TCP always has such an address.
    port: (listener.address() as AddressInfo).port,
    cut,
    heal: () => void (isCut = false),
    stop: async () => {
      cut();
      listener.close();
      await once(listener, "close");
    },
  };
}
