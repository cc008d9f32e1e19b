// Behaviours this product deliberately does not have, each with the rule that replaces it.

/** Id → why no test can name it. */
export const WAIVERS: Readonly<Record<string, string>> = {
  "S3.41":
    "A start-up never fails live runs: a stale claim is requeued with run.recovered, and only the dead letter fails a node.",
};
