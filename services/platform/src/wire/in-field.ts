// Adds the path of the outer field to an error about a message inside another message.

import { EngineError } from "@pawl/core/fault/engine-error";

/** Calls `act`. If its error names a field, the error then names it as a field of `outer`. @throws the errors of `act` */
export async function inField<T>(outer: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof EngineError ? nested(outer, error) : error;
  }
}

/** The same for a call that answers at once. @throws the errors of `act` */
export function inFieldOf<T>(outer: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof EngineError ? nested(outer, error) : error;
  }
}

function nested(outer: string, error: EngineError): EngineError {
  const { field } = error.metadata;
  if (field === undefined && error.violations.length === 0) return error;
  const isNamed = field !== undefined && error.message.startsWith(`${field}:`);
  return new EngineError(error.reason, isNamed ? `${outer}.${error.message}` : error.message, {
    metadata: { ...error.metadata, ...(field !== undefined && { field: `${outer}.${field}` }) },
    violations: error.violations.map((violation) => ({
      ...violation,
      field: `${outer}.${violation.field}`,
    })),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    cause: error,
  });
}
