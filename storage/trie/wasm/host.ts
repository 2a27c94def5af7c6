/** Functions that trieModule.ts provides. */

/** @returns the length of the page's body. Throws if there is none, or it is longer than MAX_PAGE_BYTES */
export declare function load(page: f64, to: usize): u32;
/** Stores a page. @param before - the one that it replaces; 0: none. @returns its number */
export declare function put(from: usize, bytes: usize, before: f64): f64;
/** Throws an error that names the page. */
export declare function refuse(page: f64): void;
/** Sets the value of the write at `position`, made of the current one. @param bytes - of that; 0: there is none */
export declare function make(position: usize, value: usize, bytes: u32): void;
/** Writes the RLP of the node with this hash. @returns its length, at most MAX_NODE_BYTES; 0: it is not known */
export declare function node(hash: usize, to: usize): u32;
/** Keeps the RLP of a node that no page has. */
export declare function keep(from: usize, bytes: u32): void;
/** @returns the root page of the storage trie of the account at this path; 0: none, or only its root is known */
export declare function storage(path: usize): f64;
/** Throws: the node with this hash is not known. */
export declare function miss(hash: usize): void;
/** Throws: the RLP with this hash is no node at this depth. */
export declare function refuseNode(hash: usize, depth: i32): void;
