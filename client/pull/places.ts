/**
 * Cursors: where pulls continue, as text that callers store.
 *
 *   1.BLOCK.ENTRY.KEY              of proofs
 *   s1.BLOCK.TREE.ACCOUNT.FROM     of leaves
 *   c1.FROM.TO.TREE.CURSOR         of changes
 *
 *   BLOCK, FROM, TO   numbers of blocks, in decimal as all numbers
 *   ENTRY, KEY        entries that are done, and storage keys of the next one that are done
 *   TREE              the request: "accounts", "all" or an address in lower case
 *   ACCOUNT           0: in the requested tree, or in the account tree of "all".
 *                     Otherwise, of "all": the leaf index from which to look for the next account with storage
 *   FROM              of leaves: leaf index of the next leaf, in the account's storage tree if ACCOUNT is not 0
 *   CURSOR            that of chain_getChanges (docs/proofs.md, 16.1); "end": the pull is complete
 */
const PROOFS = /^1\.(0|[1-9][0-9]{0,19})\.(0|[1-9][0-9]{0,14})\.(0|[1-9][0-9]{0,14})$/;
const STATE =
  /^s1\.(0|[1-9][0-9]{0,19})\.(accounts|all|0x[0-9a-f]{40})\.(0|[1-9][0-9]{0,12})\.(0|[1-9][0-9]{0,12})$/;
const CHANGES =
  /^c1\.(0|[1-9][0-9]{0,19})\.(0|[1-9][0-9]{0,19})\.(accounts|all|0x[0-9a-f]{40})\.(0|[1-9][0-9]{0,24}|end)$/;

export const ACCOUNTS = "accounts";
export const ALL = "all";

export type ProofsPlace = Readonly<ReturnType<typeof decodeProofsPlace>>;
export type StatePlace = Readonly<ReturnType<typeof decodeStatePlace>>;
type ChangesPlace = Readonly<ReturnType<typeof decodeChangesPlace>>;

/** @returns the name in lower case. @throws TypeError unless it is "accounts", "all" or an address */
export function readTreeName(tree: string): string {
  const name = String(tree).toLowerCase();
  if (name === ACCOUNTS || name === ALL || /^0x[0-9a-f]{40}$/.test(name)) return name;
  throw new TypeError(`tree: expected "accounts", "all" or an address of 0x and 40 digits, got ${tree}`);
}

export function encodeProofsPlace({block, entry, key}: ProofsPlace): string {
  return `1.${block}.${entry}.${key}`;
}

/** @throws TypeError for text that encodeProofsPlace does not write */
export function decodeProofsPlace(cursor: string) {
  const [block, entry, key] = split(PROOFS, cursor, "pullProofs");
  return {block: BigInt(block), entry: Number(entry), key: Number(key)};
}

export function encodeStatePlace({block, tree, account, from}: StatePlace): string {
  return `s1.${block}.${tree}.${account}.${from}`;
}

/** @param asked - the tree of this pull. @throws TypeError for an invalid cursor, or one of another tree */
export function decodeStatePlace(cursor: string, asked: string) {
  const [block, tree, account, from] = split(STATE, cursor, "pullState");
  if (account !== "0" && tree !== ALL) throw otherText("pullState");
  requireTree(tree, asked);
  return {block: BigInt(block), tree, account: Number(account), from: Number(from)};
}

export function encodeChangesPlace({from, to, tree, cursor}: ChangesPlace): string {
  return `c1.${from}.${to}.${tree}.${cursor ?? "end"}`;
}

/** @returns `cursor` undefined: the pull is complete */
export function decodeChangesPlace(text: string, asked: string) {
  const [from, to, tree, cursor] = split(CHANGES, text, "pullChanges");
  requireTree(tree, asked);
  return {from: BigInt(from), to: BigInt(to), tree, cursor: cursor === "end" ? undefined : BigInt(cursor)};
}

type Fields = readonly [string, string, string, string];

function split(pattern: RegExp, cursor: string, giver: string): Fields {
  const found = pattern.exec(cursor);
  if (found === null) throw otherText(giver);
  return found.slice(1) as unknown as Fields;
}

function otherText(giver: string): TypeError {
  return new TypeError(`the cursor: expected one that ${giver} gave, got other text`);
}

function requireTree(tree: string, asked: string): void {
  if (tree !== asked) throw new TypeError(`expected the tree ${tree} as in the cursor, got ${asked}`);
}
