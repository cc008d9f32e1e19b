// Python programs that import the package from its sources. Commands such as the bench use it too, so it needs no test runner.
import { fileURLToPath } from "node:url";

/** The folder of the Python package. */
export const PACKAGE = fileURLToPath(new URL("../../clients/python", import.meta.url));

/** The environment of a program that imports the package from its sources. */
export const sourceEnv = (more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  PYTHONPATH: `${PACKAGE}/src`,
  PYTHONDONTWRITEBYTECODE: "1",
  ...more,
});
