// The services as one file each, for the processes of a cluster: a process that loads 1,300 modules one by one needs twice the CPU to start,
// and a run of all tests starts hundreds of processes. The file holds the same sources. Paths in it are those of the sources, so SQL,
// threads and the sandbox are read from there. `npm start`, `pawl dev` and the demo run the sources, and their tests too.
//
// The race it survives: two test runs of one checkout write the files at once. Each file is renamed into place.
import { rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ServiceName } from "@pawl/deploy/service-process.ts";
import { ROOT } from "@pawl/deploy/settings.ts";
import { build, type Plugin } from "rolldown";

const FOLDER = join(ROOT, "node_modules/.cache/pawl-services");
const SERVICES: readonly ServiceName[] = ["scheduler", "executor", "gateway"];

const fileOf = (service: ServiceName): string => join(FOLDER, `${service}.mjs`);

/** The variable by which `vitest.config.ts` says that the global setup has made the bundles of this run. */
const MADE = "SERVICES_OF_TESTS";

/** What a member of a cluster runs: the bundle if this run of tests has made one, else the sources. */
export const mainOf = (service: ServiceName): string | undefined =>
  process.env[MADE] === "bundled" ? fileOf(service) : undefined;

/** A module in a bundle finds its files where it found them before. */
const keepPaths: Plugin = {
  name: "keep-paths",
  transform(code, id) {
    if (!/\bimport\.meta\.(?:url|dirname)|\b__(?:dirname|filename)\b/.test(code)) return null;
    const folder = JSON.stringify(dirname(id));
    return code
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      .replaceAll(/\bimport\.meta\.dirname\b|\b__dirname\b/g, folder)
      .replaceAll(/\b__filename\b/g, JSON.stringify(id));
  },
};

/**
 * An `import` of node:http reads every export of it, and one of them loads an HTTP client that no service uses: 60 ms of CPU. A module in the
 * older format reads what it uses.
 */
const lazyHttp: Plugin = {
  name: "lazy-http",
  resolveId: (source) => (/^(?:node:)?http$/.test(source) ? "\0http.cjs" : null),
  load: (id) =>
    id === "\0http.cjs" ? 'module.exports = process.getBuiltinModule("node:http");' : null,
};

/** Half the text to read at each start: no comments, no white space, short names of variables. Functions keep their names, and no code goes. */
const SHORT = {
  compress: false,
  mangle: { keepNames: true },
  codegen: { removeWhitespace: true },
} as const;

/** Bundles the three services. */
export async function bundleServices(): Promise<void> {
  await Promise.all(
    SERVICES.map(async (service) => {
      const draft = `${fileOf(service)}.${process.pid}`;
      await build({
        input: join(ROOT, `services/${service}/src/main.ts`),
        cwd: ROOT,
        platform: "node",
        logLevel: "silent",
        // A call without a use may still throw: the bundler takes decodeURIComponent for pure and would drop it.
        treeshake: false,
        plugins: [keepPaths, lazyHttp],
        output: { file: draft, format: "esm", codeSplitting: false, minify: SHORT },
      });
      await rename(draft, fileOf(service));
    }),
  );
}
