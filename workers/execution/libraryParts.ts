/**
 * Parts of the EVM library that its interface does not promise. Time limits and speed hang on them, and without them nothing fails:
 * an estimate would just run on. So they are asserted when the code that needs them is loaded.
 */

/** @throws Error that names the first part that is not there as expected */
export function requireParts(
  owner: object,
  where: string,
  parts: Readonly<Record<string, "function" | "object">>,
): void {
  for (const [name, expected] of Object.entries(parts)) {
    const part: unknown = Reflect.get(owner, name);
    const got = part === null ? "null" : typeof part;
    if (got !== expected)
      throw new Error(
        `the EVM library was changed: expected ${where} to have ${name} (${expected}), got ${got}. Install the versions of ` +
          "package-lock.json, or adapt the code that names this part",
      );
  }
}
