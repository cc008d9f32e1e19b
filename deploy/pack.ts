// Makes a package of ours for users. Here Node 24 runs the sources. A user has an older Node or a bundler. So a package has JavaScript with
// its types, the parts of our other packages that it imports, and version ranges. Each pack has its own folder below the package, where its
// dependencies are found, so two packs at once do not collide.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "./settings.ts";

/** Our packages that a published one may hold, and where their sources are. */
const PARTS = {
  proto: ["proto", "gen", "ts"],
  core: ["services", "core", "src"],
  platform: ["services", "platform", "src"],
  executor: ["services", "executor", "src"],
} as const;

interface PackOptions {
  /** The folder of the package below clients. */
  readonly client: string;
  /** Our packages that it imports. */
  readonly parts: readonly (keyof typeof PARTS)[];
  /** The files that users or conditions of the package import; index by default. */
  readonly entries?: readonly string[];
  /** The oldest Node that runs it. */
  readonly node: number;
  readonly target: string;
  readonly lib: readonly string[];
}

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly imports?: object;
  readonly dependencies: Readonly<Record<string, string>>;
};

/** Packs into `folder`; returns the path of the tarball. @throws Error with what the compiler or npm printed */
export function pack(options: PackOptions, folder = join(ROOT, "dist")): string {
  const home = join(ROOT, "clients", options.client);
  const manifest = readManifest(home);
  mkdirSync(join(home, "dist"), { recursive: true });
  mkdirSync(folder, { recursive: true });
  const stage = mkdtempSync(join(home, "dist", "pack-"));
  // A reader of an older package never meets half a file.
  const draft = mkdtempSync(join(folder, "pack-"));
  const name = `pawl-${manifest.name.replace("@pawl/", "")}-${manifest.version}.tgz`;
  try {
    stageSources(home, join(stage, "src"), options.parts);
    writeFileSync(join(stage, "tsconfig.json"), JSON.stringify(compilerOf(options)));
    const published = publishedOf(manifest, home, options.node);
    writeFileSync(join(stage, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
    must(process.execPath, [join(ROOT, "node_modules", "typescript", "bin", "tsc"), "-p", stage]);
    cpSync(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
    cpSync(join(home, "README.md"), join(stage, "README.md"));
    must("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", draft], stage);
    renameSync(join(draft, name), join(folder, name));
  } finally {
    for (const made of [stage, draft]) rmSync(made, { recursive: true, force: true });
  }
  return join(folder, name);
}

/** Prints the tarball, and how to install it. */
export function announce(tarball: string): void {
  process.stdout.write(
    `${relative(ROOT, tarball)}\nInstall it in a project of yours: npm install ${tarball}\n`,
  );
}

/** The compiler of the package. It compiles only the entries and their imports, and leaves out other contracts and parts. */
const compilerOf = ({ target, lib, entries = ["index"] }: PackOptions) => ({
  compilerOptions: {
    target,
    lib,
    types: ["node"],
    module: "nodenext",
    rootDir: "src",
    outDir: "lib",
    declaration: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
  },
  files: entries.map((entry) => `src/${entry}.ts`),
});

function publishedOf(manifest: Manifest, home: string, node: number): object {
  const { name, version, description, license, imports = {}, dependencies } = manifest;
  const installed = (dependency: string): string => join(home, "node_modules", dependency);
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
    engines: { node: `>=${node}` },
    imports: JSON.parse(
      JSON.stringify(imports).replaceAll(/\.\/src\/([\w/-]+)\.ts/g, "./lib/$1.js"),
    ) as object,
    exports: { ".": { types: "./lib/index.d.ts", default: "./lib/index.js" } },
    types: "./lib/index.d.ts",
    files: ["lib"],
    dependencies: Object.fromEntries(ranges),
  };
}

const readManifest = (folder: string): Manifest =>
  // Manifests of ours and of installed packages have these fields.
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

/** Copies the package and its parts, and makes all of them import each other by path. */
function stageSources(home: string, to: string, parts: PackOptions["parts"]): void {
  for (const part of parts) cpSync(join(ROOT, ...PARTS[part]), join(to, part), { recursive: true });
  cpSync(join(home, "src"), to, { recursive: true });
  for (const name of readdirSync(to, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts")) continue;
    const top = relative(dirname(name), "") || ".";
    const text = readFileSync(join(to, name), "utf8");
    writeFileSync(
      join(to, name),
      text
        .replaceAll(/"@pawl\/(proto|core|platform|executor)\/([\w/-]+)"/g, `"${top}/$1/$2.js"`)
        // Tools of a user look for neighbours by the names of the emitted files.
        .replaceAll(/((?:from|import) "\.{1,2}\/[^"]+)\.ts"/g, '$1.js"'),
    );
  }
}

function must(command: string, args: readonly string[], cwd = ROOT): void {
  const done = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (done.status === 0) return;
  const output = `${done.stdout ?? ""}${done.stderr ?? ""}`;
  throw new Error(`${command} ${args.join(" ")} failed:\n${output}`, { cause: done.error });
}
