// `npm run demo`: a run survives the death of its executor, on the terminal and in the console.
process.stdout.write("Pawl demo: a story streams, its executor is killed, the run comes through\n");
await import("./demo/run-demo.ts");
