// A start that cannot go on for a reason a person can act upon.

/** What is wrong, and what to do about it. */
export class StartFault extends Error {
  override readonly name = "StartFault";
  readonly advice: string;

  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.advice = advice;
  }
}
