/**
 * The records of the naive server: each node of a tree is a record of its own. Only one block is stored.
 *
 *   key                              value
 *   node/<tree>/<height>/<index>     pre-image of the node: left 32 | right 32           height 1 .. 39; no empty nodes
 *   leaf/<tree>/<index>              leaf opening 128 | value (an account's 192 bytes, a slot's 32)
 *   key/<tree>/<hKey>                leaf index, decimal; the order of keys gives an absent key's neighbours
 *   root/<tree>                      root node 64
 *   head                             JSON: number, hash, stateRoot
 *
 * <tree> is `accounts`, the hKey of the account that has the slots, or `new` for a tree with only head and tail.
 */
export const ACCOUNTS = "accounts";
export const NEW = "new";
export const OPENING_BYTES = 128;
export const HEAD_KEY = "head";

export const keyOf = {
  node: (tree: string, height: number, index: number) => `node/${tree}/${height}/${index}`,
  leaf: (tree: string, index: number) => `leaf/${tree}/${index}`,
  hKey: (tree: string, hKey: string) => `key/${tree}/${hKey}`,
  root: (tree: string) => `root/${tree}`,
};

/** The options with which every thread opens it; the others are LevelDB's defaults. */
export const LEVEL_OPTIONS = {keyEncoding: "utf8", valueEncoding: "buffer", multithreading: true} as const;
