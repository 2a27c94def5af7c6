/**
 * Where a pull of leaves goes on, as text that callers keep:
 *
 *   s1.BLOCK.TREE.ACCOUNT.FROM
 *
 *   TREE      "accounts", "all" or an address in lower case: what was asked for
 *   ACCOUNT   0: in the tree that was asked for, or in the account tree of "all".
 *             Otherwise, of "all": the leaf index from which the next account with storage is looked for
 *   FROM      leaf index of the next leaf, in the account's storage tree if ACCOUNT is not 0
 */
const CURSOR =
  /^s1\.(0|[1-9][0-9]{0,19})\.(accounts|all|0x[0-9a-f]{40})\.(0|[1-9][0-9]{0,12})\.(0|[1-9][0-9]{0,12})$/;

export interface StatePlace {
  readonly block: bigint;
  readonly tree: string;
  readonly account: number;
  readonly from: number;
}

export function encodePlace({block, tree, account, from}: StatePlace): string {
  return `s1.${block}.${tree}.${account}.${from}`;
}

/** @param asked - the tree of this pull. @throws TypeError for text that encodePlace does not write, or of another tree */
export function decodePlace(cursor: string, asked: string): StatePlace {
  const [, block, tree, account, from] = CURSOR.exec(cursor) ?? [];
  if (block === undefined || (account !== "0" && tree !== "all"))
    throw new TypeError("the cursor: expected one that pullState gave, got other text");
  if (tree !== asked) throw new TypeError(`expected the tree ${tree} as in the cursor, got ${asked}`);
  return {block: BigInt(block), tree, account: Number(account), from: Number(from)};
}
