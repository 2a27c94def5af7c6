/**
 * What the naive server stores: each node of a tree as a record of its own, of one block only.
 *
 *   key                              value
 *   node/<tree>/<height>/<index>     pre-image of the node: left 32 | right 32           height 1 .. 39; empty nodes are left out
 *   leaf/<tree>/<index>              leaf opening 128 | value (an account's 192 bytes, a slot's 32)
 *   key/<tree>/<hKey>                leaf index, decimal; in the order of the keys, to find an absent key's neighbours
 *   root/<tree>                      root node 64
 *   head                             JSON: number, hash, stateRoot
 *
 * A tree is `accounts`, or the hKey of the account whose slots it has.
 */
export const ACCOUNTS = "accounts";
export const OPENING_BYTES = 128;
export const HEAD_KEY = "head";

export interface NaiveHead {
  readonly number: string;
  readonly hash: string;
  readonly stateRoot: string;
}

export function nodeKey(tree: string, height: number, index: number): string {
  return `node/${tree}/${height}/${index}`;
}

export function leafKey(tree: string, index: number): string {
  return `leaf/${tree}/${index}`;
}

export function hKeyKey(tree: string, hKey: string): string {
  return `key/${tree}/${hKey}`;
}

export function rootKey(tree: string): string {
  return `root/${tree}`;
}

/** As every thread opens it; all else is LevelDB's default. */
export const LEVEL_OPTIONS = {keyEncoding: "utf8", valueEncoding: "buffer", multithreading: true} as const;
