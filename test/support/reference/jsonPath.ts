/** Places in parsed JSON, as lists of property names. Tests spoil one place at a time. */

/** All places in an answer: those of texts, numbers and bytes, and of what they are in. */
export function listPlaces(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => listPlaces(inner, [...path, key]))];
}

export function readAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], root);
}

export function writeAt(root: unknown, path: readonly string[], value: unknown): void {
  (readAt(root, path.slice(0, -1)) as Record<string, unknown>)[path.at(-1) as string] = value;
}

/** A change of parsed JSON: the value at a path, or its removal. */
export interface JsonEdit {
  readonly path: readonly string[];
  /** Absent: removed. */
  readonly value?: unknown;
}

/** @returns a copy with the edits made */
export function applyEdits(root: unknown, edits: readonly JsonEdit[]): unknown {
  let copy = structuredClone(root);
  for (const {path, ...edit} of edits)
    if (path.length === 0) copy = edit.value;
    else if ("value" in edit) writeAt(copy, path, edit.value);
    else delete (readAt(copy, path.slice(0, -1)) as Record<string, unknown>)[path.at(-1) as string];
  return copy;
}
