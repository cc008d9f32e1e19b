// `npm start`. It says what it does before it loads the code that does it: a person who waits without a word thinks that it hangs.
process.stdout.write(
  "Pawl: starting PostgreSQL, scheduler, executor and gateway on this machine\n",
);
await import("./start-local.ts");
