// `npm run pack:client`: makes dist/pawl-client-<version>.tgz, for Node 22 or a bundler.
import { announce, pack } from "./pack.ts";

/** Packs the client into `folder`; returns the path of the tarball. @throws Error with what the compiler or npm printed */
export const packClient = (folder?: string): string =>
  pack(
    {
      client: "ts",
      parts: ["proto", "core"],
      // Conditions of the package choose one of the two connections.
      entries: ["index", "node/connection", "fetch-connection"],
      node: 22,
      target: "es2022",
      // With `lib` es2022 a newer built-in is an error: browsers need not be of this year.
      lib: ["es2022", "dom", "dom.iterable"],
    },
    folder,
  );

if (import.meta.main) announce(packClient());
