// Prints `N passed, N failed` from a vitest JSON report and the exit codes of the tests and the check, and
// exits with 1 when anything failed. A run that failed without a failing test still counts as one failure.
import { readFileSync } from "node:fs";

export function tally(report, testCode, checkCode) {
  const passed = report?.numPassedTests ?? 0;
  const failedTests = report?.numFailedTests ?? 0;
  // A file that could not be loaded has no tests to fail.
  const brokenFiles = (report?.testResults ?? []).filter(
    (file) =>
      file.status === "failed" && file.assertionResults.every((one) => one.status !== "failed"),
  ).length;
  const inTests = failedTests + brokenFiles;
  const failed = Math.max(inTests, testCode === 0 ? 0 : 1) + (checkCode === 0 ? 0 : 1);
  return { passed, failed };
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

if (process.argv[1]?.endsWith("tally.mjs")) {
  const [file, testCode, checkCode] = process.argv.slice(2);
  const { passed, failed } = tally(readReport(file), Number(testCode), Number(checkCode));
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  process.exit(failed === 0 && Number(testCode) === 0 ? 0 : 1);
}
