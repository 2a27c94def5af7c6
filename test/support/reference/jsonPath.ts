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

/** A change of parsed JSON: the value at a path, or its removal. */
export interface JsonEdit {
  readonly path: readonly string[];
  /** Absent: removed. */
  readonly value?: unknown;
}

/** @returns what turns `before` into `after`, place by place; lists of other lengths are replaced whole */
export function listEdits(before: unknown, after: unknown, path: readonly string[] = []): JsonEdit[] {
  if (!isTree(before) || !isTree(after) || Array.isArray(before) !== Array.isArray(after))
    return before === after ? [] : [{path, value: after}];
  if (Array.isArray(before) && before.length !== (after as unknown as unknown[]).length)
    return [{path, value: after}];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name): JsonEdit[] => {
    const here = [...path, name];
    if (!Object.hasOwn(after, name)) return [{path: here}];
    return listEdits(before[name], after[name], here);
  });
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

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
