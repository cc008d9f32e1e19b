// `npm run pack:handler`: makes dist/pawl-handler-<version>.tgz, for Node 22 or newer.
import { announce, pack } from "./pack.ts";

/** Packs @pawl/handler into `folder`; returns the path of the tarball. @throws Error with what the compiler or npm printed */
export const packHandler = (folder?: string): string =>
  pack(
    {
      client: "handler",
      parts: ["proto", "core", "platform", "executor"],
      node: 22,
      target: "es2023",
      lib: ["es2024", "esnext.disposable", "esnext.iterator", "dom", "dom.iterable"],
    },
    folder,
  );

if (import.meta.main) announce(packHandler());
