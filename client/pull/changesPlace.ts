/**
 * Where a pull of changes goes on, as text that callers keep:
 *
 *   c1.FROM.TO.TREE.CURSOR
 *
 *   FROM, TO   numbers of the two blocks
 *   TREE       "accounts", "all" or an address in lower case
 *   CURSOR     that of chain_getChanges (docs/proofs.md, 16.1), in decimal; "end": everything was given
 */
const CURSOR =
  /^c1\.(0|[1-9][0-9]{0,19})\.(0|[1-9][0-9]{0,19})\.(accounts|all|0x[0-9a-f]{40})\.(0|[1-9][0-9]{0,24}|end)$/;

export interface ChangesPlace {
  readonly from: bigint;
  readonly to: bigint;
  readonly tree: string;
  /** undefined: everything was given. */
  readonly cursor: bigint | undefined;
}

export function encodeChangesPlace({from, to, tree, cursor}: ChangesPlace): string {
  return `c1.${from}.${to}.${tree}.${cursor ?? "end"}`;
}

/** @param asked - the tree of this pull. @throws TypeError for text that encodeChangesPlace does not write, or of another tree */
export function decodeChangesPlace(text: string, asked: string): ChangesPlace {
  const [, from, to, tree, cursor] = CURSOR.exec(text) ?? [];
  if (from === undefined || to === undefined || tree === undefined || cursor === undefined)
    throw new TypeError("the cursor: expected one that pullChanges gave, got other text");
  if (tree !== asked) throw new TypeError(`expected the tree ${tree} as in the cursor, got ${asked}`);
  return {
    from: BigInt(from),
    to: BigInt(to),
    tree,
    cursor: cursor === "end" ? undefined : BigInt(cursor),
  };
}
