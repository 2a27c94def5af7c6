/** Places in parsed JSON, as lists of property names. Tests spoil one place at a time. */

/** The places of all texts and numbers in an answer. */
export function listPaths(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, inner]) => listPaths(inner, [...path, key]));
}

export function readAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], root);
}

export function writeAt(root: unknown, path: readonly string[], value: unknown): void {
  (readAt(root, path.slice(0, -1)) as Record<string, unknown>)[path.at(-1) as string] = value;
}
