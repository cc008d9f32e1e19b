// Addresses of several executors in one text, as in PAWL_HANDLER_ADDRESS: "a:7404, b:7404".

/** The addresses of a text, separated by commas. Empty parts are left out. */
export const addressesOf = (text: string): readonly string[] =>
  text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
