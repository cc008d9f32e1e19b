// `npm run toolchain`: provides the toolchains that Pawl's clients in other languages need for their tests and their generated code. Go is
// fetched if it is missing. Python must be there; its packages are installed. Exits with 1 if one cannot be had.
import { provideGo } from "./go-toolchain.ts";
import { pythonEnvironment } from "./python.ts";

const tools = { Go: await provideGo(), Python: await pythonEnvironment() };
for (const [name, tool] of Object.entries(tools)) {
  if (tool.kind === "found") console.log(`${name} ${tool.version}: ${tool.path}`);
  else console.error(`${name} is missing: ${tool.why}`);
}
process.exitCode = Object.values(tools).every(({ kind }) => kind === "found") ? 0 : 1;
