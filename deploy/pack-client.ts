// `npm run pack:client`: makes dist/pawl-client-<version>.tgz, the client as a user installs it. Sources run here as they are, by
// Node 24; a user has Node 18 or a bundler. So the package holds JavaScript with its types, the generated contracts and the fold of
// the log inside it, and plain version ranges. It is staged in a folder of its own below clients/ts, where the client's dependencies are found, so two
// packs at once do not meet.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "./settings.ts";

const CLIENT = join(ROOT, "clients", "ts");
const CONTRACTS = join(ROOT, "proto", "gen", "ts");
const CORE = join(ROOT, "services", "core", "src");

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
};

/** Packs the client into `folder`; returns the path of the tarball. @throws Error with what the compiler or npm printed */
export function packClient(folder = join(ROOT, "dist")): string {
  const manifest = readManifest(CLIENT);
  mkdirSync(join(CLIENT, "dist"), { recursive: true });
  mkdirSync(folder, { recursive: true });
  const stage = mkdtempSync(join(CLIENT, "dist", "pack-"));
  try {
    stageSources(join(stage, "src"));
    writeFileSync(join(stage, "tsconfig.json"), JSON.stringify(COMPILER));
    must(process.execPath, [join(ROOT, "node_modules", "typescript", "bin", "tsc"), "-p", stage]);
    cpSync(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
    cpSync(join(CLIENT, "README.md"), join(stage, "README.md"));
    writeFileSync(join(stage, "package.json"), `${JSON.stringify(published(manifest), null, 2)}\n`);
    must("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], stage);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  return join(folder, `pawl-client-${manifest.version}.tgz`);
}

/** What a user gets; `lib` of es2022 makes a newer built-in an error of the compiler. */
const COMPILER = {
  compilerOptions: {
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    types: [],
    module: "nodenext",
    rootDir: "src",
    outDir: "lib",
    declaration: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
  },
  // And the files it imports: contracts and parts of core that no client uses stay out.
  files: ["src/index.ts"],
};

function published({ name, version, description, license, dependencies }: Manifest): object {
  const ranges = Object.keys(dependencies)
    .filter((dependency) => !dependency.startsWith("@pawl/"))
    .map((dependency) => [dependency, `^${readManifest(installed(dependency)).version}`]);
  return {
    name,
    version,
    description,
    license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=18" },
    exports: { ".": { types: "./lib/index.d.ts", default: "./lib/index.js" } },
    types: "./lib/index.d.ts",
    files: ["lib"],
    dependencies: Object.fromEntries(ranges),
  };
}

const installed = (dependency: string): string => join(CLIENT, "node_modules", dependency);

const readManifest = (folder: string): Manifest =>
  // Manifests of ours and of installed packages have these fields.
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

/** The client's own files beside the contracts and the core, which it then imports by path. */
function stageSources(to: string): void {
  cpSync(CONTRACTS, join(to, "proto"), { recursive: true });
  cpSync(CORE, join(to, "core"), { recursive: true });
  cpSync(join(CLIENT, "src"), to, { recursive: true });
  for (const name of readdirSync(to, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts")) continue;
    const text = readFileSync(join(to, name), "utf8");
    writeFileSync(
      join(to, name),
      text
        .replaceAll(/"@pawl\/(proto|core)\/([\w/-]+)"/g, '"./$1/$2.js"')
        // What is emitted, types included, names its neighbours as a user's tools look for them.
        .replaceAll(/(from "\.{1,2}\/[^"]+)\.ts"/g, '$1.js"'),
    );
  }
}

function must(command: string, args: readonly string[], cwd = ROOT): void {
  const done = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (done.status === 0) return;
  throw new Error(
    `${command} ${args.join(" ")} failed:\n${done.stdout ?? ""}${done.stderr ?? ""}`,
    {
      cause: done.error,
    },
  );
}

if (import.meta.main) {
  const tarball = packClient();
  process.stdout.write(
    `${relative(ROOT, tarball)}\nInstall it in a project of yours: npm install ${tarball}\n`,
  );
}
