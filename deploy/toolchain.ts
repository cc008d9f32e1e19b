// `npm run toolchain`: provides the toolchains that Pawl's clients in other languages need for their tests and their generated code. Go is
// fetched if it is missing, and compiles the module with its dependencies: a first compile takes a minute of two cores, which no test should
// wait for. Python must be there; its packages are installed. Exits with 1 if one cannot be had.
import { join } from "node:path";
import { goEnv } from "./go.ts";
import { provideGo } from "./go-toolchain.ts";
import { pythonEnvironment, runToEnd } from "./python.ts";
import { ROOT } from "./settings.ts";

/** Fills the build cache of Go. A module that does not compile is reported by its tests. */
async function compileGo(go: string): Promise<void> {
  const options = { cwd: join(ROOT, "clients", "go"), env: goEnv() };
  for (const args of [["vet"], ["test", "-run", "^$"]])
    await runToEnd(go, [...args, "./..."], options);
}

const tools = { Go: await provideGo(), Python: await pythonEnvironment() };
for (const [name, tool] of Object.entries(tools)) {
  if (tool.kind === "found") console.log(`${name} ${tool.version}: ${tool.path}`);
  else console.error(`${name} is missing: ${tool.why}`);
}
if (tools.Go.kind === "found") await compileGo(tools.Go.path);
process.exitCode = Object.values(tools).every(({ kind }) => kind === "found") ? 0 : 1;
