// Prints the tests that were skipped, the seconds of the suite, and `N passed, N failed`. It reads a vitest JSON report and the exit codes
// of the tests and the check. Exits with 1 when anything failed. A run that failed without a failing test still counts as one failure. CI
// skips nothing, so a skipped test counts as failed.
import { readFileSync } from "node:fs";

export function tally(report, testCode, checkCode) {
  const files = report?.testResults ?? [];
  const passed = report?.numPassedTests ?? 0;
  const failedTests = report?.numFailedTests ?? 0;
  // A file that could not be loaded has no tests to fail.
  const brokenFiles = files.filter(
    (file) =>
      file.status === "failed" && file.assertionResults.every((one) => one.status !== "failed"),
  ).length;
  const skipped = files.flatMap((file) =>
    file.assertionResults
      .filter(({ status }) => status !== "passed" && status !== "failed")
      .map(({ fullName }) => `${file.name}: ${fullName}`),
  );
  const inTests = failedTests + brokenFiles + skipped.length;
  const failed = Math.max(inTests, testCode === 0 ? 0 : 1) + (checkCode === 0 ? 0 : 1);
  const endedMs = Math.max(0, ...files.map(({ endTime }) => endTime ?? 0));
  const seconds = Math.max(0, Math.round((endedMs - (report?.startTime ?? endedMs)) / 1000));
  return { passed, failed, skipped, seconds };
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
  const counts = tally(readReport(file), Number(testCode), Number(checkCode));
  for (const name of counts.skipped)
    process.stdout.write(`skipped, which CI does not allow: ${name}\n`);
  process.stdout.write(`\n${counts.skipped.length} skipped, ${counts.seconds} s for the tests\n`);
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
  process.exit(counts.failed === 0 && Number(testCode) === 0 ? 0 : 1);
}
