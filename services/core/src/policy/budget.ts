// Budgets: how much a run or a node may use. Every amount is a whole number. Money is counted in micro-dollars, so sums are exact.

/** The amounts that budgets limit. */
export const METERS = ["tokens", "costMicros", "executions"] as const;
export type Meter = (typeof METERS)[number];

/** An amount of each meter. */
export type Amounts = Readonly<Record<Meter, number>>;

/** An amount of some meters. A limit leaves out the meters that it does not limit. */
export type SomeAmounts = Readonly<Partial<Record<Meter, number>>>;

/** What happens when a run needs more than its budget: it fails, or it pauses until a user raises the budget. */
export const ON_EXCEEDED = ["fail", "pause"] as const;

/** The limits of a run. */
export interface Budget extends SomeAmounts {
  readonly onExceeded: (typeof ON_EXCEEDED)[number];
}

/** Limits that may leave open what happens when they are exceeded. */
export type AskedBudget = SomeAmounts & Partial<Pick<Budget, "onExceeded">>;

/** What a run reserves of the daily budget of its workflow. */
export interface DayFunds {
  /** The day in UTC by the clock of the database: `2026-01-31`. */
  readonly day: string;
  readonly reserved: SomeAmounts;
}

export const NOTHING: Amounts = { tokens: 0, costMicros: 0, executions: 0 };

/** The largest amount of a budget. Sums of a run stay whole numbers far below the limit of a double. */
export const AMOUNT_MAX = 1e12;

export const plus = (a: Amounts, b: SomeAmounts): Amounts => ({
  tokens: a.tokens + (b.tokens ?? 0),
  costMicros: a.costMicros + (b.costMicros ?? 0),
  executions: a.executions + (b.executions ?? 0),
});

export const minus = (a: Amounts, b: SomeAmounts): Amounts => ({
  tokens: a.tokens - (b.tokens ?? 0),
  costMicros: a.costMicros - (b.costMicros ?? 0),
  executions: a.executions - (b.executions ?? 0),
});

/** The amounts that are not 0. */
export const present = (amounts: SomeAmounts): SomeAmounts =>
  Object.fromEntries(
    METERS.flatMap((meter) => ((amounts[meter] ?? 0) === 0 ? [] : [[meter, amounts[meter]]])),
  );

/** Amounts that name every meter. */
export const whole = (amounts: SomeAmounts): Amounts => plus(NOTHING, amounts);

/** Whether a budget limits any meter. */
export const limitsAny = (amounts: SomeAmounts): boolean =>
  METERS.some((meter) => amounts[meter] !== undefined);

export const wholeBudget = (
  budget: AskedBudget,
  otherwise: Budget["onExceeded"] = "fail",
): Budget => ({ ...budget, onExceeded: budget.onExceeded ?? otherwise });

/** The lower limit of each meter. A caller can lower the budget of a workflow, and never raise it. */
export function lowerLimits(
  own: AskedBudget | undefined,
  asked: AskedBudget | undefined,
): AskedBudget | undefined {
  if (asked === undefined) return own;
  const amounts = Object.fromEntries(
    METERS.flatMap((meter) => {
      const both = [own?.[meter], asked[meter]].filter((each) => each !== undefined);
      return both.length === 0 ? [] : [[meter, Math.min(...both)]];
    }),
  );
  if (!limitsAny(amounts)) return undefined;
  const onExceeded = asked.onExceeded ?? own?.onExceeded;
  return { ...amounts, ...(onExceeded && { onExceeded }) };
}

/** The same as the budget of a run. `otherwise` counts if neither says what happens when it is exceeded. */
export function lowerBudget(
  own: AskedBudget | undefined,
  asked: AskedBudget | undefined,
  otherwise?: Budget["onExceeded"],
): Budget | undefined {
  const lower = lowerLimits(own, asked);
  return lower && wholeBudget(lower, otherwise);
}

/**
 * What a caller, an assistant or a parent lowered of the budget of a definition, by the budget with which the run began. A run of another
 * definition is lowered by it again.
 */
export function loweredOf(
  own: AskedBudget | undefined,
  began: Budget | undefined,
): AskedBudget | undefined {
  if (began === undefined) return undefined;
  const { onExceeded, ...limits } = began;
  const isOwn = onExceeded === wholeBudget(own ?? {}).onExceeded;
  const lowered = METERS.flatMap((meter) =>
    limits[meter] === undefined || limits[meter] === own?.[meter] ? [] : [[meter, limits[meter]]],
  );
  if (lowered.length === 0 && isOwn) return undefined;
  return { ...Object.fromEntries(lowered), ...(isOwn ? {} : { onExceeded }) };
}

/** The budget after a raise. A meter without a limit stays without one. */
export const raisedBudget = (budget: Budget, raise: SomeAmounts): Budget => ({
  ...budget,
  ...Object.fromEntries(
    METERS.flatMap((meter) => {
      const limit = budget[meter];
      return limit === undefined ? [] : [[meter, limit + (raise[meter] ?? 0)]];
    }),
  ),
});

/** Dollars as micro-dollars. A smaller part of a dollar is rounded. */
export const microsOf = (usd: number): number => Math.round(usd * 1e6);

/** Micro-dollars as dollars for people: `$0.25`. */
export function usdText(micros: number): string {
  const fraction = String(Math.abs(micros) % 1e6).padStart(6, "0");
  const cents = fraction.replace(/0{1,4}$/, "");
  return `${micros < 0 ? "-" : ""}$${Math.floor(Math.abs(micros) / 1e6)}.${cents}`;
}

/** The meters for people. */
export const METER_WORDS: Readonly<Record<Meter, string>> = {
  tokens: "tokens",
  costMicros: "money",
  executions: "node executions",
};

/** An amount for people: `20 tokens`. */
export function amountText(meter: Meter, amount: number): string {
  if (meter === "costMicros") return usdText(amount);
  const unit = meter === "tokens" ? "token" : "node execution";
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`;
}
