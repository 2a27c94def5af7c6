/** Places in parsed JSON, as the property names that lead there: for tests that spoil one of them. */

/** Where the texts and numbers of an answer are. */
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
