// Removes secrets from a text before it is printed: passwords of addresses, and values of parameters whose names sound like secrets. It
// finds parameters in queries, in lists of key=value and in JSON. When in doubt it hides.

const HIDDEN = "***";
/** A name that contains this is a secret. */
const SECRET_NAME = /pass|pwd|secret|token|key|sig|cred|auth/i;

/** scheme://user:password@ */
const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/[^\s/?#@:]*):[^\s/?#]*@/gi;
/** name=value, with quotes around a value that has spaces. It is at the start, after a space, or after a separator of parameters. */
const PARAMETER =
  /(^|[\s?&;,#])([^\s?&;,=#]+)(\s*=\s*)('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s&;]*)/g;

/** "name": "value", in JSON inside a text. */
const JSON_PAIR = /"((?:[^"\\]|\\.)*)"(\s*:\s*)"(?:[^"\\]|\\.)*"/g;

/** Whether a value with this name may be printed. */
const isSecretName = (name: string): boolean => SECRET_NAME.test(decoded(name));

/** The text without its secrets. */
export const redact = (text: string): string =>
  text
    .replace(USER_INFO, `$1:${HIDDEN}@`)
    .replace(PARAMETER, (whole, before: string, name: string, equals: string) =>
      isSecretName(name) ? `${before}${name}${equals}${HIDDEN}` : whole,
    )
    .replace(JSON_PAIR, (whole, name: string, colon: string) =>
      isSecretName(name) ? `"${name}"${colon}"${HIDDEN}"` : whole,
    );

/** A value of a configuration, redacted by its name. A value that is not text stays as it is. */
export const redactValue = (name: string, value: unknown): unknown => {
  if (typeof value !== "string" || value === "") return value;
  return isSecretName(name) ? HIDDEN : redact(value);
};

/** A reader decodes percent encoding, so an encoded name counts as the same name. */
const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};
